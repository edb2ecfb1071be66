package lb

import "errors"

// A Lease is one attempt in flight. Release it exactly once.
type Lease struct {
	m      *member
	b      *Backend // as it was when the lease was made
	Start  Time
	Panic  bool // the pool had too few eligible backends and let everybody in
	Sticky bool // the client's cookie decided
}

// Backend is the backend that the attempt goes to.
func (l Lease) Backend() Backend { return *l.b }

// Name is the backend's name.
func (l Lease) Name() string { return l.b.Name }

// Slot is the backend's place in dense arrays, below MaxBackends.
func (l Lease) Slot() int { return l.m.slot }

// Valid says whether the lease came from Acquire.
func (l Lease) Valid() bool { return l.m != nil }

// Why there is no lease.
var (
	ErrNoBackend = errors.New("no healthy upstream")
	ErrNoOther   = errors.New("no other backend")
	ErrFull      = errors.New("every backend is at max-inflight")
	ErrQueueFull = errors.New("the queue is full")
)

// Acquire chooses a backend for one attempt and counts it as in flight. The
// client's cookie is honoured when it names a backend that may take it, and
// the policy is asked otherwise; a caller that keeps clients on a backend
// rewrites the cookie unless the lease is Sticky.
func (p *Pool) Acquire(now Time, q Query) (Lease, error) {
	if now >= Time(p.next.Load()) && p.mu.TryLock() {
		p.advance(now)
		p.mu.Unlock()
	}
	if p.waiting.Load() > 0 {
		return Lease{}, ErrFull // whoever waits goes first
	}
	return p.try(now, q)
}

// try is Acquire without the queue. A pick is void when the snapshot changed
// under it: a drain that began in between must find either no request or one
// that it can see.
func (p *Pool) try(now Time, q Query) (Lease, error) {
	q.Now = now
	tried := q.Tried // as asked; below it may grow
	for {
		s := p.snap.Load()
		l, full := p.claim(s, &q)
		switch {
		case l.m == nil && full < 0:
			return Lease{}, s.refusal(&tried)
		case l.m == nil && p.view != &p.loads && !q.Tried.add(full):
			return Lease{}, ErrFull
		case l.m == nil:
			continue
		case p.snap.Load() == s:
			l.m.attempts.Add(1)
			l.Start = now
			return l, nil
		}
		p.giveBack(now, l.m.slot)
	}
}

// claim picks within one snapshot and takes the place. A slot returned in full
// lost its last place to somebody else between the pick and the claim, or only
// looked free to a stale view; the caller asks again.
func (p *Pool) claim(s *snapshot, q *Query) (l Lease, full int) {
	limit := s.set.limit
	if q.Sticky != "" {
		if to := s.sticky[q.Sticky]; to.m != nil && !q.Tried.Has(to.m.slot) && p.loads.claim(to.m.slot, limit) {
			return Lease{m: to.m, b: to.b, Sticky: true, Panic: s.panic}, -1
		}
	}
	i := -1
	if s.set.Len() > 0 {
		i = s.picker.Pick(*q)
	}
	if i < 0 {
		return Lease{}, -1
	}
	m := s.members[i]
	if !p.loads.claim(m.slot, limit) {
		return Lease{}, m.slot
	}
	return Lease{m: m, b: &s.set.backends[i], Panic: s.panic}, -1
}

// refusal says why nothing could be picked.
func (s *snapshot) refusal(tried *Tried) error {
	if s.set.Len() == 0 {
		return ErrNoBackend
	}
	for i := range s.set.Len() {
		if !tried.Has(int(s.set.slots[i])) {
			return ErrFull
		}
	}
	return ErrNoOther
}

// giveBack undoes a claim, with the duties of a release.
func (p *Pool) giveBack(now Time, slot int) {
	left := p.loads.n[slot].Add(-1)
	if p.draining.Load() > 0 && left == 0 || p.waiting.Load() > 0 {
		p.mu.Lock()
		p.settle(now)
		p.mu.Unlock()
	}
}

// Release ends an attempt and takes its outcome in as an observation of the
// backend. The lock is taken only when the outcome changes something.
func (p *Pool) Release(now Time, l Lease, o Outcome) {
	slot, s := l.m.slot, p.snap.Load()
	if o.Failed() {
		l.m.failures.Add(1)
	}
	if s.lat != nil && o.Kind != Cancelled {
		s.lat.Observe(now, slot, o.Latency)
	}
	judge := s.outlier != nil && o.Kind != Cancelled && s.outlier.Note(slot, o)
	// Last of all: from here on the slot may have another owner.
	left := p.loads.n[slot].Add(-1)
	if left < 0 {
		panic("lb: lease released twice")
	}
	if judge || left == 0 && p.draining.Load() > 0 || p.waiting.Load() > 0 {
		p.mu.Lock()
		if judge {
			p.judge(now, l.m)
		}
		p.settle(now)
		p.mu.Unlock()
	}
}

// settle does what follows from a place having become free.
func (p *Pool) settle(now Time) {
	p.reap(now)
	p.serveQueue(now)
}
