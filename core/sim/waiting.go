package sim

import (
	"minilb/core/lb"
	"minilb/core/retry"
)

// A poolWait is a request that waits in front of the pool.
type poolWait struct {
	ticket  lb.Ticket
	request int32
	turn    uint32
	wakes   bool // Wake is set; it is made once for each place in the slab
}

// A budgetWait is a retry that waits for room in the budget.
type budgetWait struct {
	slot    retry.Slot
	request int32
	turn    uint32
	wakes   bool
}

// A waiter is somebody whose wait has ended well. Wake is called under a lock,
// so it only takes a note; wake acts on it when the event is over, unless the
// waiter has left by then.
type waiter struct {
	index  int32
	turn   uint32
	budget bool
}

// enqueue lets a request wait in front of the pool.
func (e *engine) enqueue(i int32, r *request, q lb.Query) {
	k := e.poolWaits.take()
	p := e.poolWaits.at(k)
	p.request = i
	p.turn++
	if !p.wakes {
		p.wakes = true
		p.ticket.Wake = func() { e.woken = append(e.woken, waiter{index: k, turn: e.poolWaits.at(k).turn}) }
	}
	if err := e.balancers[r.balancer].pool.Enqueue(e.now, q, &p.ticket); err != nil {
		e.poolWaits.give(k)
		e.drop(i, r, queueFull)
		return
	}
	r.wait, r.at = onPool, k
	e.events.push(e.now.Add(e.config.QueueTimeout), queueLate, k, p.turn)
}

// await lets a retry wait for the budget until at.
func (e *engine) await(i int32, r *request, at lb.Time) {
	k := e.budgetWaits.take()
	s := e.budgetWaits.at(k)
	s.request = i
	s.turn++
	if !s.wakes {
		s.wakes = true
		s.slot.Wake = func() { e.woken = append(e.woken, waiter{index: k, turn: e.budgetWaits.at(k).turn, budget: true}) }
	}
	r.wait, r.at = onBudget, k
	e.events.push(at, budgetLate, k, s.turn)
	e.balancers[r.balancer].budget.Enqueue(&s.slot)
}

// wake goes on with everybody whose wait has ended, in order; they may end
// further waits.
func (e *engine) wake() {
	for n := 0; n < len(e.woken); n++ {
		w := e.woken[n]
		switch {
		case w.budget && e.budgetWaits.at(w.index).turn == w.turn:
			e.granted(w.index)
		case !w.budget && e.poolWaits.at(w.index).turn == w.turn:
			e.admitted(w.index)
		}
	}
	e.woken = e.woken[:0]
}

// admitted sends a request for which the pool had a place.
func (e *engine) admitted(k int32) {
	p := e.poolWaits.at(k)
	r := e.requests.at(p.request)
	lease, ok := e.balancers[r.balancer].pool.Take(&p.ticket)
	if !ok {
		panic("sim: woken without a lease")
	}
	i := p.request
	p.turn++
	e.poolWaits.give(k)
	e.send(i, r, lease)
}

// granted goes on with a retry for which the budget had room.
func (e *engine) granted(k int32) {
	s := e.budgetWaits.at(k)
	i := s.request
	s.turn++
	e.budgetWaits.give(k)
	r := e.requests.at(i)
	e.act(i, r, r.life.Granted(e.now, e.backoff(r)))
}

// queueLate drops a request that has waited too long.
func (e *engine) queueLate(k int32, turn uint32) {
	p := e.poolWaits.at(k)
	if p.turn != turn {
		return
	}
	i := p.request
	r := e.requests.at(i)
	e.leavePool(r)
	e.drop(i, r, queueFull)
}

// leavePool takes a request out of the queue in front of the pool.
func (e *engine) leavePool(r *request) {
	p := e.poolWaits.at(r.at)
	pool := e.balancers[r.balancer].pool
	if lease, granted := pool.Abandon(&p.ticket); granted {
		pool.Release(e.now, lease, lb.Outcome{Kind: lb.Cancelled})
	}
	p.turn++
	e.poolWaits.give(r.at)
}

// budgetLate ends a retry's wait: the answer that there is goes out.
func (e *engine) budgetLate(k int32, turn uint32) {
	s := e.budgetWaits.at(k)
	if s.turn != turn {
		return
	}
	i := s.request
	r := e.requests.at(i)
	e.leaveBudget(r)
	e.act(i, r, r.life.Denied())
}

// leaveBudget takes a retry out of the queue for the budget. Room that was
// granted at the last moment is given back with the request's end.
func (e *engine) leaveBudget(r *request) {
	s := e.budgetWaits.at(r.at)
	if e.balancers[r.balancer].budget.Abandon(&s.slot) {
		r.life.Granted(e.now, 0)
	}
	s.turn++
	e.budgetWaits.give(r.at)
}
