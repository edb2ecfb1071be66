//go:build js

package main

import (
	"syscall/js"
	"time"

	"minilb/wasm/dom"

	"minilb/wasm/page"
)

// An app is the page: its model and the places in the document where it shows.
type app struct {
	model    *page.Model
	queue    page.Queue
	address  page.Throttle
	unfolded map[string]bool   // sections that the person has opened or closed
	written  map[string]string // HTML and texts by place, to leave alone what has not changed

	document dom.Document
	controls dom.Element
	charts   js.Value
	runner   runner

	asked   asked   // the run in progress
	shown   *result // the run on the page
	stages  stages  // of the page that have yet to follow it
	remedy  page.Remedy
	seeds   int              // of the study that is asked for; 0 is none
	study   page.Study       // the newest
	removed int              // the backend that the view of keys takes away
	draws   int              // of the sample in the third calculator
	key     string           // that the person typed into the view of keys
	keys    *page.KeyView    // on the page
	keysOf  string           // what they were made for
	drawing *page.KeyDrawing // of their ring or table; nil where there is none
	waiting bool             // a write to the address bar is on its way
	since   float64          // the newest input
}

// asked is what a run was started for.
type asked struct {
	model page.Asked
	since float64 // the input that led to it
}

// addressEvery is well inside Chromium's limit of 200 in 30 seconds.
const addressEvery = 250

func openApp(loader, charts js.Value) {
	a := &app{
		draws: page.DefaultDraws, address: page.Throttle{Every: addressEvery}, unfolded: map[string]bool{}, written: map[string]string{},
		document: dom.OpenDocument(), charts: charts,
	}
	a.controls = a.byID("controls")
	a.model = page.Open(a.fragment())
	a.translate()
	a.runner = newRunner(loader, a)
	a.stages = newStages(loader, a)
	a.listen()
	a.listenShare()
	a.loaded()
}

func (a *app) byID(id string) dom.Element { return a.document.GetElementByID(id) }

func (a *app) fragment() string { return js.Global().Get("location").Get("hash").String() }

// loaded shows a scenario that came from elsewhere: a link, an incident, a reset.
func (a *app) loaded() {
	a.buildControls()
	a.notice(a.model.Notice)
	a.changed(now())
}

// changed is the end of whatever a person did. The simulation comes first: the worker is busy while the page follows.
func (a *app) changed(since float64) {
	a.since, a.seeds = since, 0
	_, step := a.queue.Submit(now())
	a.do(step)
	a.writeAddress()
	a.buildIncidents()
	a.markChanged()
}

// writeAddress keeps the scenario in the address bar. While a slider moves it writes now and then, and at the end once
// more.
func (a *app) writeAddress() {
	if a.waiting {
		return
	}
	if wait := a.address.Wait(now()); wait > 0 {
		a.waiting = true
		after(wait, a.flushAddress)
		return
	}
	a.flushAddress()
}

func (a *app) flushAddress() {
	a.waiting = false
	link := a.model.Link()
	if link == a.fragment() {
		return
	}
	a.address.Wrote(now())
	js.Global().Get("history").Call("replaceState", js.Null(), "", link)
}

// reopen follows an address that the person has typed or pasted.
func (a *app) reopen(fragment string) {
	if fragment == a.model.Link() {
		return
	}
	a.model.Load(fragment)
	a.loaded()
}

// do carries out what the queue says.
func (a *app) do(s page.Step) {
	if s.Replace {
		a.runner.replace()
	}
	if s.Cancel > 0 {
		a.runner.cancel(s.Cancel)
	}
	if s.Start > 0 {
		a.asked = asked{a.model.Ask(), a.since}
		a.runner.start(s.Start, a.asked.model.Link, a.seeds)
		a.state("running")
		a.charts.Call("hold")
		a.showProgressSoon(s.Start)
	}
	if s.Wake > 0 {
		after(s.Wake, func() { a.do(a.queue.Tick(now())) })
	}
}

// progressAfter is when a run that is not over yet gets its bar and its Stop button, whatever the worker says until then.
const progressAfter = 60

func (a *app) showProgressSoon(run int) {
	after(progressAfter, func() {
		if a.queue.Running() == run && a.byID("progress").Underlying().Get("hidden").Bool() {
			a.progress(0.005)
		}
	})
}

// state is on the document for style sheets and tests.
func (a *app) state(name string) { a.byID("main").SetAttribute("data-state", name) }

func (a *app) setText(id, text string) { a.byID(id).SetTextContent(text) }

func (a *app) hide(id string, hidden bool) {
	a.byID(id).Underlying().Set("hidden", hidden)
}

func (a *app) notice(text string) {
	a.hide("notice", text == "")
	a.byID("notice").QuerySelector("p").SetTextContent(text)
}

// after calls back in that many milliseconds.
func after(ms float64, do func()) { time.AfterFunc(time.Duration(ms*float64(time.Millisecond)), do) }
