package lb

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Pool is the set of backends behind one name: it knows which are eligible
// and how many requests each has in flight, and hands out Leases.
//
// Acquire and Release read an immutable snapshot and count with atomics.
// Everything that changes who is eligible happens behind one mutex and ends in
// a new snapshot.
type Pool struct {
	config  Config
	pickers Pickers
	health  Health  // nil: no active checks
	outlier Outlier // nil: no ejection
	drain   Drain
	log     func(Event)

	snap     Pointer[snapshot]
	next     Int64 // when something is due, as Time
	draining Int32 // members that are draining
	waiting  Int32 // tickets in the queue
	cursor   Uint64
	loads    Loads
	view     *Loads     // what pickers see; &loads unless told otherwise
	lat      *Latencies // nil unless the policy needs it

	mu        sync.Mutex
	members   []*member            // in the order they were added
	bySlot    [MaxBackends]*member // present or still held by leases
	nextSlot  int                  // slots below were used at least once
	refused   int                  // ejections the cap refused
	ejections int
	queue     Line[Ticket]
	running   bool // New has returned
	rebuild   bool // the next snapshot needs a new picker in any case
	due       []int
	ask       func(slot int) bool // p.counts, made once: a streak that the cap refuses asks at each error
}

// snapshot is what Acquire needs, all of one moment.
type snapshot struct {
	set     *Set
	places  []place // by position in the set
	picker  Picker
	panic   bool
	sticky  map[string]*place // who a cookie may name
	outlier Outlier
	lat     *Latencies
}

// Parts are the machines a pool is put together from, and where its events go.
type Parts struct {
	Pickers Pickers
	Health  Health
	Outlier Outlier
	Drain   Drain
	Latency *Latencies  // for policies that weigh latency
	View    *Loads      // what pickers see instead of the pool's own counts
	Log     func(Event) // called under the pool's lock: quick, and no call back into the pool
}

// New returns a pool of the given backends at time now.
func New(now Time, c Config, parts Parts, backends []Backend) (*Pool, error) {
	p := &Pool{
		config: c, pickers: parts.Pickers, health: parts.Health, outlier: parts.Outlier,
		drain: parts.Drain, lat: parts.Latency, view: parts.View, log: parts.Log,
	}
	p.ask = p.counts
	if p.view == nil {
		p.view = &p.loads
	}
	if p.log == nil {
		p.log = func(Event) {}
	}
	for _, b := range backends {
		if err := p.join(now, b); err != nil {
			return nil, err
		}
	}
	p.running = true
	p.publish(now)
	return p, nil
}

// Errors of membership.
var (
	ErrUnknown = errors.New("no such backend")
	errCrowded = fmt.Errorf("a pool holds at most %d backends", MaxBackends)
)

// Add takes a backend into the pool. With active checks it is probed at once
// and enters after one pass.
func (p *Pool) Add(now Time, b Backend) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance(now)
	if err := p.join(now, b); err != nil {
		return err
	}
	p.event(now, b.Name, WasAdded, "weight "+fmt.Sprint(b.Weight))
	p.publish(now)
	return nil
}

func (p *Pool) join(now Time, b Backend) error {
	if err := b.Check(); err != nil {
		return err
	}
	if p.find(b.Name) != nil {
		return fmt.Errorf("backend %s: the name is taken; names in a pool are unique", b.Name)
	}
	slot := p.freeSlot()
	if slot < 0 {
		return errCrowded
	}
	p.members = append(p.members, p.newMember(now, b, slot))
	return nil
}

// newMember puts a backend at a slot and under the machines.
func (p *Pool) newMember(now Time, b Backend, slot int) *member {
	m := &member{Backend: b, slot: slot, joined: now, since: now, reason: "added", warmFrom: Never}
	if p.running {
		m.warmFrom = now
	}
	p.bySlot[slot] = m
	if p.lat != nil {
		p.lat.forget(slot) // the last answers to its predecessor came after that had left
	}
	if p.outlier != nil {
		p.outlier.Add(slot)
	}
	if p.health != nil && !p.health.Add(now, slot, p.running) {
		m.hold, m.reason = Down, "not checked yet"
	}
	return m
}

