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
	Cancelled bool   // it ended early, and the results cover what had been done
	Truncated string // why it did: Progress said stop, or a limit; empty for a whole run
}

// stoppedEarly is why a run is not whole when its caller said stop.
const stoppedEarly = "stopped before the end"

// A Result is what one policy made of the scenario. The fields with a JSON
// name are what `minilb simulate --json` prints and the page shows.
type Result struct {
	Algorithm        string  `json:"algorithm"`
	Requests         int     `json:"requests"`  // completed + dropped; what a client sends again is a request of its own
	Completed        int     `json:"completed"` // answered, errors included
	Errors           int     `json:"errors"`
	Dropped          int     `json:"dropped"` // no backend could take it
	Attempts         int     `json:"attempts"`
	Latency          Latency `json:"latency_ms"`
	Share            Shares  `json:"share"` // of attempts
	Ejections        int     `json:"ejections"`
	EjectionsRefused int     `json:"ejections_refused"`

	Kinds          Kinds           `json:"errors_by_kind"` // adds up to errors and dropped
	Retries        int             `json:"retries"`        // attempts after a request's first
	RetriesSkipped Skipped         `json:"retries_skipped"`
	ClientRetries  int             `json:"client_retries"` // requests that a client sent again
	Amplification  float64         `json:"amplification"`  // attempts for each request that is no client's retry
	Duplicates     int             `json:"duplicates"`     // times that a POST was executed once more
	AwayFromHome   int             `json:"away_from_home"` // requests that did not go to their key's home
	CutByDrain     int             `json:"cut_by_drain"`   // requests that were in flight at a drain's deadline
	Unanswered     int             `json:"unanswered"`     // requests that would wait for ever; not among the above
	Backends       []BackendResult `json:"backends"`       // in the scenario's order

	Series Series     `json:"-"` // empty unless Options.Series
	Curve  []Quantile `json:"-"` // empty unless Options.Series
	Events []lb.Event `json:"-"` // empty unless Options.Events; the first 100 000

	EventsUnkept int `json:"-"` // how many came after those
}

// Kinds is how many requests went wrong in which way.
type Kinds struct {
	ServerError int `json:"5xx"`
	Timeout     int `json:"timeout"`    // the balancer's or the client's
	Refused     int `json:"refused"`    // the connection, by a backend or by a balancer
	Broken      int `json:"broken"`     // the connection, before the answer
	NoBackend   int `json:"no_backend"` // none was eligible
	QueueFull   int `json:"queue_full"` // no place at a backend or in front of the pool, or none in time
}

// Skipped is how many retries were wanted and not made, by reason.
type Skipped struct {
	Budget        int `json:"budget"`
	NoOther       int `json:"no_other_backend"`
	NotIdempotent int `json:"not_idempotent"`
}

// A BackendResult is what happened at one backend.
type BackendResult struct {
	Backend     string   `json:"backend"`
	Attempts    int      `json:"attempts"`
	Latency     Latency  `json:"latency_ms"`    // from an attempt's arrival to the end of its work, whether or not anybody still waits
	InFlightMax int      `json:"in_flight_max"` // of all balancers together
	QueueMax    int      `json:"queue_max"`     // that waited at it, probes among them
	Detection   *float64 `json:"detection_s"`   // seconds from its fault to the last attempt before every balancer had taken it out; null when they never did
	Restoration *float64 `json:"restoration_s"` // seconds from its fault's end to its next attempt; null when it was not out, or not back
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
	Attempts   []int       // that began in the window
	Failed     [][]int     // by backend, then window: attempts that ended badly
	Kinds      [][]int     // by kind in the order of KindNames, then window: errors and dropped
}

// A Quantile is one point of the latency curve: a share Q of the answered
// requests took at most MS milliseconds.
type Quantile struct{ Q, MS float64 }

// Options is what a caller wants beyond the figures.
type Options struct {
	Series bool
	Events bool
	// Progress is called every few thousand events with the share of the
	// whole that is done, 0 to 1. Returning false cancels the run.
	Progress func(done float64) bool

	limits *limits // for tests; nil: the standard ones
}
