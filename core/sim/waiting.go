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
// so it only takes a note; wake acts on it when the event is over.
type waiter struct {
	index  int32
	budget bool
}

// enqueue lets a request wait in front of the pool.
func (e *engine) enqueue(i int32, q lb.Query) {
	k := e.poolWaits.take()
	p := e.poolWaits.at(k)
	p.request = i
	p.turn++
	if !p.wakes {
		p.wakes = true
		p.ticket.Wake = func() { e.woken = append(e.woken, waiter{index: k}) }
	}
	if err := e.pool.Enqueue(e.now, q, &p.ticket); err != nil {
		e.poolWaits.give(k)
		e.drop(i, e.requests.at(i))
		return
	}
	e.events.push(e.now.Add(e.config.QueueTimeout), queueLate, k, p.turn)
}

// await lets a retry wait for the budget until at.
func (e *engine) await(i int32, at lb.Time) {
	k := e.budgetWaits.take()
	s := e.budgetWaits.at(k)
	s.request = i
	s.turn++
	if !s.wakes {
		s.wakes = true
		s.slot.Wake = func() { e.woken = append(e.woken, waiter{index: k, budget: true}) }
	}
	e.events.push(at, budgetLate, k, s.turn)
	e.budget.Enqueue(&s.slot)
}

// wake goes on with everybody whose wait has ended, in order; they may end
// further waits.
func (e *engine) wake() {
	for n := 0; n < len(e.woken); n++ {
		w := e.woken[n]
		if w.budget {
			e.granted(w.index)
		} else {
			e.admitted(w.index)
		}
	}
	e.woken = e.woken[:0]
}

// admitted sends a request for which the pool had a place.
func (e *engine) admitted(k int32) {
	p := e.poolWaits.at(k)
	lease, ok := e.pool.Take(&p.ticket)
	if !ok {
		panic("sim: woken without a lease")
	}
	i := p.request
	p.turn++
	e.poolWaits.give(k)
	e.send(i, e.requests.at(i), lease)
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
	if _, granted := e.pool.Abandon(&p.ticket); granted {
		panic("sim: a place was granted and nobody woke")
	}
	i := p.request
	p.turn++
	e.poolWaits.give(k)
	e.drop(i, e.requests.at(i))
}

// budgetLate ends a retry's wait: the answer that there is goes out.
func (e *engine) budgetLate(k int32, turn uint32) {
	s := e.budgetWaits.at(k)
	if s.turn != turn {
		return
	}
	if e.budget.Abandon(&s.slot) {
		panic("sim: room was granted and nobody woke")
	}
	i := s.request
	s.turn++
	e.budgetWaits.give(k)
	r := e.requests.at(i)
	e.act(i, r, r.life.Denied())
}
