package page

import (
	"strings"
	"time"

	"minilb/core/lb"
	"minilb/core/param"
	"minilb/core/scenario"
	"minilb/core/sim"
)

// A Span is a time during which a backend was out, for whatever of these reasons weighs most, or during which something
// was wrong with it. To is 0 when that did not end.
type Span struct {
	Backend int     `json:"backend"`
	From    float64 `json:"from"`
	To      float64 `json:"to"`
	State   string  `json:"state"`
}

// The states of a backend other than up, and what a balancer's events say of them.
const (
	down     = "down"
	ejected  = "ejected"
	draining = "draining"
	absent   = "absent"
)

// maxSpans is more than a chart has pixels for.
const maxSpans = 2000

// Spans reads from a run's events when which backend was out. With several balancers a backend is out as long as any of
// them holds it back.
func Spans(s scenario.Scenario, events []lb.Event) []Span {
	r := spanReader{spans: []Span{}, holds: make([][]string, len(s.Backends)), places: map[string]int{}}
	for i, b := range s.Backends {
		r.places[b.Name] = i
		if b.AddAt > 0 {
			r.put(i, 0, absent+" ")
		}
	}
	for _, e := range events {
		if i, known := r.places[e.Backend]; known && len(r.spans) < maxSpans {
			r.read(i, e)
		}
	}
	return r.spans
}

// A spanReader holds, for each backend, what each balancer holds against it.
type spanReader struct {
	spans  []Span
	holds  [][]string // by backend: state and balancer
	places map[string]int
}

func (r *spanReader) read(i int, e lb.Event) {
	at, who := e.At.Seconds(), balancerOf(e.Reason)
	switch e.What {
	case lb.WentDown:
		r.put(i, at, down+" "+who)
	case lb.CameUp:
		r.take(i, at, down+" "+who)
	case lb.WasEjected:
		r.put(i, at, ejected+" "+who)
	case lb.Returned:
		r.take(i, at, ejected+" "+who)
	case lb.DrainBegan:
		r.put(i, at, draining+" "+who)
	case lb.DrainEnded:
		r.take(i, at, draining+" "+who)
	case lb.WasAdded:
		r.take(i, at, absent+" ")
	case lb.WasRemoved:
		r.take(i, at, draining+" "+who)
		r.put(i, at, absent+" ")
	}
}

// balancerOf is the end of a reason that names one of several balancers.
func balancerOf(reason string) string {
	if at := strings.LastIndex(reason, "(balancer "); at >= 0 {
		return reason[at:]
	}
	return ""
}

func (r *spanReader) put(i int, at float64, hold string) {
	for _, h := range r.holds[i] {
		if h == hold {
			return
		}
	}
	r.change(i, at, append(r.holds[i], hold))
}

func (r *spanReader) take(i int, at float64, hold string) {
	for k, h := range r.holds[i] {
		if h == hold {
			r.change(i, at, append(append([]string{}, r.holds[i][:k]...), r.holds[i][k+1:]...))
			return
		}
	}
}

// change ends the span in progress and begins the next, when the state is another.
func (r *spanReader) change(i int, at float64, holds []string) {
	was, now := gravest(r.holds[i]), gravest(holds)
	r.holds[i] = holds
	if was == now {
		return
	}
	for k := len(r.spans) - 1; k >= 0 && was != ""; k-- {
		if r.spans[k].Backend == i {
			r.spans[k].To = at
			break
		}
	}
	if now != "" {
		r.spans = append(r.spans, Span{Backend: i, From: at, State: now})
	}
}

// gravest is the state that is shown of several.
func gravest(holds []string) string {
	for _, state := range []string{absent, down, ejected, draining} {
		for _, h := range holds {
			if strings.HasPrefix(h, state+" ") {
				return state
			}
		}
	}
	return ""
}

// Troubles are what the scenario has in store for its backends: the faults that every chart shows.
func Troubles(s scenario.Scenario, w Words) []Span {
	spans := []Span{}
	for i, b := range s.Backends {
		add := func(from, to time.Duration, state string) {
			spans = append(spans, Span{i, from.Seconds(), to.Seconds(), state})
		}
		if b.Errors > 0 {
			add(b.ErrorsAfter, b.RecoverAt, w.Say("errors {share}", sim.Measured("share", sim.AsShare, b.Errors)))
		}
		if b.SlowFactor != 1 {
			add(b.SlowAfter, firstOf(b.SlowUntil, b.RecoverAt), w.Say("slow ×{factor}", w.figured("factor", param.FormatFloat(b.SlowFactor))))
		}
		if b.CrashAt > 0 {
			add(b.CrashAt, b.RecoverAt, w.T("crashed"))
		}
		if b.HangAt > 0 {
			add(b.HangAt, b.RecoverAt, w.T("hangs"))
		}
		if b.StallAt > 0 {
			add(b.StallAt, firstOf(b.StallAt+b.StallFor, b.RecoverAt), w.T("stalls"))
		}
	}
	return spans
}

// firstOf is the earlier of two ends, of which 0 is never.
func firstOf(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// Planned are the scenario's faults and changes as labelled lines for the charts.
func Planned(s scenario.Scenario, w Words) []ChartMark {
	marks := []ChartMark{}
	add := func(at float64, label string) {
		if at > 0 {
			marks = append(marks, ChartMark{At: at, Label: label, Kind: "fault"})
		}
	}
	for _, t := range Troubles(s, w) {
		letter := MarkOf(t.Backend).Letter
		add(t.From, letter+" "+t.State)
		add(t.To, letter+" "+w.T("recovers"))
	}
	for i, b := range s.Backends {
		add(b.AddAt.Seconds(), MarkOf(i).Letter+" "+w.T("joins"))
		add(b.DrainAt.Seconds(), MarkOf(i).Letter+" "+w.T("drains"))
	}
	for _, away := range []struct {
		scenario.Window
		goes, comes string
	}{{s.DependencyDown, "dependency down", "dependency back"}, {s.BalancerDown, "balancer 1 down", "balancer 1 back"}} {
		if away.On() {
			add(away.From.Seconds(), w.T(away.goes))
			add(away.To.Seconds(), w.T(away.comes))
		}
	}
	if s.Arrivals == "step" || s.Arrivals == "ramp" {
		add(s.ChangeAt.Seconds(), w.Say("rate ×{peak}", w.figured("peak", param.FormatFloat(s.Peak))))
		if s.ChangeFor > 0 {
			add((s.ChangeAt + s.ChangeFor).Seconds(), w.Say("{arrivals} over", named("arrivals", s.Arrivals)))
		}
	}
	return marks
}