// freeSlot prefers a slot never used, so that a late response of a removed
// backend is not taken for one of its successor.
func (p *Pool) freeSlot() int {
	if p.nextSlot < MaxBackends {
		p.nextSlot++
		return p.nextSlot - 1
	}
	for slot, m := range p.bySlot {
		if m == nil || m.removed && p.loads.InFlight(slot) == 0 {
			return slot
		}
	}
	return -1
}

// SetWeight changes a backend's weight from now on.
func (p *Pool) SetWeight(now Time, name string, weight int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance(now)
	m := p.find(name)
	if m == nil {
		return fmt.Errorf("%w: %.40q", ErrUnknown, name)
	}
	changed := m.Backend
	changed.Weight = weight
	if err := changed.Check(); err != nil {
		return err
	}
	m.Backend = changed
	p.event(now, name, Changed, fmt.Sprintf("weight %d", weight))
	p.publish(now)
	return nil
}

// Drain stops new requests to a backend at once and removes it when its last
// request has ended or after timeout, whichever comes first.
func (p *Pool) Drain(now Time, name string, timeout time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance(now)
	m := p.find(name)
	if m == nil {
		return fmt.Errorf("%w: %.40q", ErrUnknown, name)
	}
	if m.hold&Draining == 0 {
		p.draining.Add(1)
	}
	m.hold |= Draining
	m.since, m.deadline = now, now.Add(timeout)
	m.reason = "draining, at most " + timeout.String()
	p.event(now, name, DrainBegan, fmt.Sprintf("%d in flight, at most %s", p.loads.InFlight(m.slot), timeout))
	p.publish(now)
	p.reap(now)
	return nil
}

// Undrain takes a draining backend back.
func (p *Pool) Undrain(now Time, name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance(now)
	m := p.find(name)
	if m == nil {
		return fmt.Errorf("%w: %.40q", ErrUnknown, name)
	}
	if m.hold&Draining == 0 {
		return fmt.Errorf("backend %s is not draining", name)
	}
	p.draining.Add(-1)
	m.hold &^= Draining
	m.since, m.reason = now, "undrained"
	p.event(now, name, DrainEnded, fmt.Sprintf("%d in flight", p.loads.InFlight(m.slot)))
	p.publish(now)
	return nil
}

// reap removes the draining backends that may go.
func (p *Pool) reap(now Time) {
	if p.draining.Load() == 0 || p.drain == nil {
		return
	}
	gone := false
	for _, m := range append([]*member(nil), p.members...) {
		if m.hold&Draining == 0 {
			continue
		}
		if done, reason := p.drain.Leave(now, m.deadline, p.loads.InFlight(m.slot)); done {
			p.event(min(now, m.deadline), m.Name, WasRemoved, reason)
			p.remove(m)
			gone = true
		}
	}
	if gone {
		p.publish(now)
	}
}

func (p *Pool) remove(m *member) {
	for i, other := range p.members {
		if other == m {
			p.members = append(p.members[:i:i], p.members[i+1:]...)
			break
		}
	}
	p.draining.Add(-1)
	p.retire(m)
}

// retire takes a backend from under the machines; leases may still hold it.
func (p *Pool) retire(m *member) {
	m.removed = true
	if p.health != nil {
		p.health.Remove(m.slot)
	}
	if p.outlier != nil {
		p.outlier.Remove(m.slot)
	}
}

func (p *Pool) find(name string) *member {
	if i := p.position(name); i >= 0 {
		return p.members[i]
	}
	return nil
}

func (p *Pool) event(at Time, name string, what What, reason string) {
	p.log(Event{At: at, Backend: name, What: what, Reason: reason})
}
