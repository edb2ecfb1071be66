package lb

// A Ticket is a request that waits in front of the pool because every backend
// is at its limit. The caller owns it and may use it again after Take or
// Abandon. Wake is called, under the pool's lock, when a place has been taken
// for it.
type Ticket struct {
	Wake func()

	query      Query
	lease      Lease
	waits      bool
	granted    bool
	prev, next *Ticket
}

// queue is a passive list of tickets, first come first served.
type queue struct {
	first, last *Ticket
}

func (q *queue) push(t *Ticket) {
	t.prev, t.next = q.last, nil
	if q.last == nil {
		q.first = t
	} else {
		q.last.next = t
	}
	q.last = t
}

func (q *queue) cut(t *Ticket) {
	if t.prev == nil {
		q.first = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		q.last = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.prev, t.next = nil, nil
}

// Enqueue lets a request wait after Acquire said ErrFull. It looks once more
// after it has registered, so that a place freed in between is not missed:
// Wake may be called before Enqueue returns.
func (p *Pool) Enqueue(now Time, q Query, t *Ticket) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if int(p.waiting.Load()) >= p.config.Queue {
		return ErrQueueFull
	}
	t.query, t.lease, t.waits, t.granted = q, Lease{}, true, false
	p.queue.push(t)
	p.waiting.Add(1)
	p.serveQueue(now)
	return nil
}

// Take returns the lease of a ticket that was woken, once.
func (p *Pool) Take(t *Ticket) (Lease, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return t.hand()
}

// hand gives the lease away, so that no lease can be had twice.
func (t *Ticket) hand() (Lease, bool) {
	l, granted := t.lease, t.granted
	t.lease, t.granted = Lease{}, false
	return l, granted
}

// Abandon ends a wait: its time is over or the client left. A lease that was
// granted at the last moment comes back and must be used or released.
func (p *Pool) Abandon(t *Ticket) (Lease, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.waits {
		p.leave(t)
	}
	return t.hand()
}

func (p *Pool) leave(t *Ticket) {
	p.queue.cut(t)
	t.waits = false
	p.waiting.Add(-1)
}

// serveQueue hands free places to those who wait, in order. It stops at the
// first that cannot be served: with one limit for all, nobody behind it can.
// Only a retry, which may not go back to the backends that are free, lets
// others pass.
func (p *Pool) serveQueue(now Time) {
	for t := p.queue.first; t != nil; {
		next := t.next
		l, err := p.try(now, t.query)
		if err == nil {
			p.grant(t, l)
		} else if t.query.Tried.Len() == 0 {
			return
		}
		t = next
	}
}

func (p *Pool) grant(t *Ticket, l Lease) {
	p.leave(t)
	t.lease, t.granted = l, true
	t.Wake()
}
