package outlier

import (
	"fmt"
	"math"

	"minilb/core/lb"
)

// Advance does what is due at now: ejections that are over end in order of
// time, or, with an interval, the detector looks. Looks that were missed are
// not made up for: there was nobody to see what they would have changed.
func (d *Detector) Advance(now lb.Time, c lb.Census, report func(slot int, v lb.Verdict)) {
	if d.config.OutlierInterval == 0 {
		for slot := d.firstOver(now); slot >= 0; slot = d.firstOver(now) {
			d.end(d.states[slot].until, slot, report)
		}
		return
	}
	if now < d.tick {
		return
	}
	d.look(now, &c, report)
	missed := now.Sub(d.tick) / d.config.OutlierInterval
	d.tick = d.tick.Add((missed + 1) * d.config.OutlierInterval)
	d.plan()
}

// firstOver returns the slot whose ejection ended first, or -1.
func (d *Detector) firstOver(now lb.Time) int {
	first := -1
	for slot := range d.states {
		s := &d.states[slot]
		if s.ejected && s.until <= now && (first < 0 || s.until < d.states[first].until) {
			first = slot
		}
	}
	return first
}

func (d *Detector) end(at lb.Time, slot int, report func(int, lb.Verdict)) {
	s := d.states[slot]
	d.comeBack(at, slot)
	report(slot, lb.Verdict{What: lb.Returned, At: at, Reason: fmt.Sprintf("ejection %d over after %s", s.ejections, s.last)})
}

// look is one tick of the interval: ejections end, the statistical detectors
// judge what came since the last one, and multipliers decay. Decay comes last:
// a backend that is ejected at each look had no good interval in between, and
// its ejections are to grow.
func (d *Detector) look(at lb.Time, c *lb.Census, report func(int, lb.Verdict)) {
	for slot := range d.states {
		s := &d.states[slot]
		s.sample = d.tally[slot].take()
		if s.ejected && s.until <= at {
			if c.Counts(slot) {
				c.Ejected--
			}
			d.end(at, slot, report)
		}
	}
	if d.config.SuccessRateStdev > 0 {
		d.judgeRates(at, c, report)
	}
	if d.config.FailurePercentage > 0 {
		d.judgeShares(at, c, report)
	}
	if d.config.EjectionDecay {
		d.decay(at)
	}
}

// decay takes a step from whoever has been in for a whole interval.
func (d *Detector) decay(at lb.Time) {
	for slot := range d.states {
		s := &d.states[slot]
		if !s.ejected && s.steps > 0 && at.Sub(s.returned) >= d.config.OutlierInterval {
			s.steps--
		}
	}
}

// judgeRates ejects who is below the pool's success rates by too much.
func (d *Detector) judgeRates(at lb.Time, c *lb.Census, report func(int, lb.Verdict)) {
	floor, judged := d.successFloor()
	for slot := range d.states {
		rate, reported := d.states[slot].sample.successRate(), &d.tally[slot].rateReported
		if !judged || !d.judgeable(slot, judgeRequests) || rate >= floor {
			reported.Store(false)
			continue
		}
		why := fmt.Sprintf("success rate %.1f%%, the pool's floor is %.1f%%", rate, floor)
		tell(slot, d.condemn(at, slot, *c, why, reported), c, report)
	}
}

// judgeShares ejects who fails too large a share of its requests. The
// comparison is of whole products, so that 85% of 100 is 85 exactly.
func (d *Detector) judgeShares(at lb.Time, c *lb.Census, report func(int, lb.Verdict)) {
	judged := d.withRequests(failureRequests) >= failureBackends
	for slot := range d.states {
		s, reported := d.states[slot].sample, &d.tally[slot].shareReported
		tooMany := float64(100*s.failures) >= float64(d.config.FailurePercentage*float64(s.requests))
		if !judged || !d.judgeable(slot, failureRequests) || !tooMany {
			reported.Store(false)
			continue
		}
		why := fmt.Sprintf("%s%% of requests failed, the limit is %g%%", percent(s.failures, s.requests), d.config.FailurePercentage)
		tell(slot, d.condemn(at, slot, *c, why, reported), c, report)
	}
}

// tell reports a verdict and keeps the census true for the next one.
func tell(slot int, v lb.Verdict, c *lb.Census, report func(int, lb.Verdict)) {
	if v.What == lb.WasEjected {
		c.Ejected++
	}
	if v.What != lb.Nothing {
		report(slot, v)
	}
}

// successFloor is the pool's mean success rate less the configured number of
// population standard deviations.
func (d *Detector) successFloor() (floor float64, judged bool) {
	n := d.withRequests(judgeRequests)
	if n < judgeBackends {
		return 0, false
	}
	sum := 0.0
	for slot := range d.states {
		if d.judgeable(slot, judgeRequests) {
			sum += d.states[slot].sample.successRate()
		}
	}
	mean, square := sum/float64(n), 0.0
	for slot := range d.states {
		if d.judgeable(slot, judgeRequests) {
			away := d.states[slot].sample.successRate() - mean
			square += float64(away * away)
		}
	}
	return mean - float64(d.config.SuccessRateStdev*math.Sqrt(square/float64(n))), true
}

func (d *Detector) withRequests(least int) int {
	n := 0
	for slot := range d.states {
		if d.judgeable(slot, least) {
			n++
		}
	}
	return n
}

func (d *Detector) judgeable(slot, least int) bool {
	s := &d.states[slot]
	return s.present && !s.ejected && s.sample.requests >= least
}
