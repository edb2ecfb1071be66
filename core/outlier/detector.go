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
	config  Config
	samples bool // a statistical detector wants every response counted
	tally   [lb.MaxBackends]tally
	states  []state
	tick    lb.Time // next look of the detector, lb.Never without an interval
	next    lb.Time
}

type state struct {
	present   bool
	ejected   bool
	until     lb.Time
	last      time.Duration // length of the present ejection
	ejections int           // since it was added
	steps     int           // multiplier of the last ejection, less what decayed
	returned  lb.Time
	sample    sample // of the interval that a look judges
}

// New returns a detector. With an interval its looks lie on multiples of that,
// so that a late look does not delay those after it.
func New(c Config) *Detector {
	d := &Detector{config: c, samples: c.OutlierInterval > 0 && c.statistical(), tick: lb.Never, next: lb.Never}
	if c.OutlierInterval > 0 {
		d.tick = lb.Time(0).Add(c.OutlierInterval)
	}
	d.plan()
	return d
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

// Note counts one outcome and says whether it may have completed a streak. A
// request that its client gave up says nothing about the backend.
func (d *Detector) Note(slot int, o lb.Outcome) (judge bool) {
	if o.Kind == lb.Cancelled {
		return false
	}
	t, failed := &d.tally[slot], d.config.ErrorStatuses.Failed(o)
	if d.samples {
		t.count(failed)
	}
	// Both streaks, always: which statuses are errors says nothing of gateways.
	judge = t.errors.goOn(failed, d.config.Consecutive5xx)
	return t.gateway.goOn(o.Gateway(), d.config.ConsecutiveGateway) || judge
}

// Judge ejects the backend if a streak is complete and the cap allows.
func (d *Detector) Judge(now lb.Time, slot int, c lb.Census) lb.Verdict {
	s, t := &d.states[slot], &d.tally[slot]
	switch {
	case !s.present || s.ejected:
		// Errors that were in flight at the ejection arrive; they are no news.
	case t.errors.reached(d.config.Consecutive5xx) && d.refusedAgain(c, slot, &t.errors.reported),
		t.gateway.reached(d.config.ConsecutiveGateway) && d.refusedAgain(c, slot, &t.gateway.reported):
		return lb.Verdict{What: lb.NotEjected, At: now, Quiet: true}
	case t.errors.reached(d.config.Consecutive5xx):
		return d.condemn(now, slot, c, fmt.Sprintf("%d consecutive %s", d.config.Consecutive5xx, d.config.ErrorStatuses.word()), &t.errors.reported)
	case t.gateway.reached(d.config.ConsecutiveGateway):
		return d.condemn(now, slot, c, fmt.Sprintf("%d consecutive gateway errors", d.config.ConsecutiveGateway), &t.gateway.reported)
	}
	return nothing()
}

// refusedAgain says that the cap refuses what it has refused before in this
// streak: every error of a broken backend comes here, so it costs no words.
func (d *Detector) refusedAgain(c lb.Census, slot int, reported *atomic.Bool) bool {
	return reported.Load() && c.Counts(slot) && !d.config.allows(c)
}

// nothing is the verdict that decides nothing.
func nothing() lb.Verdict { return lb.Verdict{} }

// condemn ejects a backend unless the cap forbids it. reported remembers
// whether this cause has been refused before.
func (d *Detector) condemn(now lb.Time, slot int, c lb.Census, why string, reported *atomic.Bool) lb.Verdict {
	switch {
	case !c.Counts(slot):
		return nothing() // it is leaving anyway
	case !d.config.allows(c):
		return lb.Verdict{What: lb.NotEjected, At: now, Quiet: reported.Swap(true), Reason: fmt.Sprintf(
			"%s; %d of %d ejected would be over max-ejection-percent %g", why, c.Ejected+1, c.Members, d.config.MaxEjectionPercent)}
	}
	s := d.eject(now, slot)
	return lb.Verdict{What: lb.WasEjected, At: now, Until: s.until, Reason: fmt.Sprintf(
		"%s; ejected for %s (ejection %d)", why, s.last, s.ejections)}
}

func (d *Detector) eject(now lb.Time, slot int) state {
	s := &d.states[slot]
	s.ejections++
	s.steps = d.config.longer(s.steps)
	s.ejected, s.last = true, d.config.length(s.steps)
	s.until = now.Add(s.last)
	d.tally[slot].endStreaks()
	d.plan()
	return *s
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
	s.ejected, s.returned, s.sample = false, now, sample{}
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
