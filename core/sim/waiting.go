package sim

import (
	"minilb/core/lb"
	"minilb/core/retry"
)

// A spell is one wait of a request: in front of the pool with a ticket, or of
// its retry for room in the budget with a slot. Which it is, the request knows.
type spell struct {
	ticket  lb.Ticket
	slot    retry.Slot
	request int32
	turn    uint32
}

// A waiter is somebody whose wait has ended well. Wake is called under a lock,
// so it only takes a note; wake acts on it when the event is over, unless the
// waiter has left by then.
type waiter struct {
	index int32
	turn  uint32
}

// spell begins a wait of a request. Wake is made once for each place in the slab.
func (e *engine) spell(i int32) (k int32, s *spell) {
	k = e.spells.take()
	s = e.spells.at(k)
	s.request = i
	s.turn++
	if s.ticket.Wake == nil {
		s.ticket.Wake = func() { e.woken = append(e.woken, waiter{k, s.turn}) }
		s.slot.Wake = s.ticket.Wake
	}
	return k, s
}

// endSpell ends it; what was to come of it is void.
func (e *engine) endSpell(k int32) {
	e.spells.at(k).turn++
	e.spells.give(k)
}

// enqueue lets a request wait in front of the pool.
func (e *engine) enqueue(i int32, r *request, q lb.Query) {
	k, s := e.spell(i)
	if err := e.balancers[r.balancer].pool.Enqueue(e.now, q, &s.ticket); err != nil {
		e.endSpell(k)
		e.drop(i, r, queueFull)
		return
	}
	r.wait, r.at = onPool, k
	e.events.push(e.now.Add(e.config.QueueTimeout), queueLate, k, s.turn)
}

// await lets a retry wait for the budget until at.
func (e *engine) await(i int32, r *request, at lb.Time) {
	k, s := e.spell(i)
	r.wait, r.at = onBudget, k
	e.events.push(at, budgetLate, k, s.turn)
	e.balancers[r.balancer].budget.Enqueue(&s.slot)
}

// wake goes on with everybody whose wait has ended, in order; they may end
// further waits.
func (e *engine) wake() {
	for n := 0; n < len(e.woken); n++ {
		w := e.woken[n]
		s := e.spells.at(w.index)
		if s.turn != w.turn {
			continue
		}
		if i, r := s.request, e.requests.at(s.request); r.wait == onPool {
			e.admitted(w.index, i, r)
		} else {
			e.granted(w.index, i, r)
		}
	}
	e.woken = e.woken[:0]
}

// admitted sends a request for which the pool had a place.
func (e *engine) admitted(k, i int32, r *request) {
	lease, ok := e.balancers[r.balancer].pool.Take(&e.spells.at(k).ticket)
	if !ok {
		panic("sim: woken without a lease")
	}
	e.endSpell(k)
	e.send(i, r, lease)
}

// granted goes on with a retry for which the budget had room.
func (e *engine) granted(k, i int32, r *request) {
	e.endSpell(k)
	e.act(i, r, e.lives.at(r.life).Granted(e.now, e.backoff(r)))
}

// waitLate ends a wait that has been too long: the request is dropped, or the
// answer that there is goes out.
func (e *engine) waitLate(k int32, turn uint32) {
	s := e.spells.at(k)
	if s.turn != turn {
		return
	}
	if i, r := s.request, e.requests.at(s.request); r.wait == onPool {
		e.leavePool(r)
		e.drop(i, r, queueFull)
	} else {
		e.leaveBudget(r)
		e.act(i, r, e.lives.at(r.life).Denied())
	}
}

// leavePool takes a request out of the queue in front of the pool.
func (e *engine) leavePool(r *request) {
	pool := e.balancers[r.balancer].pool
	if lease, granted := pool.Abandon(&e.spells.at(r.at).ticket); granted {
		pool.Release(e.now, lease, lb.Outcome{Kind: lb.Cancelled})
	}
	e.endSpell(r.at)
}

// leaveBudget takes a retry out of the queue for the budget. Room that was
// granted at the last moment is given back with the request's end.
func (e *engine) leaveBudget(r *request) {
	if e.balancers[r.balancer].budget.Abandon(&e.spells.at(r.at).slot) {
		e.lives.at(r.life).Granted(e.now, 0)
	}
	e.endSpell(r.at)
}
