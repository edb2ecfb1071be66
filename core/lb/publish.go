package lb

import (
	"fmt"
	"slices"
)

// warmSteps is how often tables are rebuilt over one slow start.
const warmSteps = 10

// publish makes the new snapshot that follows from the members' states. Every
// change of state ends here, under the lock.
func (p *Pool) publish(now Time) {
	old := p.snap.Load()
	panicked := p.panicking()
	p.reportPanic(now, old, panicked)
	set, places := p.newSet(now, panicked)
	s := &snapshot{set: set, places: places, panic: panicked, sticky: p.stickable(places), outlier: p.outlier, lat: p.lat}
	if !p.rebuild && old != nil && old.set.same(set) {
		// The same backends at the same weights: a table need not be built
		// again, and a weighted sequence goes on where it was.
		s.set, s.picker = old.set, old.picker
	} else {
		s.picker = p.pickers(set)
	}
	if set.Len() == 0 {
		s.picker = nobody{}
	}
	p.rebuild = false
	p.snap.Store(s)
	p.plan(now)
	p.serveQueue(now)
}

// takes says whether a member gets traffic of its own: eligible, or anybody
// but the draining when the pool panics.
func (m *member) takes(panicked bool) bool {
	return m.eligible() || panicked && m.hold&Draining == 0
}

// panicking says whether too few backends are eligible to trust the checks.
func (p *Pool) panicking() bool {
	eligible, present := 0, 0
	for _, m := range p.members {
		if m.hold&Draining == 0 {
			present++
		}
		if m.eligible() {
			eligible++
		}
	}
	return present > 0 && float64(eligible*100) < p.config.PanicThreshold*float64(present)
}

func (p *Pool) reportPanic(now Time, old *snapshot, panicked bool) {
	was := old != nil && old.panic
	switch {
	case panicked && !was:
		p.event(now, "", PanicBegan, fmt.Sprintf("fewer than %g%% of backends are eligible; all that are not draining get traffic", p.config.PanicThreshold))
	case was && !panicked:
		p.event(now, "", PanicEnded, fmt.Sprintf("%g%% of backends or more are eligible again", p.config.PanicThreshold))
	}
}

func (p *Pool) newSet(now Time, panicked bool) (*Set, []place) {
	n := len(p.members)
	s := &Set{
		backends: make([]Backend, 0, n), slots: make([]uint16, 0, n), weights: make([]uint32, 0, n),
		limit: int32(p.config.MaxInflight), loads: p.view, lat: p.lat, cursor: &p.cursor,
	}
	places, warm := make([]place, 0, n), make([]warmth, 0, n)
	warming := false
	for _, m := range p.members {
		if !m.takes(panicked) {
			continue
		}
		w := p.warmth(m)
		warming = warming || w.to > now
		warm = append(warm, w)
		places = append(places, place{m, m.Backend, m.slot})
		s.add(m.Backend, m.slot, w.step(now))
	}
	if warming {
		s.warm = warm
	}
	s.seal()
	return s, places
}

// warmth is a member's slow start; one that is over when it has none.
func (p *Pool) warmth(m *member) warmth {
	full := uint32(m.Weight) * Unit
	if p.config.SlowStart == 0 || m.warmFrom == Never {
		return warmth{full: full}
	}
	return warmth{from: m.warmFrom, to: m.warmFrom.Add(p.config.SlowStart), full: full}
}

// step is the weight that tables use: the live weight at the last of the
// warm-up's steps, so that one slow start causes at most ten rebuilds.
func (w warmth) step(now Time) uint32 {
	if now >= w.to {
		return w.full
	}
	size := (w.to - w.from) / warmSteps
	if size == 0 {
		return w.full
	}
	return w.weight(w.from + (now-w.from)/size*size)
}

// nextStep is when the warm-up's next step begins; Never when it is over.
func (w warmth) nextStep(now Time) Time {
	size := (w.to - w.from) / warmSteps
	if now >= w.to || size == 0 {
		return Never
	}
	return min(w.to, w.from+((now-w.from)/size+1)*size)
}

func (s *Set) same(t *Set) bool {
	return slices.Equal(s.slots, t.slots) && slices.Equal(s.weights, t.weights) &&
		slices.Equal(s.backends, t.backends) && slices.Equal(s.warm, t.warm)
}

// stickable lists who a sticky cookie may name: whoever takes traffic, and
// with drain-sticky also the draining that are otherwise eligible.
func (p *Pool) stickable(places []place) map[string]*place {
	names := make(map[string]*place, len(p.members))
	for i := range places {
		names[places[i].Name] = &places[i]
	}
	for _, m := range p.members {
		if p.config.DrainSticky && m.hold == Draining {
			names[m.Name] = &place{m, m.Backend, m.slot}
		}
	}
	return names
}

// plan works out when the pool next wants to be called.
func (p *Pool) plan(now Time) {
	next := Never
	if p.outlier != nil {
		next = min(next, p.outlier.Next())
	}
	for _, m := range p.members {
		if m.hold&Draining != 0 && p.drain != nil {
			next = min(next, m.deadline)
		}
		if p.config.SlowStart > 0 && m.takes(true) {
			next = min(next, p.warmth(m).nextStep(now))
		}
	}
	p.next.Store(int64(next))
}
