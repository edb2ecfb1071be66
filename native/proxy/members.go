package proxy

import (
	"errors"
	"fmt"
	"time"

	"minilb/core/lb"
)

// drainTimeout is how long the requests of a backend that leaves the policy
// file or the DNS may take to end, and the default of the admin's drain.
const drainTimeout = 30 * time.Second

// changeMembers makes the pool follow a list that was one thing and is another
// now. Only what differs between the two is touched: what the operator did to
// a backend by hand stays until the list itself says something new about it.
func (p *Proxy) changeMembers(was, is []lb.Backend) error {
	var faults []error
	before, after := byName(was), byName(is)
	for _, b := range was {
		if _, stays := after[b.Name]; !stays {
			faults = append(faults, p.leave(b.Name, drainTimeout))
		}
	}
	for _, b := range is {
		old, there := before[b.Name]
		switch {
		case !there:
			faults = append(faults, p.enter(b))
		case old != b:
			faults = append(faults, p.update(b))
		}
	}
	return errors.Join(faults...)
}

func byName(list []lb.Backend) map[string]lb.Backend {
	m := make(map[string]lb.Backend, len(list))
	for _, b := range list {
		m[b.Name] = b
	}
	return m
}

// leave drains a backend. One that has left already is no fault.
func (p *Proxy) leave(name string, timeout time.Duration) error {
	if err := p.pool.Drain(p.now(), name, timeout); err != nil && !errors.Is(err, lb.ErrUnknown) {
		return err
	}
	return nil
}

// enter takes a backend in. One that is leaving turns round.
func (p *Proxy) enter(b lb.Backend) error {
	if _, there := p.member(b.Name); !there {
		return p.pool.Add(p.now(), b)
	}
	return p.update(b)
}

// update gives a backend the address and weight of a list that names it anew.
func (p *Proxy) update(b lb.Backend) error {
	now := p.now()
	s, there := p.member(b.Name)
	if !there {
		return nil // removed by hand: it stays away until the list names it anew
	}
	var faults []error
	if s.Draining {
		faults = append(faults, p.pool.Undrain(now, b.Name))
	}
	if s.Weight != b.Weight {
		faults = append(faults, p.pool.SetWeight(now, b.Name, b.Weight))
	}
	if s.Address != b.Address {
		faults = append(faults, p.pool.SetAddress(now, b.Name, b.Address))
	}
	return errors.Join(faults...)
}

func (p *Proxy) member(name string) (lb.Status, bool) {
	for _, s := range p.pool.Status(p.now()) {
		if s.Name == name {
			return s, true
		}
	}
	return lb.Status{}, false
}

// tidy closes what rests of connections to addresses that nobody has any more,
// and forgets the probes of backends that have left. known are the addresses
// of the last time.
func (p *Proxy) tidy(known map[string]bool) map[string]bool {
	addresses, names := map[string]bool{}, map[string]bool{}
	for _, s := range p.pool.Status(p.now()) {
		addresses[s.Address], names[s.Name] = true, true
	}
	for address := range known {
		if !addresses[address] {
			p.upstream.forget(address)
		}
	}
	p.prober.keep(names)
	p.ops.meters.keep(names)
	return addresses
}

// backendOf reads what a request says of a backend.
func backendOf(name, address, weight string) (lb.Backend, error) {
	text := name + "=" + address
	if weight != "" {
		text += ",weight=" + weight
	}
	var b Backend
	if err := b.UnmarshalText([]byte(text)); err != nil {
		return lb.Backend{}, err
	}
	if b.Name != name || b.Address != address {
		return lb.Backend{}, fmt.Errorf("name %.60q, address %.60q: not a backend; accepted: a name of letters, digits, - or _ and HOST:PORT", name, address)
	}
	return b.Backend, nil
}
