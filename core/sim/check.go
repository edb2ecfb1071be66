package sim

import (
	"fmt"

	"minilb/core/lb"
	"minilb/core/scenario"
)

// limits bound one run. What the ranges of single parameters allow together
// could take years and gigabytes; a run that would is ended with the reason.
type limits struct {
	time     lb.Time
	inFlight int // requests in flight, and work given up but still served
	ticks    int // calls that the pool asked for: probes, looks, ends of ejections
}

var standardLimits = limits{
	time:     100 * 365 * 24 * 3600 * 1e9, // 100 years: far from the end of an int64 of nanoseconds
	inFlight: 1 << 22,                     // some 200 bytes each
	ticks:    1 << 27,
}

// A Limit is the error of a run that was ended for what it would have cost:
// time, memory or calls. The results up to then come with it.
type Limit struct{ text string }

func (l *Limit) Error() string { return l.text }

// exceeded says which limit a run is over, or returns nil.
func (l limits) exceeded(e *engine) error {
	problem := ""
	switch {
	case e.requests.len() <= l.inFlight && e.jobs.len() > l.inFlight:
		problem = fmt.Sprintf("more than %d attempts and probes at the backends; raise check-interval, lower the rate or the retries, or add capacity", l.inFlight)
	case e.requests.len() > l.inFlight:
		problem = fmt.Sprintf("more than %d requests in flight; lower the rate, send fewer requests or add capacity", l.inFlight)
	case e.now > l.time:
		problem = fmt.Sprintf("longer than %.0f days; raise the rate or send fewer requests", l.time.Seconds()/86400)
	case e.ticks > l.ticks:
		problem = fmt.Sprintf("more than %d probes and looks; raise check-interval or outlier-interval, or send fewer requests", l.ticks)
	default:
		return nil
	}
	return &Limit{fmt.Sprintf("%s ended at t=%s, after %s: %s", e.record.algorithm, e.now, e.soFar(), problem)}
}

// soFar is how many requests are over, and of how many where that is known.
func (e *engine) soFar() string {
	if e.config.Duration > 0 {
		return fmt.Sprintf("%d requests of %s", e.record.settled, e.config.Duration)
	}
	return fmt.Sprintf("%d of %d requests", e.record.settled, e.record.want)
}

// maxEvents is how many lines of a transcript are kept.
const maxEvents = 100_000

// check reports what makes a scenario unplayable. One that was put together in
// Go has not been through the schema, so its values are read once more here.
func check(s scenario.Scenario) error {
	if err := s.Check(); err != nil {
		return err
	}
	var faults scenario.Faults
	for _, p := range s.Params().All() {
		if err := p.SetTexts(p.Texts()); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}
