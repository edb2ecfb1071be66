//go:build js

package main

import (
	"encoding/json"
	"syscall/js"
	"unsafe"

	"minilb/core/scenario"
	"minilb/core/sim"
	"minilb/wasm/page"
)

// A worker simulates, one scenario at a time. Messages to it are {run, link, seeds} and {cancel}; from it {progress, done},
// and one at the end of each run: {done, json, digest, series}, {studied, json}, {failed} or {cancelled}, each with its run.
type worker struct {
	jobs      chan job
	cancelled int // the newest run that is not wanted any more; those before it are not either
	pause     pause
	warm      warmth
	worked    float64 // when the newest run was over
	told      float64 // when the page last heard of progress
}

type job struct {
	run   int
	link  string
	seeds int // 0 is a run; more, a study

	export string // the file to make instead of showing the results
	rest   bool   // nobody has asked for anything for a while
}

const (
	yieldEvery = 8.0  // ms between two looks for messages: a cancelled run ends within this, half a frame
	tellEvery  = 40.0 // ms between two reports of progress; the first comes before a person wonders
)

// serve is the worker's main: it never returns.
func serve() {
	w := &worker{jobs: make(chan job, 16), pause: newPause()}
	js.Global().Call("minilbListen", js.FuncOf(w.receive))
	for j := range w.jobs {
		switch {
		case j.rest:
			w.rest()
		case j.export != "":
			export(j)
		case j.run > w.cancelled:
			w.work(j)
			w.restSoon()
		default:
			post(map[string]any{"kind": "cancelled", "run": j.run})
		}
	}
}

// receive runs inside the browser's event, where nothing may block.
func (w *worker) receive(_ js.Value, args []js.Value) any {
	message := args[0]
	if c := message.Get("cancel"); !c.IsUndefined() {
		w.cancelled = max(w.cancelled, c.Int())
		return nil
	}
	select {
	case w.jobs <- jobOf(message):
	default: // the page sends one run at a time; a flood is not from it
	}
	return nil
}

func jobOf(message js.Value) job {
	j := job{run: message.Get("run").Int(), link: message.Get("link").String()}
	if n := message.Get("seeds"); !n.IsUndefined() {
		j.seeds = n.Int()
	}
	if what := message.Get("export"); !what.IsUndefined() {
		j.export = what.String()
	}
	return j
}

// export makes a file of a run that the page has shown, which therefore succeeds.
func export(j job) {
	s, err := scenario.Decode(j.link)
	if err != nil {
		return
	}
	report, err := sim.Run(s, sim.Options{Series: j.export == "series"})
	if err != nil {
		return
	}
	text := report.CSV()
	if j.export == "series" {
		text = report.SeriesCSV()
	}
	post(map[string]any{"kind": "file", "run": 0, "what": j.export, "text": string(text)})
}

func (w *worker) work(j job) {
	t := times{began: now()}
	w.told = t.began
	if j.seeds > 0 {
		w.study(j)
		return
	}
	report, err := play(j.link, &t, w.progress(j.run))
	switch {
	case err != nil:
		post(map[string]any{"kind": "failed", "run": j.run, "message": err.Error()})
	case report.Cancelled:
		post(map[string]any{"kind": "cancelled", "run": j.run})
	default:
		deliver(j.run, report, t)
		w.warm.link = j.link
	}
}

func play(link string, t *times, progress func(float64) bool) (sim.Report, error) {
	s, err := scenario.Decode(link)
	t.decoded = now()
	if err != nil {
		return sim.Report{}, err
	}
	report, err := sim.Run(s, sim.Options{Series: true, Events: true, Progress: progress})
	t.simulated = now()
	return report, err
}

// times are when the worker began with a run and was over with parts of it, on its own clock.
type times struct{ began, decoded, simulated float64 }

// study plays the scenario with many seeds.
func (w *worker) study(j job) {
	s, err := scenario.Decode(j.link)
	var study sim.Study
	if err == nil {
		study, err = sim.Seeds(s, j.seeds, sim.Options{Progress: w.progress(j.run)})
	}
	switch {
	case err != nil:
		post(map[string]any{"kind": "failed", "run": j.run, "message": err.Error()})
	case study.Cancelled:
		post(map[string]any{"kind": "cancelled", "run": j.run})
	default:
		post(map[string]any{"kind": "studied", "run": j.run, "json": string(study.JSON())})
	}
}

// progress lets messages in now and then, and tells the page how far the run is.
func (w *worker) progress(run int) func(done float64) bool {
	yielded := now()
	return func(done float64) bool {
		t := now()
		if t-yielded >= yieldEvery {
			w.pause.take()
			yielded = now()
		}
		if t-w.told >= tellEvery {
			w.told = t
			post(map[string]any{"kind": "progress", "run": run, "done": done})
		}
		return run > w.cancelled
	}
}

// deliver hands the results over; the series move without a copy.
func deliver(run int, report sim.Report, t times) {
	message := messageOf(run, report, t)
	message["posted"] = now()
	js.Global().Call("postMessage", message, []any{message["series"].(js.Value).Get("buffer")})
}

// messageOf is the results for the page. The JSON is the text that the command line prints.
func messageOf(run int, report sim.Report, t times) map[string]any {
	digest, err := json.Marshal(page.DigestOf(report))
	if err != nil {
		panic("play: " + err.Error()) // numbers and words
	}
	return map[string]any{"kind": "done", "run": run, "json": string(report.JSON()), "digest": string(digest), "mark": report.Digest(),
		"series": floats(page.Pack(report.Results, len(report.Scenario.Backends))),
		"ms":     now() - t.began, "origin": js.Global().Get("performance").Get("timeOrigin"),
		"began": t.began, "decoded": t.decoded, "simulated": t.simulated}
}

func post(message map[string]any) { js.Global().Call("postMessage", message) }

// floats copies numbers to a Float64Array in one call; wasm and typed arrays are both little-endian.
func floats(list []float64) js.Value {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*8)
	array := js.Global().Get("Uint8Array").New(len(bytes))
	js.CopyBytesToJS(array, bytes)
	return js.Global().Get("Float64Array").New(array.Get("buffer"))
}

// A pause gives the browser a chance to deliver messages. A MessageChannel comes back in a tenth of a millisecond;
// a timer would take four.
type pause struct {
	port js.Value
	over chan struct{}
}

func newPause() pause {
	channel := js.Global().Get("MessageChannel").New()
	p := pause{channel.Get("port2"), make(chan struct{}, 1)}
	channel.Get("port1").Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		p.over <- struct{}{}
		return nil
	}))
	return p
}

func (p pause) take() {
	p.port.Call("postMessage", js.Null())
	<-p.over
}
