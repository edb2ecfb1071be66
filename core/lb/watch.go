package lb

// Next is when the pool next wants to be called: for a probe, the end of an
// ejection, a drain's deadline or a step of a slow start. The shell sleeps
// until then, or the simulator pushes an event; then come Advance and Due.
func (p *Pool) Next() Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := Time(p.next.Load())
	if p.health != nil {
		next = min(next, p.health.Next())
	}
	return next
}

// Advance does what has become due by now. Acquire does the same when it
// notices, so calling it late makes nothing wrong.
func (p *Pool) Advance(now Time) {
	p.mu.Lock()
	p.advance(now)
	p.mu.Unlock()
}

func (p *Pool) advance(now Time) {
	if now < Time(p.next.Load()) {
		return
	}
	if p.outlier != nil {
		p.outlier.Advance(now, p.census(), p.apply)
	}
	p.reap(now)
	p.publish(now)
}

// Due appends the probes that are to be started at now.
func (p *Pool) Due(now Time, probes []Probe) []Probe {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.health == nil {
		return probes
	}
	p.due = p.health.Due(now, p.due[:0])
	for _, slot := range p.due {
		m := p.bySlot[slot]
		probes = append(probes, Probe{Slot: slot, Name: m.Name, Address: m.Address, Start: now})
	}
	return probes
}

// Probed takes a probe's result in. A result for a backend that has left since
// is dropped.
func (p *Pool) Probed(now Time, probe Probe, r ProbeResult) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance(now)
	m := p.bySlot[probe.Slot]
	if p.health == nil || m == nil || m.removed || m.Name != probe.Name || m.joined > probe.Start {
		return
	}
	up, changed, reason := p.health.Record(now, probe.Slot, r)
	if changed {
		p.turn(now, m, up, reason)
	}
	if p.outlier != nil && p.health.Passes(r) {
		if returned, reason := p.outlier.Passed(now, m.slot); returned {
			p.apply(m.slot, Verdict{What: Returned, At: now, Reason: reason})
			changed = true
		}
	}
	if changed {
		p.publish(now)
	}
}

// turn puts a backend up or down.
func (p *Pool) turn(now Time, m *member, up bool, reason string) {
	what := WentDown
	m.hold |= Down
	if up {
		what = CameUp
		m.hold &^= Down
		m.warmFrom = now
	}
	m.since, m.reason = now, what.String()+": "+reason
	p.event(now, m.Name, what, reason)
}

// judge asks the outlier machine about a backend whose streak may be complete.
func (p *Pool) judge(now Time, m *member) {
	p.advance(now)
	if m.removed || p.outlier == nil {
		return
	}
	v := p.outlier.Judge(now, m.slot, p.census())
	if v.What != Nothing {
		p.apply(m.slot, v)
	}
	if v.What == WasEjected {
		p.publish(now) // a refusal changes nobody's eligibility
	}
}

// apply carries a verdict out. The caller publishes.
func (p *Pool) apply(slot int, v Verdict) {
	m := p.bySlot[slot]
	switch v.What {
	case NotEjected:
		p.refused++
		if v.Quiet {
			return
		}
	case WasEjected:
		p.ejections++
		m.ejections++
		m.hold |= Ejected
		m.until = v.Until
		m.since, m.reason = v.At, "ejected: "+v.Reason
	case Returned:
		m.hold &^= Ejected
		m.since, m.reason = v.At, "returned: "+v.Reason
	}
	p.event(v.At, m.Name, v.What, v.Reason)
}

func (p *Pool) census() Census {
	c := Census{Counts: p.ask}
	for _, m := range p.members {
		if m.hold&Draining == 0 {
			c.Members++
			if m.hold&Ejected != 0 {
				c.Ejected++
			}
		}
	}
	return c
}

// counts says whether the cap's pool includes a backend.
func (p *Pool) counts(slot int) bool {
	m := p.bySlot[slot]
	return m != nil && !m.removed && m.hold&Draining == 0
}
