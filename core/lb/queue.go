package lb

// A Ticket is a request that waits in front of the pool because every backend
// is at its limit. The caller owns it and may use it again after Take or
// Abandon. Wake is called, under the pool's lock, when a place has been taken
// for it.
type Ticket struct {
	Wake func()

	spot    Spot[Ticket]
	query   Query
	lease   Lease
	granted bool
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
	t.query, t.lease, t.granted = q, Lease{}, false
	p.queue.Join(&t.spot, t)
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
	if t.spot.Waits() {
		p.leave(t)
	}
	return t.hand()
}

func (p *Pool) leave(t *Ticket) {
	p.queue.Leave(&t.spot)
	p.waiting.Add(-1)
}

// serveQueue hands free places to those who wait, in order. It stops at the
// first that cannot be served: with one limit for all, nobody behind it can.
// Only a retry, which may not go back to the backends that are free, lets
// others pass.
func (p *Pool) serveQueue(now Time) {
	for t := p.queue.First(); t != nil; {
		next := t.spot.After()
		q := t.query
		q.Now = now
		l, err := p.try(&q)
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
