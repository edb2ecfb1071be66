package page

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Reference is the policy that others are compared with when somebody asks for a comparison.
const Reference = "round_robin"

// A Table compares the policies of a run: a line for each figure, a column for each policy, so that it stays narrow
// enough for a phone.
type Table struct {
	Policies []string
	Lines    []TableLine
}

// A TableLine is one figure. Key names it for tests and exports; it is the JSON's name where there is one.
type TableLine struct {
	Key, Head string
	Mark      *Mark // of the backend whose share it is
	First     bool  // begins a group of lines
	Cells     []Cell
}

// A Cell is one figure of one policy: its text for people, its exact value, and whether it is the best of its line.
type Cell struct {
	Text, Exact string
	Best        bool
	Words       bool // a sentence, not a figure
}

// A figure is something that policies are compared by. Where lower is better the table marks the best.
type figure struct {
	key, head string
	value     func(Figures) float64
	text      func(float64) string
	lower     bool
	first     bool
}

var figures = []figure{
	{"p50", "p50", func(f Figures) float64 { return f.Latency.P50 }, Milliseconds, true, false},
	{"p95", "p95", func(f Figures) float64 { return f.Latency.P95 }, Milliseconds, true, false},
	{"p99", "p99", func(f Figures) float64 { return f.Latency.P99 }, Milliseconds, true, false},
	{"max", "max", func(f Figures) float64 { return f.Latency.Max }, Milliseconds, true, false},
	{"mean", "mean", func(f Figures) float64 { return f.Latency.Mean }, Milliseconds, true, false},
	{"errors", "errors", func(f Figures) float64 { return float64(f.Errors) }, count, true, true},
	{"dropped", "dropped", func(f Figures) float64 { return float64(f.Dropped) }, count, true, false},
	{"5xx", "· 5xx", func(f Figures) float64 { return float64(f.Kinds.ServerError) }, count, false, false},
	{"timeout", "· timeout", func(f Figures) float64 { return float64(f.Kinds.Timeout) }, count, false, false},
	{"refused", "· refused", func(f Figures) float64 { return float64(f.Kinds.Refused) }, count, false, false},
	{"broken", "· broken", func(f Figures) float64 { return float64(f.Kinds.Broken) }, count, false, false},
	{"no_backend", "· no backend", func(f Figures) float64 { return float64(f.Kinds.NoBackend) }, count, false, false},
	{"queue_full", "· queue full", func(f Figures) float64 { return float64(f.Kinds.QueueFull) }, count, false, false},
	{"attempts", "attempts", func(f Figures) float64 { return float64(f.Attempts) }, count, false, false},
	{"amplification", "attempts per request", func(f Figures) float64 { return f.Amplification }, factor, false, false},
	{"retries", "retries", func(f Figures) float64 { return float64(f.Retries) }, count, false, false},
	{"client_retries", "clients' retries", func(f Figures) float64 { return float64(f.ClientRetries) }, count, false, false},
	{"away_from_home", "away from home", func(f Figures) float64 { return float64(f.AwayFromHome) }, count, false, false},
	{"unanswered", "unanswered", func(f Figures) float64 { return float64(f.Unanswered) }, count, true, false},
	{"ejections", "ejections", func(f Figures) float64 { return float64(f.Ejections) }, count, false, false},
	{"ejections_refused", "ejections refused", func(f Figures) float64 { return float64(f.EjectionsRefused) }, count, false, false},
}

// Table compares all policies that ran, in words with the one whose charts are shown.
func (o Outcome) Table(shown string) Table {
	var t Table
	for _, f := range o.Results {
		t.Policies = append(t.Policies, f.Algorithm)
	}
	for _, g := range figures {
		if line := o.line(g); slices.Contains(always, g.key) || o.any(g) {
			t.Lines = append(t.Lines, line)
		}
	}
	for i, b := range o.Scenario.Backends {
		mark := MarkOf(i)
		line := o.line(figure{"share " + b.Name, mark.Before(b.Name), shareOf(b.Name), Percent, false, i == 0})
		line.Mark = &mark
		t.Lines = append(t.Lines, line)
	}
	if reference, ok := o.Of(shown); ok && len(o.Results) > 1 {
		t.Lines = append(t.Lines, o.inWords(reference))
	}
	return t
}

