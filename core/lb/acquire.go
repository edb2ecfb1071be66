package lb

import "errors"

// A Lease is one attempt in flight. Release it exactly once.
//
// It has four fields because the compiler keeps a struct in registers up to
// four: with a fifth, Acquire and Release together took 40 ns longer, most of
// it waiting for copies of what had only just been written.
type Lease struct {
	at     *place
	Start  Time
	Panic  bool // the pool had too few eligible backends and let everybody in
	Sticky bool // the client's cookie decided
}

// Backend is the backend that the attempt goes to, as it was when the lease
// was made.
func (l Lease) Backend() Backend { return l.at.Backend }

// Name is the backend's name.
func (l Lease) Name() string { return l.at.Name }

// Slot is the backend's place in dense arrays, below MaxBackends.
func (l Lease) Slot() int { return l.at.slot }

// Valid says whether the lease came from Acquire.
func (l Lease) Valid() bool { return l.at != nil }

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
//
// It is small enough to be inlined, so that the query stays where its caller
// made it and is copied once, for the policy.
func (p *Pool) Acquire(now Time, q Query) (Lease, error) {
	q.Now = now
	return p.acquire(&q)
}

func (p *Pool) acquire(q *Query) (Lease, error) {
	if q.Now >= Time(p.next.Load()) && p.mu.TryLock() {
		p.advance(q.Now)
		p.mu.Unlock()
	}
	if p.waiting.Load() > 0 {
		return Lease{}, ErrFull // whoever waits goes first
	}
	return p.try(q)
}

// try is Acquire without the queue. A pick is void when the snapshot changed
// under it: a drain that began in between must find either no request or one
// that it can see. The query's Tried may grow.
func (p *Pool) try(q *Query) (Lease, error) {
	tried := q.Tried.n // as asked
	for {
		s := p.snap.Load()
		var to *place
		if q.Sticky != "" {
			to = s.pinned(p, q)
		}
		sticky := to != nil
		if !sticky {
			if to = s.pick(q); to == nil {
				return Lease{}, s.refusal(q.Tried.first(tried))
			}
			if !p.loads.claim(to.slot, s.set.limit) {
				// Somebody else took its last place, or it only looked free to a stale view.
				if p.view != &p.loads && !q.Tried.add(to.slot) {
					return Lease{}, ErrFull
				}
				continue
			}
		}
		if p.snap.Load() == s {
			to.attempts.Add(1)
			return Lease{at: to, Start: q.Now, Panic: s.panic, Sticky: sticky}, nil
		}
		p.giveBack(q.Now, to.slot)
	}
}

// pinned returns whom the cookie names, with a place there claimed; nil when
// it cannot be honoured.
func (s *snapshot) pinned(p *Pool, q *Query) *place {
	to := s.sticky[q.Sticky]
	if to == nil || q.Tried.Has(to.slot) || !p.loads.claim(to.slot, s.set.limit) {
		return nil
	}
	return to
}

// pick asks the policy; nil when nobody is usable.
func (s *snapshot) pick(q *Query) *place {
	if i := s.picker.Pick(*q); i >= 0 {
		return &s.places[i]
	}
	return nil
}

// nobody is the picker of an empty set, so that policies need not think of it.
type nobody struct{}

func (nobody) Pick(Query) int { return -1 }

// refusal says why nothing could be picked.
func (s *snapshot) refusal(tried Tried) error {
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
	slot, s := l.at.slot, p.snap.Load()
	if o.Failed() {
		l.at.failures.Add(1)
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
			p.judge(now, l.at.member)
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
