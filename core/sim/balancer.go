package sim

import (
	"fmt"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/retry"
	"minilb/core/scenario"
	"minilb/core/stat"
)

// A balancer is one of those that share the backends. Each has a pool of its
// own, with its own counts, checks and ejections, and its own retry budget.
type balancer struct {
	pool   *lb.Pool
	budget *retry.Budget
	tick   lb.Time // when the pool wants to be called
	probed []uint64
	holds  []lb.Hold // by slot, of the checks and of ejection
	down   bool
}

// slots is the backends in the order of their slots, as places in the
// scenario: a fresh pool gives slots in the order of its backends, and those
// that join later follow in theirs.
func slots(s scenario.Scenario) []int {
	var first, later []int
	for i, b := range s.Backends {
		if b.AddAt == 0 {
			first = append(first, i)
			continue
		}
		at := len(later)
		for at > 0 && s.Backends[later[at-1]].AddAt > b.AddAt {
			at--
		}
		later = append(later[:at], append([]int{i}, later[at:]...)...)
	}
	return append(first, later...)
}

// present is the backends that are there from the start, in order.
func present(s scenario.Scenario) []lb.Backend {
	var all []lb.Backend
	for _, b := range s.Backends {
		if b.AddAt == 0 {
			all = append(all, b.LB())
		}
	}
	return all
}

func (e *engine) newBalancers(algorithm string, o Options) (err error) {
	s := &e.config
	e.balancers = make([]balancer, max(1, s.BalancerCount))
	if s.Stale > 0 {
		e.view = new(lb.Loads)
		e.events.push(lb.Time(s.Stale), refreshDue, 0, 0)
	}
	for i := range e.balancers {
		b := &e.balancers[i]
		n := len(s.Backends)
		*b = balancer{budget: retry.NewBudget(s.RetryConfig), probed: make([]uint64, n), holds: make([]lb.Hold, n)}
		outfit := scenario.Outfit{Random: e.chance.word(forPhases, uint64(i), 0), View: e.view, Log: e.log(i, o.Events)}
		if b.pool, err = s.NewPool(0, algorithm, present(*s), outfit); err != nil {
			return err
		}
		e.replan(b)
	}
	return nil
}

// log is where one balancer's events go.
func (e *engine) log(balancer int, keep bool) func(lb.Event) {
	suffix := ""
	if len(e.balancers) > 1 {
		suffix = fmt.Sprintf(" (balancer %d)", balancer+1)
	}
	return func(v lb.Event) {
		if v.Backend != "" {
			e.hear(balancer, v)
		}
		if keep {
			v.Reason += suffix
			e.record.keep(v)
		}
	}
}

// hear notes what a balancer says of a backend. It is called under the pool's
// lock, so what follows is done after the step.
func (e *engine) hear(balancer int, v lb.Event) {
	slot := e.slotOf(v.Backend)
	was := &e.balancers[balancer].holds[slot]
	now := *was
	switch v.What {
	case lb.WentDown:
		now |= lb.Down
	case lb.CameUp:
		now &^= lb.Down
	case lb.WasEjected:
		now |= lb.Ejected
	case lb.Returned:
		now &^= lb.Ejected
	case lb.WasRemoved:
		e.gone = append(e.gone, departure{balancer, slot})
	}
	b := &e.record.backends[slot]
	switch {
	case *was == 0 && now != 0:
		if b.watch.out++; b.watch.out == len(e.balancers) {
			b.watch.left(e.now, b.last)
		}
	case *was != 0 && now == 0:
		b.watch.out--
	}
	*was = now
}

func (e *engine) slotOf(name string) int {
	for slot, n := range e.record.names {
		if n == name {
			return slot
		}
	}
	panic("sim: an event about nobody")
}

// serveTick does what pools asked for: ejections end, probes start.
func (e *engine) serveTick() {
	e.ticks++
	for i := range e.balancers {
		b := &e.balancers[i]
		if b.tick > e.now {
			continue
		}
		b.pool.Advance(e.now)
		if e.config.CheckInterval > 0 {
			e.startProbes(i, b)
		}
		e.replan(b)
	}
}

// replan asks a pool when it wants to be called next. It is due after whatever
// may have changed that: a failed outcome, a probe's result, a call.
func (e *engine) replan(b *balancer) {
	b.tick = lb.Never
	if !b.down {
		b.tick = max(e.now, b.pool.Next())
	}
	e.tick = b.tick
	for i := range e.balancers {
		if other := &e.balancers[i]; other.pool != nil {
			e.tick = min(e.tick, other.tick)
		}
	}
}

// refresh shows the policies how many requests of all balancers are in flight.
func (e *engine) refresh() {
	for slot := range e.servers {
		n := 0
		for i := range e.balancers {
			n += e.balancers[i].pool.Loads().InFlight(slot)
		}
		e.view.Store(slot, n)
	}
	e.events.push(e.now.Add(e.config.Stale), refreshDue, 0, 0)
}

// fallOver takes a balancer down: whoever waits for it is cut off.
func (e *engine) fallOver(i int) {
	b := &e.balancers[i]
	b.down = true
	e.replan(b)
	// Those that wait come first, or they would get the places of the others.
	for _, waits := range [...]bool{true, false} {
		for k := range e.requests.used {
			r := e.requests.at(k)
			mine := int(r.balancer) == i && r.wait != nowhere && r.wait != onClient
			if mine && (r.wait == onPool || r.wait == onBudget) == waits {
				e.leave(k, r, broken)
			}
		}
	}
}

// getUp brings a balancer back. It knows what it knew.
func (e *engine) getUp(i int) {
	e.balancers[i].down = false
	e.replan(&e.balancers[i])
}

// home is where a policy that hashes puts each key when nobody is away and
// nobody is busy.
type home struct{ picker lb.Picker }

func newHome(s scenario.Scenario, policy pick.Policy) *home {
	config := s.PickConfig
	config.HashBalanceFactor = 0
	pickers, err := policy.Pickers(config)
	if err != nil || len(present(s)) == 0 {
		return nil
	}
	return &home{pickers(lb.NewSet(present(s), new(lb.Loads)))}
}

// is says whether a slot is the home of a key.
func (h *home) is(slot int, hash uint64) bool {
	return h.picker.Pick(lb.Query{Hash: hash, HasKey: true}) == slot
}

// dealt is which balancer a request goes to.
func (e *engine) dealt(r *request) uint8 {
	return uint8(stat.Below(e.chance.word(forBalancer, uint64(r.number), uint64(r.try)), len(e.balancers)))
}
