// Package sim is the discrete-event simulator: it plays a scenario against the
// very same pool, retry and ejection code that the proxy runs, in virtual time.
//
// Requests arrive, the pool chooses, and each simulated backend serves with its
// own workers and queue. Every draw is a function of the seed, of what it is
// for, and of the request and attempt it belongs to: all policies see the same
// arrivals, keys, service draws and errors (common random numbers), so their
// difference is the policy's and not chance's.
package sim

import (
	"minilb/core/scenario"
)

// Run plays the scenario once for each of its algorithms. Two equal scenarios
// give equal reports to the last bit, on every target. A run that is ended by a
// *[Limit] gives that as its error and a report of what had been done.
func Run(s scenario.Scenario, o Options) (Report, error) {
	r := Report{Scenario: s}
	if err := check(s); err != nil {
		return r, err
	}
	for i, algorithm := range s.Algorithms {
		e, err := newEngine(s, algorithm, o)
		if err != nil {
			return r, err
		}
		e.progress.begin(o.Progress, i, len(s.Algorithms))
		limit := e.run()
		r.Results = append(r.Results, e.result())
		if limit != nil {
			r.Cancelled, r.Truncated = true, limit.Error()
			return r, limit
		}
		if e.progress.stopped {
			r.Cancelled, r.Truncated = true, stoppedEarly
			break
		}
	}
	return r, nil
}

// RunJSON is Run for a caller that wants the figures alone, as JSON; with a
// *[Limit], those up to then.
func RunJSON(s scenario.Scenario) ([]byte, error) {
	r, err := Run(s, Options{})
	if err != nil && !r.Cancelled {
		return nil, err
	}
	return r.JSON(), err
}

// progress tells the caller now and then how far the run is.
type progress struct {
	tell    func(done float64) bool
	first   float64 // share of the whole that is done when this policy begins
	share   float64 // of the whole that is this policy's
	stopped bool
}

// progressEvery is a power of two: about a thousand calls a second.
const progressEvery = 1 << 13

func (p *progress) begin(tell func(float64) bool, i, n int) {
	*p = progress{tell: tell, first: float64(i) / float64(n), share: 1 / float64(n)}
}

// goOn reports the share of this policy's requests that are done.
func (p *progress) goOn(done float64) bool {
	if p.tell != nil && !p.tell(p.first+float64(p.share*done)) {
		p.stopped = true
	}
	return !p.stopped
}
