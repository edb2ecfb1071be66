//go:build js

package main

import "syscall/js"

// A runner is the page's end of its Web Worker.
type runner struct {
	loader js.Value // boot.js: the first worker, and how to make another
	worker js.Value
	hear   js.Func
	broken js.Func
}

func newRunner(loader js.Value, a *app) runner {
	r := runner{loader: loader, worker: loader.Get("worker")}
	r.hear = js.FuncOf(func(_ js.Value, args []js.Value) any {
		a.hear(args[0].Get("data"))
		return nil
	})
	r.broken = js.FuncOf(func(_ js.Value, args []js.Value) any {
		a.workerBroke(args[0].Get("message").String())
		return nil
	})
	r.attend()
	return r
}

func (r *runner) attend() {
	r.worker.Set("onmessage", r.hear)
	r.worker.Set("onerror", r.broken)
}

// replace ends a worker that does not listen and starts another.
func (r *runner) replace() {
	r.worker.Call("terminate")
	r.worker = r.loader.Call("newWorker")
	r.attend()
}

func (r *runner) start(run int, link string, seeds int) {
	r.worker.Call("postMessage", map[string]any{"run": run, "link": link, "seeds": seeds})
}

// export asks for a run again, as the text of a file: "csv" for the results, "series" for what the charts show.
func (r *runner) export(what, link string) {
	r.worker.Call("postMessage", map[string]any{"run": 0, "link": link, "export": what})
}

func (r *runner) cancel(run int) {
	r.worker.Call("postMessage", map[string]any{"cancel": run})
}

// hear takes a message of the worker. What is late, because a worker has been replaced since, is dropped.
func (a *app) hear(message js.Value) {
	run := message.Get("run").Int()
	if message.Get("kind").String() == "file" {
		a.exported(message.Get("what").String(), message.Get("text").String())
		return
	}
	if !a.queue.Fresh(run) {
		return
	}
	switch message.Get("kind").String() {
	case "progress":
		a.progress(message.Get("done").Float())
		return
	case "done":
		asked := a.asked
		a.finished(run) // the next run begins before this one is written
		a.done(asked, message)
		return
	case "studied":
		a.studied(message.Get("json").String())
	case "failed":
		a.failed(message.Get("message").String())
	case "cancelled":
		a.setText("ran", a.t("Stopped: the figures are those of the run before."))
	}
	a.finished(run)
}

// finished lets the queue go on.
func (a *app) finished(run int) {
	a.do(a.queue.Finished(run, now()))
	if a.queue.Idle() {
		a.progress(0)
		a.rest()
	}
}

// rest says that the page is idle when all of it shows what its controls say.
func (a *app) rest() {
	if a.queue.Idle() && !a.stages.due && a.byID("main").GetAttribute("data-state") == "running" {
		a.state("idle")
	}
}

// workerBroke reports a simulator that ended, out of memory for one, and starts another for the next change.
func (a *app) workerBroke(message string) {
	a.runner.replace()
	a.failed("The simulator stopped: " + message)
	a.finished(a.queue.Running())
}

// progress shows how far a long run is, and hides again what a short one does not need.
func (a *app) progress(done float64) {
	a.hide("progress", done == 0)
	a.hide("stop", done == 0)
	a.byID("progress").Underlying().Set("value", done)
}
