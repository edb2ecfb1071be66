package page

import (
	"cmp"
	"slices"
	"strings"

	"minilb/core/lb"
	"minilb/core/scenario"
)

// A Transcript is the event log of one policy's run, as much of it as a page can show.
type Transcript struct {
	Total int    `json:"total"` // events of the run, at least as many as lines
	Lines []Line `json:"lines"`
}

// A Line is one event: its time in seconds, for the marks on the charts, and its words.
type Line struct {
	At      float64 `json:"at"`
	Backend string  `json:"backend"`
	What    string  `json:"what"`
	Text    string  `json:"text"`
}

// maxLines is more than anybody reads, and little enough to lay out at once.
const maxLines = 300

// Record writes the transcript of a run.
func Record(events []lb.Event) Transcript {
	t := Transcript{Total: len(events), Lines: []Line{}}
	for _, e := range events[:min(len(events), maxLines)] {
		t.Lines = append(t.Lines, Line{e.At.Seconds(), e.Backend, e.What.String(), e.String()})
	}
	return t
}

// Note says how many events there were, and how many of them are listed.
func (t Transcript) Note(w Words) string {
	switch {
	case t.Total == 0:
		return w.T("Nothing changed about any backend: no checks, ejections or panic in this run.")
	case t.Total > len(t.Lines):
		return w.Say("The first {shown} of {n?# event|# events}.", counted("shown", len(t.Lines)), counted("n", t.Total))
	}
	return w.Say("{n?# event|# events}.", counted("n", t.Total))
}

// Class says whether a line takes a backend out, brings one back, or neither.
func (l Line) Class() string {
	switch l.What {
	case lb.WasEjected.String(), lb.WentDown.String(), lb.DrainBegan.String(), lb.PanicBegan.String():
		return "out"
	case lb.Returned.String(), lb.CameUp.String(), lb.DrainEnded.String(), lb.PanicEnded.String():
		return "back"
	}
	return ""
}

// A ChartMark is an event as a labelled line on every chart.
type ChartMark struct {
	At    float64 `json:"at"`
	Label string  `json:"label"`
	Kind  string  `json:"kind"` // fault, out or back
}

// Marks are the events that take a backend out or bring it back, each with the backend's letter.
func (t Transcript) Marks(s scenario.Scenario, w Words) []ChartMark {
	letters := map[string]string{}
	for i, b := range s.Backends {
		letters[b.Name] = MarkOf(i).Letter
	}
	marks := []ChartMark{}
	for _, l := range t.Lines {
		switch l.Class() {
		case "out":
			marks = append(marks, ChartMark{l.At, strings.TrimSpace(letters[l.Backend] + " " + w.T(l.What)), "out"})
		case "back":
			marks = append(marks, ChartMark{l.At, strings.TrimSpace(letters[l.Backend] + " " + w.T("back")), "back"})
		}
	}
	return marks
}

// Moments are the faults of the scenario and the events of the run, in the order of time.
func (t Transcript) Moments(s scenario.Scenario, w Words) []ChartMark {
	all := append(Planned(s, w), t.Marks(s, w)...)
	slices.SortStableFunc(all, func(a, b ChartMark) int { return cmp.Compare(a.At, b.At) })
	return all
}

// Ran says what a run was and how long it took.
func Ran(o Outcome, ms float64) string {
	return o.Words.Say("{n?# request|# requests} × {policies?# policy|# policies}, simulated in {ms} ms",
		counted("n", o.Scenario.Requests), counted("policies", len(o.Results)), counted("ms", int(ms+0.5)))
}
