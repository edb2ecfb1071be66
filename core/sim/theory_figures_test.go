//go:build !race

package sim

import (
	"errors"

	"minilb/core/lb"
	"minilb/core/scenario"
)

// What is measured. Times are in service times of one second.
const (
	theMeanTime  = "mean time in system"
	theMeanWait  = "mean wait"
	theWaits     = "probability of waiting"
	theP99Time   = "p99 of time in system"
	theLost      = "share of requests lost"
	theLastShare = "share of the last backend"
	theGoodput   = "share of requests answered"
	theAmplified = "attempts per request"
	theRecovery  = "s from the stall to recovery"
	theDetection = "s to detection"
	theCollapse  = "seeds that stay down"
	theThreshold = "requests/s that stay down"
)

// only plays a scenario's one policy.
func only(s scenario.Scenario) (Result, error) {
	r, err := Run(s, Options{})
	if err != nil {
		return Result{}, err
	}
	return r.Results[0], nil
}

func steadyState(s scenario.Scenario) (map[string]float64, error) {
	r, err := only(s)
	if err != nil {
		return nil, err
	}
	mean := r.Latency.Mean / 1000
	return map[string]float64{
		theMeanTime: mean, theMeanWait: mean - 1, theP99Time: r.Latency.P99 / 1000,
		theLost:      float64(r.Dropped) / float64(r.Requests),
		theLastShare: r.Share[len(r.Share)-1].Fraction,
	}, nil
}

// aftermath is what a stall leaves when the warm-up is over. Down is what
// answers less than half of what is sent.
func aftermath(s scenario.Scenario) (map[string]float64, error) {
	r, err := only(s)
	if err != nil {
		return nil, err
	}
	goodput := float64(r.Completed-r.Errors) / (s.Rate * (s.Duration - s.Warmup).Seconds())
	down := 0.0
	if goodput < 0.5 {
		down = 1
	}
	return map[string]float64{theGoodput: goodput, theAmplified: r.Amplification, theCollapse: down}, nil
}

// threshold is the rate from which on the stall is never over, found by halving
// a span of rates that holds it. Every seed has one of its own.
func threshold(from, to float64) func(scenario.Scenario) (map[string]float64, error) {
	const fine = 0.5 // requests/s
	return func(s scenario.Scenario) (map[string]float64, error) {
		up, down := from, to
		for down-up > fine {
			s.Rate = (up + down) / 2
			found, err := aftermath(s)
			if err != nil {
				return nil, err
			}
			if found[theCollapse] == 1 {
				down = s.Rate
			} else {
				up = s.Rate
			}
		}
		return map[string]float64{theThreshold: (up + down) / 2}, nil
	}
}

// recovering is how long after the stall's end the last second comes in which one request in
// twenty fails. What is left when no more requests arrive is not looked at: there, one is many.
func recovering(s scenario.Scenario) (map[string]float64, error) {
	r, err := Run(s, Options{Series: true})
	if err != nil {
		return nil, err
	}
	series := r.Results[0].Series
	last := 0.0
	for i, start := range series.Start {
		if start < s.Duration.Seconds() && 20*series.Errors[i] > series.Answered[i] {
			last = start + series.Resolution.Seconds()
		}
	}
	b := s.Backends[0]
	return map[string]float64{theRecovery: last - (b.StallAt + b.StallFor).Seconds()}, nil
}

// detecting is how long the first backend went on getting requests after its fault. Its service
// takes a millisecond, so that next to no probe is on its way when the fault begins.
func detecting(s scenario.Scenario) (map[string]float64, error) {
	r, err := only(s)
	if err != nil {
		return nil, err
	}
	found := r.Backends[0].Detection
	if found == nil {
		return nil, errors.New("the fault was not detected")
	}
	return map[string]float64{theDetection: *found}, nil
}

// busyness counts the arrivals that find every worker of the one backend busy, which no
// report has.
func busyness(s scenario.Scenario) (map[string]float64, error) {
	e, err := newEngine(s, s.Algorithms[0], Options{})
	if err != nil {
		return nil, err
	}
	arrived, waited := 0, 0
	for !e.complete() {
		if at := e.arrivals.next; at != lb.Never && at < min(e.events.next(), e.tick) {
			arrived++
			if e.servers[0].busy == e.servers[0].capacity {
				waited++
			}
		}
		e.step()
	}
	return map[string]float64{theWaits: float64(waited) / float64(arrived)}, nil
}
