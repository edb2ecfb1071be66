//go:build js

package main

import (
	"runtime"
	"syscall/js"
	"time"

	"minilb/wasm/page"
)

// warmth is how far a worker is used to its work. A browser compiles WebAssembly twice: quickly at first, and what is
// called often once more, several times faster. So that the first movement of a hand finds the fast program, the worker
// plays its first scenario again while nothing else is asked of it.
type warmth struct {
	link string // of the scenario that was played last
	runs int
	took float64 // milliseconds, all of them
}

const (
	restBefore = 300     // ms in which nobody asks for anything: a hand that drags does, and loading the page is over
	warmRuns   = 6       // all that a run takes is compiled by then; more would only take power
	warmFor    = 300.0   // ms in all: a slow machine has better things to do
	tidyAbove  = 8 << 20 // bytes on the heap; a run of 5000 requests leaves 4 MB
)

// restSoon asks the worker to rest when nobody has asked for anything else. It then warms up and collects its memory, so
// that neither happens within a run that somebody waits for.
func (w *worker) restSoon() {
	w.worked = now()
	time.AfterFunc(restBefore*time.Millisecond, func() { w.jobs <- job{rest: true} })
}

func (w *worker) rest() {
	if now()-w.worked < restBefore-1 {
		return // there has been another run since
	}
	for w.warm.link != "" && w.warm.runs < warmRuns && w.warm.took < warmFor && len(w.jobs) == 0 {
		w.warmUp()
		w.pause.take()
	}
	if len(w.jobs) == 0 {
		tidy()
	}
}

// warmUp does all of what a run takes.
func (w *worker) warmUp() {
	t := times{began: now()}
	if report, err := play(w.warm.link, &t, w.undisturbed(t.began)); err == nil && !report.Cancelled {
		rehearse(w.warm.link, js.ValueOf(messageOf(0, report, t)))
	}
	w.warm.runs++
	w.warm.took += now() - t.began
}

// rehearse is what the page does for a change, without a page: it runs the same compiled program, so what is compiled once
// more here is fast there.
func rehearse(link string, message js.Value) {
	m := page.Open(link)
	if k, ok := m.Control("rate"); ok {
		_ = m.Slide("rate", k.Position)
	}
	r, err := readResult(m.Ask(), message)
	if err != nil {
		return
	}
	m.Incidents()
	m.Badges()
	policy := m.Showing(r.outcome)
	page.FindRemedy(r.outcome, policy)
	_ = tableOf(r.outcome.Table(policy), policy)
	if at := r.place(policy); at >= 0 {
		_, _ = chartMeta(r, at, page.Words{}), transcriptOf(r.courses[at].Transcript)
	}
	m.Command()
	r.outcome.Calculators(policy, page.DefaultDraws)
}

// undisturbed ends a run when a job has come, or when a run takes too long to be repeated.
func (w *worker) undisturbed(began float64) func(float64) bool {
	looked := began
	return func(float64) bool {
		if t := now(); t-looked >= yieldEvery {
			w.pause.take()
			looked = now()
		}
		return len(w.jobs) == 0 && now()-began < warmFor
	}
}

// tidy collects memory when there is some to collect.
func tidy() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > tidyAbove {
		runtime.GC()
	}
}
