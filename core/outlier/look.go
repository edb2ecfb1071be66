package outlier

import (
	"fmt"
	"math"

	"minilb/core/lb"
)

// Envoy's conditions for its statistical detectors: a backend is judged with
// enough requests in the interval, and the success rates of a pool are
// compared when enough backends have them.
const (
	judgeRequests   = 100 // success_rate_request_volume
	judgeBackends   = 5   // success_rate_minimum_hosts
	failureRequests = 50  // failure_percentage_request_volume
	failureBackends = 5   // failure_percentage_minimum_hosts
)

// Advance does what is due at now, in order of time: ejections that end, or,
// with an interval, the detector's looks that have come.
func (d *Detector) Advance(now lb.Time, c lb.Census, report func(slot int, v lb.Verdict)) {
	if d.config.OutlierInterval == 0 {
		for slot := d.firstOver(now); slot >= 0; slot = d.firstOver(now) {
			d.end(d.states[slot].until, slot, report)
		}
		return
	}
	for d.tick <= now {
		at := d.tick
		if late := now.Sub(at) / d.config.OutlierInterval; late > 0 && !d.anyOut() {
			at = at.Add(late * d.config.OutlierInterval) // idle looks in between see nothing
		}
		d.look(at, &c, report)
		d.tick = at.Add(d.config.OutlierInterval)
	}
	d.plan()
}

// firstOver returns the slot whose ejection ended first, or -1.
func (d *Detector) firstOver(now lb.Time) int {
	first := -1
	for slot, s := range d.states {
		if s.ejected && s.until <= now && (first < 0 || s.until < d.states[first].until) {
			first = slot
		}
	}
	return first
}

func (d *Detector) anyOut() bool {
	for _, s := range d.states {
		if s.ejected || s.ejections > 0 {
			return true
		}
	}
	return false
}

func (d *Detector) end(at lb.Time, slot int, report func(int, lb.Verdict)) {
	s := d.states[slot]
	d.comeBack(at, slot)
	report(slot, lb.Verdict{What: lb.Returned, At: at, Reason: fmt.Sprintf("ejection %d over after %s", s.ejections, s.last)})
}

// look is one tick of the interval: ejections end, multipliers decay, and the
// statistical detectors judge what came since the last one.
func (d *Detector) look(at lb.Time, c *lb.Census, report func(int, lb.Verdict)) {
	for slot := range d.states {
		s := &d.states[slot]
		switch {
		case s.ejected && s.until <= at:
			if c.Counts(slot) {
				c.Ejected--
			}
			d.end(at, slot, report)
		case d.config.EjectionDecay && !s.ejected && s.ejections > 0 && at.Sub(s.returned) >= d.config.OutlierInterval:
			s.ejections--
		}
	}
	d.judgeRates(at, c, report)
	for slot := range d.states {
		d.tally[slot].requests.Store(0)
		d.tally[slot].failures.Store(0)
	}
}

// judgeRates runs the success-rate and the failure-percentage detector.
func (d *Detector) judgeRates(at lb.Time, c *lb.Census, report func(int, lb.Verdict)) {
	if d.config.SuccessRateStdev > 0 {
		floor, judged := d.successFloor()
		if judged {
			d.ejectBelow(at, c, judgeRequests, floor, report)
		}
	}
	if d.config.FailurePercentage > 0 && d.withRequests(failureRequests) >= failureBackends {
		d.ejectFailing(at, c, report)
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
			sum += d.successRate(slot)
		}
	}
	mean, square := sum/float64(n), 0.0
	for slot := range d.states {
		if d.judgeable(slot, judgeRequests) {
			away := d.successRate(slot) - mean
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
	return s.present && !s.ejected && int(d.tally[slot].requests.Load()) >= least
}

// successRate is in percent.
func (d *Detector) successRate(slot int) float64 {
	n, failed := d.tally[slot].requests.Load(), d.tally[slot].failures.Load()
	return 100 * float64(n-failed) / float64(n)
}

func (d *Detector) ejectBelow(at lb.Time, c *lb.Census, least int, floor float64, report func(int, lb.Verdict)) {
	for slot := range d.states {
		if !d.judgeable(slot, least) {
			continue
		}
		if rate := d.successRate(slot); rate < floor {
			d.condemn(at, slot, c, fmt.Sprintf("success rate %.1f%%, the pool's floor is %.1f%%", rate, floor), report)
		}
	}
}

func (d *Detector) ejectFailing(at lb.Time, c *lb.Census, report func(int, lb.Verdict)) {
	for slot := range d.states {
		if !d.judgeable(slot, failureRequests) {
			continue
		}
		if failed := 100 - d.successRate(slot); failed >= d.config.FailurePercentage {
			d.condemn(at, slot, c, fmt.Sprintf("%.1f%% of requests failed, the limit is %g%%", failed, d.config.FailurePercentage), report)
		}
	}
}

// condemn ejects within a look and keeps the census true for the next one.
func (d *Detector) condemn(at lb.Time, slot int, c *lb.Census, why string, report func(int, lb.Verdict)) {
	v := d.eject(at, slot, *c, why)
	if v.What == lb.WasEjected {
		c.Ejected++
	}
	if v.What != lb.Changed {
		report(slot, v)
	}
}