// always are the figures that are shown even when they are zero for everybody.
var always = []string{"p50", "p95", "p99", "max", "mean", "errors", "dropped", "attempts", "ejections", "ejections_refused"}

// any says whether a figure is worth a line: somebody has it.
func (o Outcome) any(g figure) bool {
	return slices.ContainsFunc(o.Results, func(f Figures) bool {
		v := g.value(f)
		return v != 0 && !(g.key == "amplification" && v == 1)
	})
}

// shareOf is NaN for a run that had no such backend.
func shareOf(name string) func(Figures) float64 {
	return func(f Figures) float64 {
		if share, known := f.Share[name]; known {
			return share
		}
		return math.NaN()
	}
}

// head is a figure's name. A kind of failure stands under the sum with a dot before it; a backend's is a name already.
func (w Words) head(g figure) string {
	if kind, indented := strings.CutPrefix(g.head, "· "); indented {
		return "· " + w.T(kind)
	}
	return w.T(g.head)
}

func factor(v float64) string { return significant(v, 3) }

func (o Outcome) line(g figure) TableLine {
	line := TableLine{Key: g.key, Head: o.Words.head(g), First: g.first}
	for _, f := range o.Results {
		v := g.value(f)
		line.Cells = append(line.Cells, Cell{Text: o.Words.Figure(g.text(v)), Exact: exact(v), Best: g.lower && o.best(g, v)})
	}
	return line
}

// best is true of the lowest value of a line whose values differ: where all are equal there is nothing to win.
func (o Outcome) best(g figure, v float64) bool {
	higher := false
	for _, f := range o.Results {
		other := g.value(f)
		if other < v {
			return false
		}
		higher = higher || other > v
	}
	return higher
}

func (o Outcome) inWords(reference Figures) TableLine {
	line := TableLine{Head: o.Words.Say("than {policy}", named("policy", reference.Algorithm)), First: true}
	for _, f := range o.Results {
		c := Cell{Words: true, Text: "–"}
		if f.Algorithm != reference.Algorithm {
			c.Text = o.Words.Difference(f, reference)
		}
		line.Cells = append(line.Cells, c)
	}
	return line
}

// Difference says in words how one policy's figures compare with another's: "p99 4.1 times lower, 12 errors fewer".
func (w Words) Difference(f, other Figures) string {
	var parts []string
	if text := w.ratio("p99", f.Latency.P99, other.Latency.P99); text != "" {
		parts = append(parts, text)
	}
	switch d := f.Errors + f.Dropped - other.Errors - other.Dropped; {
	case d > 0:
		parts = append(parts, w.Say("{n?# failed request|# failed requests} more", counted("n", d)))
	case d < 0:
		parts = append(parts, w.Say("{n?# failed request|# failed requests} fewer", counted("n", -d)))
	}
	if len(parts) == 0 {
		return w.T("the same to within 5%")
	}
	return strings.Join(parts, ", ")
}

// ratio leaves out what is within 5%: that much is chance.
func (w Words) ratio(name string, a, b float64) string {
	switch {
	case !(a > 0 && b > 0):
		return ""
	case a > 1.05*b:
		return w.Say("{figure} {times} higher", named("figure", name), named("times", w.times(a/b)))
	case b > 1.05*a:
		return w.Say("{figure} {times} lower", named("figure", name), named("times", w.times(b/a)))
	}
	return ""
}

// times says small factors in percent, as people do.
func (w Words) times(factor float64) string {
	if factor < 1.5 {
		return w.Figure(fmt.Sprintf("%.0f%%", (factor-1)*100))
	}
	return w.Say("{n} times", w.figured("n", significant(factor, 2)))
}
