// Package outlier ejects a backend for what its real responses show, which
// catches the one whose health endpoint lies. The rules are Envoy's (its
// documentation: Outlier detection): streaks of errors, ejections that grow
// longer, and a cap on how much of the pool may be out.
package outlier

import (
	"fmt"
	"sync/atomic"
	"time"

	"minilb/core/lb"
)

// A Detector watches the responses of every backend of a pool, by slot. Note
// may be called by many at once; everything else is driven under the pool's
// lock. It implements lb.Outlier.
type Detector struct {
	config Config
	tally  [lb.MaxBackends]tally
	states []state
	tick   lb.Time // next look of the detector, lb.Never without an interval
	next   lb.Time
}

// tally is what Note counts.
type tally struct {
	errors   atomic.Int32 // 5xx in a row
	gateway  atomic.Int32 // gateway errors in a row
	requests atomic.Int32 // since the last look
	failures atomic.Int32 // since the last look
}

type state struct {
	present   bool
	ejected   bool
	warned    bool // a refusal has been reported for this streak
	until     lb.Time
	last      time.Duration // length of the present ejection
	ejections int           // multiplier of the next one, less one
	returned  lb.Time
}

// New returns a detector.
func New(c Config) *Detector {
	d := &Detector{config: c, tick: lb.Never, next: lb.Never}
	if c.OutlierInterval > 0 {
		d.tick = lb.Time(0).Add(c.OutlierInterval)
	}
	d.plan()
	return d
}

// On says whether the configuration can ever eject anything.
func (c Config) On() bool {
	return c.Consecutive5xx > 0 || c.ConsecutiveGateway > 0 || c.SuccessRateStdev > 0 || c.FailurePercentage > 0
}

// Check reports what no range can say.
func (c Config) Check() error {
	if (c.SuccessRateStdev > 0 || c.FailurePercentage > 0) && c.OutlierInterval == 0 {
		return fmt.Errorf("success-rate-stdev and failure-percentage are judged each outlier-interval, which is 0; accepted: an outlier-interval such as 10s")
	}
	return nil
}

// Warning says when the cap can never eject from a pool of that size, or
// returns "". With Envoy's default of 10% and three backends nothing is ever
// ejected.
func (c Config) Warning(backends int) string {
	if !c.On() || backends == 0 || allowed(lb.Census{Members: backends}, c) {
		return ""
	}
	return fmt.Sprintf("max-ejection-percent %g can never eject one of %d backends (that would be %d%%); use %d or more, or always-eject-one-host",
		c.MaxEjectionPercent, backends, 100/backends, (100+backends-1)/backends)
}

// Add begins to watch the backend at a slot.
func (d *Detector) Add(slot int) {
	for len(d.states) <= slot {
		d.states = append(d.states, state{})
	}
	d.states[slot] = state{present: true}
	d.tally[slot].clear()
}

// Remove ends it.
func (d *Detector) Remove(slot int) {
	d.states[slot] = state{}
	d.plan()
}

func (t *tally) clear() {
	t.errors.Store(0)
	t.gateway.Store(0)
	t.requests.Store(0)
	t.failures.Store(0)
}

// Note counts one outcome and says whether it may have completed a streak.
func (d *Detector) Note(slot int, o lb.Outcome) (judge bool) {
	t := &d.tally[slot]
	if d.config.OutlierInterval > 0 {
		t.requests.Add(1)
	}
	if !o.Failed() {
		// Reading first keeps the common case free of shared writes.
		if t.errors.Load() != 0 {
			t.errors.Store(0)
		}
		if t.gateway.Load() != 0 {
			t.gateway.Store(0)
		}
		return false
	}
	if d.config.OutlierInterval > 0 {
		t.failures.Add(1)
	}
	judge = reached(t.errors.Add(1), d.config.Consecutive5xx)
	if !o.Gateway() {
		t.gateway.Store(0)
		return judge
	}
	return reached(t.gateway.Add(1), d.config.ConsecutiveGateway) || judge
}

func reached(streak int32, threshold int) bool {
	return threshold > 0 && int(streak) >= threshold
}

// Judge ejects the backend if a streak is complete and the cap allows.
func (d *Detector) Judge(now lb.Time, slot int, c lb.Census) lb.Verdict {
	s, t := &d.states[slot], &d.tally[slot]
	if !s.present || s.ejected {
		return lb.Verdict{What: lb.Changed}
	}
	switch {
	case reached(t.errors.Load(), d.config.Consecutive5xx):
		return d.eject(now, slot, c, fmt.Sprintf("%d consecutive 5xx", d.config.Consecutive5xx))
	case reached(t.gateway.Load(), d.config.ConsecutiveGateway):
		return d.eject(now, slot, c, fmt.Sprintf("%d consecutive gateway errors", d.config.ConsecutiveGateway))
	}
	return lb.Verdict{What: lb.Changed}
}

// eject carries an ejection out, or refuses it for the cap.
func (d *Detector) eject(now lb.Time, slot int, c lb.Census, why string) lb.Verdict {
	s := &d.states[slot]
	if !c.Counts(slot) {
		return lb.Verdict{What: lb.Changed} // it is leaving anyway
	}
	if !allowed(c, d.config) {
		quiet := s.warned
		s.warned = true
		return lb.Verdict{What: lb.NotEjected, At: now, Quiet: quiet, Reason: fmt.Sprintf(
			"%s; %d of %d ejected would be over max-ejection-percent %g", why, c.Ejected+1, c.Members, d.config.MaxEjectionPercent)}
	}
	s.ejections++
	s.ejected, s.warned, s.last = true, false, d.config.length(s.ejections)
	s.until = now.Add(s.last)
	d.plan()
	return lb.Verdict{What: lb.WasEjected, At: now, Until: s.until, Reason: fmt.Sprintf(
		"%s; ejected for %s (ejection %d)", why, s.last, s.ejections)}
}

// allowed applies the cap to the pool with the ejection about to happen, or
// lets the first one through when one backend may always go.
func allowed(c lb.Census, config Config) bool {
	if config.AlwaysEjectOneHost && c.Ejected == 0 {
		return true
	}
	return float64((c.Ejected+1)*100) <= float64(c.Members)*config.MaxEjectionPercent
}

// length is base × ejections, at most max (or the base, if that is longer).
func (c Config) length(ejections int) time.Duration {
	longest := max(c.BaseEjection, c.MaxEjection)
	if int64(ejections) > int64(longest/c.BaseEjection) {
		return longest
	}
	return min(longest, c.BaseEjection*time.Duration(ejections))
}

// Passed is told of a passed active check.
func (d *Detector) Passed(now lb.Time, slot int) (returned bool, reason string) {
	if !d.config.UnejectOnCheck || !d.states[slot].ejected {
		return false, ""
	}
	d.comeBack(now, slot)
	return true, "passed an active check"
}

func (d *Detector) comeBack(now lb.Time, slot int) {
	s := &d.states[slot]
	s.ejected, s.returned = false, now
	// Errors that were in flight at the ejection do not shorten the next streak.
	d.tally[slot].clear()
	d.plan()
}

// Next is when an ejection ends or the detector looks.
func (d *Detector) Next() lb.Time { return d.next }

func (d *Detector) plan() {
	d.next = d.tick
	if d.config.OutlierInterval > 0 {
		return // ejections end at a look
	}
	for i := range d.states {
		if d.states[i].ejected {
			d.next = min(d.next, d.states[i].until)
		}
	}
}
