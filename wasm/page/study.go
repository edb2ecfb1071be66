package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"minilb/core/sim"
)

// Seeds is how many a study on the page plays: enough for intervals that tell policies apart, few enough to wait for.
const Seeds = 20

// A Study is the figures of a scenario over many seeds.
type Study struct {
	Seeds   int             `json:"seeds"`
	Link    string          `json:"link"`
	Results []StudiedPolicy `json:"results"`
	Words   Words           `json:"-"` // in which it is spoken of
}

// A StudiedPolicy is one policy's.
type StudiedPolicy struct {
	Algorithm string     `json:"algorithm"`
	Figures   []Interval `json:"figures"`
}

// An Interval is a figure's mean and the bounds that hold its true mean 95 times of 100; nil is unknown.
type Interval struct {
	Figure          string
	Mean, Low, High *float64
}

// ReadStudy reads sim's JSON of a study.
func ReadStudy(text []byte) (Study, error) {
	var s Study
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("page: study: %w", err)
	}
	return s, nil
}

// studied are the figures that the page shows of a study; one that no run had is left out.
var studied = []struct {
	key, head string
	text      func(float64) string
}{
	{"latency_p50_ms", "p50", Milliseconds}, {"latency_p95_ms", "p95", Milliseconds}, {"latency_p99_ms", "p99", Milliseconds},
	{"errors_requests", "errors", threeDigits}, {"dropped_requests", "dropped", threeDigits},
	{"amplification_attempts_per_request", "attempts per request", threeDigits}, {"ejections", "ejections", threeDigits},
	{"away_from_home_requests", "away from home", threeDigits},
}

func threeDigits(v float64) string {
	if v >= 100 {
		return count(float64(int(v + 0.5)))
	}
	return significant(v, 3)
}

// Table is the study as the page shows it: a mean and its interval in each cell.
func (s Study) Table() Table {
	var t Table
	for _, r := range s.Results {
		t.Policies = append(t.Policies, r.Algorithm)
	}
	for _, g := range studied {
		line, seen := TableLine{Key: g.key, Head: s.Words.T(g.head)}, false
		for _, r := range s.Results {
			i := r.interval(g.key)
			seen = seen || i.Mean != nil && *i.Mean > 0
			line.Cells = append(line.Cells, i.cell(s.Words, g.text))
		}
		if seen {
			t.Lines = append(t.Lines, line)
		}
	}
	return t
}

func (r StudiedPolicy) interval(key string) Interval {
	at := slices.IndexFunc(r.Figures, func(i Interval) bool { return i.Figure == key })
	if at < 0 {
		return Interval{}
	}
	return r.Figures[at]
}

func (i Interval) cell(w Words, text func(float64) string) Cell {
	switch {
	case i.Mean == nil:
		return Cell{Text: "–"}
	case i.Low == nil || i.High == nil || *i.Low == *i.High:
		return Cell{Text: w.Figure(text(*i.Mean)), Exact: exact(*i.Mean)}
	}
	return Cell{Text: w.Say("{mean} ({low} to {high})", w.figured("mean", text(*i.Mean)), w.figured("low", text(max(0, *i.Low))),
		w.figured("high", text(*i.High))), Exact: exact(*i.Mean)}
}

// Summary says which differences from the first policy are more than chance.
func (s Study) Summary() string {
	if len(s.Results) == 0 {
		return ""
	}
	said := []string{s.Words.Say("Means of {n?# seed|# seeds}, with the interval that holds the true mean 95 times of 100.", counted("n", s.Seeds))}
	first := s.Results[0]
	for _, other := range s.Results[1:] {
		for _, g := range []struct{ key, head string }{{"latency_p99_ms", "p99"}, {"errors_requests", "number of errors"}} {
			if said = append(said, s.difference(g.head, first, other, g.key)); said[len(said)-1] == "" {
				said = said[:len(said)-1]
			}
		}
	}
	return strings.Join(said, " ")
}

// difference compares two intervals: those that overlap may be equal.
func (s Study) difference(head string, a, b StudiedPolicy, key string) string {
	x, y := a.interval(key), b.interval(key)
	if x.Low == nil || y.Low == nil || x.High == nil || y.High == nil {
		return ""
	}
	parts := []sim.Part{named("policy", b.Algorithm), named("figure", s.Words.T(head)), named("other", a.Algorithm)}
	switch {
	case *y.Low > *x.High:
		return s.Words.Say("{policy} has a higher {figure} than {other}.", parts...)
	case *y.High < *x.Low:
		return s.Words.Say("{policy} has a lower {figure} than {other}.", parts...)
	case *x.High == 0 && *y.High == 0:
		return ""
	}
	return s.Words.Say("The {figure} of {other} and {policy} may be the same: their intervals overlap.", parts...)
}
