//go:build js

package main

import (
	"strconv"
	"syscall/js"
)

// stages are how the page follows a run: the sentence and the figures are written at once and painted; then come the
// charts in sight; then, when nothing else is to be done, everything else. A run that comes in meanwhile only changes
// what the later stages will show, so a hand that drags never waits for them and never starves them.
type stages struct {
	due        bool // the later stages are on their way
	loader     js.Value
	draw, rest js.Func
}

func newStages(loader js.Value, a *app) stages {
	s := stages{loader: loader}
	s.draw = js.FuncOf(func(js.Value, []js.Value) any {
		a.painted()
		a.draw()
		s.loader.Call("whenIdle", s.rest)
		return nil
	})
	s.rest = js.FuncOf(func(js.Value, []js.Value) any {
		a.complete()
		a.stages.due = false
		a.rest()
		return nil
	})
	return s
}

// begin starts the later stages after the next paint.
func (s *stages) begin() {
	if !s.due {
		s.due = true
		s.loader.Call("afterPaint", s.draw)
	}
}

// steps are the moments of a change, on the page's clock in milliseconds.
type steps struct {
	input, began, decoded, simulated, posted float64 // the last four are the worker's
	heard, written                           float64
	told                                     bool
}

func stepsOf(input, heard float64, message js.Value) steps {
	// The worker's clock began when the worker did.
	offset := message.Get("origin").Float() - js.Global().Get("performance").Get("timeOrigin").Float()
	at := func(name string) float64 { return message.Get(name).Float() + offset }
	return steps{input: input, began: at("began"), decoded: at("decoded"), simulated: at("simulated"), posted: at("posted"), heard: heard}
}

// painted notes how long a change took, from the input to the paint of its numbers, for people in the developer tools
// and for the tests.
func (a *app) painted() {
	s := &a.shown.steps
	if s.told {
		return // another policy of the same run
	}
	s.told = true
	end := now()
	a.byID("main").SetAttribute("data-last-ms", strconv.FormatFloat(end-s.input, 'f', 1, 64))
	for _, m := range []struct {
		name     string
		from, to float64
	}{
		{"change to numbers", s.input, end},
		{"to the worker", s.input, s.began}, {"decode", s.began, s.decoded}, {"simulate", s.decoded, s.simulated},
		{"encode", s.simulated, s.posted}, {"to the page", s.posted, s.heard}, {"write", s.heard, s.written}, {"paint", s.written, end},
	} {
		js.Global().Get("performance").Call("measure", "minilb: "+m.name, map[string]any{"start": max(0, m.from), "end": m.to})
	}
}
