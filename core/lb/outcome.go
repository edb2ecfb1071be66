package lb

import (
	"strconv"
	"time"
)

// Kind is how an attempt ended.
type Kind uint8

// The kinds. All but Answered and Cancelled are failures whatever the status.
const (
	Answered  Kind = iota // a status came back
	Refused               // the connection failed: no byte of the request was sent
	TimedOut              // sent, and no answer in time
	Broken                // sent, and the connection broke before the answer was whole
	Cancelled             // the client left: says nothing about the backend
)

// An Outcome is the result of one attempt, as an observation of the backend.
type Outcome struct {
	Kind    Kind
	Status  int           // HTTP status when Answered
	Latency time.Duration // from sending the attempt to its end
}

// Failed says whether the outcome counts as a 5xx: a status of 500 or more,
// and every failure to get one. (Envoy counts local origin failures so too
// unless told to split them.)
func (o Outcome) Failed() bool {
	if o.Kind == Answered {
		return o.Status >= 500
	}
	return o.Kind != Cancelled
}

// Gateway says whether the outcome counts as a gateway error: 502, 503, 504,
// and every failure to get an answer at all.
func (o Outcome) Gateway() bool {
	if o.Kind == Answered {
		return 502 <= o.Status && o.Status <= 504
	}
	return o.Kind != Cancelled
}

// String names the outcome as in x-minilb-attempts and in reasons: 200,
// refused, timeout, broken, cancelled.
func (o Outcome) String() string {
	switch o.Kind {
	case Answered:
		return strconv.Itoa(o.Status)
	case Refused:
		return "refused"
	case TimedOut:
		return "timeout"
	case Broken:
		return "broken"
	}
	return "cancelled"
}

// A Probe is one active check that is due: which backend, and the number that
// comes back with its result so that a late one is recognised.
type Probe struct {
	Slot    int
	Name    string
	Address string
	Start   Time
}

// A ProbeResult is what a probe found.
type ProbeResult struct {
	Kind   Kind   // Answered, Refused, TimedOut or Broken
	Status int    // HTTP status; 0 for a tcp probe that connected
	Detail string // more words for the reason, or empty
}
