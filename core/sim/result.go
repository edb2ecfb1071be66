package sim

import (
	"minilb/core/lb"
	"minilb/core/scenario"
)

// A Report is what a scenario gave: one result per algorithm, all on the same
// arrivals, keys and service draws.
type Report struct {
	Scenario  scenario.Scenario
	Results   []Result
	Cancelled bool // Progress said stop; the results cover what had been done
}

// A Result is what one policy made of the scenario. The fields with a JSON
// name are what `minilb simulate --json` prints and the page shows.
type Result struct {
	Algorithm        string  `json:"algorithm"`
	Requests         int     `json:"requests"`  // completed + dropped
	Completed        int     `json:"completed"` // answered, errors included
	Errors           int     `json:"errors"`
	Dropped          int     `json:"dropped"` // no backend could take it
	Attempts         int     `json:"attempts"`
	Latency          Latency `json:"latency_ms"`
	Share            Shares  `json:"share"` // of attempts
	Ejections        int     `json:"ejections"`
	EjectionsRefused int     `json:"ejections_refused"`

	Series Series     `json:"-"` // empty unless Options.Series
	Events []lb.Event `json:"-"` // empty unless Options.Events; the first 100 000

	EventsUnkept int `json:"-"` // how many came after those
}

// Latency is of all answered requests, errors included, in milliseconds.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// Shares is each backend's share of the attempts, in the scenario's order.
// Its JSON form is an object.
type Shares []Share

// A Share is one backend's.
type Share struct {
	Backend  string
	Fraction float64
}

// A Series is what happened over time, in windows of equal length. All slices
// by window have the same length.
type Series struct {
	Resolution lb.Time     // length of a window
	Start      []float64   // of each window, seconds
	P50        []float64   // milliseconds, of requests answered in the window; NaN when none was
	P95        []float64   // milliseconds
	P99        []float64   // milliseconds
	Answered   []int       // requests
	Errors     []int       // requests
	Dropped    []int       // requests; not among the answered
	Share      [][]float64 // by backend, then window: share of the window's attempts; NaN when none
	InFlight   [][]float64 // by backend, then window: mean requests in flight
}

// Options is what a caller wants beyond the figures.
type Options struct {
	Series bool
	Events bool
	// Progress is called every few thousand events with the share of the
	// whole that is done, 0 to 1. Returning false cancels the run.
	Progress func(done float64) bool
}
