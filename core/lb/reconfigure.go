package lb

import "fmt"

// Reconfigure changes how a running pool behaves. Backends, what holds them,
// requests in flight and those that wait stay; a request that is being placed
// meanwhile is placed by the old rules or by the new ones.
//
// A machine in parts that is the one in use already goes on with all it knows
// (Parts returns those in use). A new one inherits every backend from its
// predecessor. One that is left out lets go of what it held: without active
// checks nobody is down, without ejection nobody is ejected. View and Log
// remain those of New.
func (p *Pool) Reconfigure(now Time, c Config, parts Parts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance(now)
	p.changeHealth(now, parts.Health)
	p.changeOutlier(now, parts.Outlier)
	p.config, p.pickers, p.drain, p.lat = c, parts.Pickers, parts.Drain, parts.Latency
	p.rebuild = true
	p.publish(now)
	p.reap(now)
}

// Parts are the machines in use, for a change that is to keep some of them.
func (p *Pool) Parts() Parts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Parts{
		Pickers: p.pickers, Health: p.health, Outlier: p.outlier, Drain: p.drain,
		Latency: p.lat, View: p.view, Log: p.log,
	}
}

func (p *Pool) changeHealth(now Time, h Health) {
	old := p.health
	p.health = h
	if h == old {
		return
	}
	for _, m := range p.members {
		switch {
		case h != nil:
			h.Inherit(now, m.slot, m.hold&Down == 0, old)
		case m.hold&Down != 0:
			p.turn(now, m, true, "active checks were switched off")
		}
	}
}

func (p *Pool) changeOutlier(now Time, o Outlier) {
	old := p.outlier
	p.outlier = o
	if o == old {
		return
	}
	for _, m := range p.members {
		switch {
		case o != nil:
			o.Inherit(m.slot, old)
		case m.hold&Ejected != 0:
			p.apply(m.slot, Verdict{What: Returned, At: now, Reason: "ejection was switched off"})
		}
	}
}

// SetAddress moves a backend to another address. That is another server under
// the same name: it begins as an added one does, and with active checks it
// enters after one pass. Requests in flight stay where they are, and what they
// show is no longer held against the name.
func (p *Pool) SetAddress(now Time, name, address string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance(now)
	i := p.position(name)
	if i < 0 {
		return fmt.Errorf("%w: %.40q", ErrUnknown, name)
	}
	old := p.members[i]
	if old.Address == address {
		return nil
	}
	if old.hold&Draining != 0 {
		return fmt.Errorf("backend %s is draining; undrain it before it gets another address", name)
	}
	slot := p.freeSlot()
	if slot < 0 {
		return errCrowded
	}
	p.retire(old)
	b := old.Backend
	b.Address = address
	p.members[i] = p.newMember(now, b, slot)
	p.event(now, name, Changed, fmt.Sprintf("address %s; %d in flight end at the former one", address, p.loads.InFlight(old.slot)))
	p.publish(now)
	return nil
}

func (p *Pool) position(name string) int {
	for i, m := range p.members {
		if m.Name == name {
			return i
		}
	}
	return -1
}
