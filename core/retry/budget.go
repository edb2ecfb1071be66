package retry

import (
	"sync"

	"minilb/core/lb"
)

// A Budget caps the retries in flight as a share of the requests in flight,
// so that a slow backend cannot multiply the load on the others. It is
// Envoy's: a percentage, and a number that is always allowed so that a quiet
// service can still retry.
type Budget struct {
	percent float64
	least   float64

	requests lb.Int64
	retries  lb.Int64
	waiting  lb.Int32

	mu   sync.Mutex
	line lb.Line[Slot]
}

// NewBudget returns the budget that the configuration describes.
func NewBudget(c Config) *Budget {
	return &Budget{percent: c.BudgetPercent, least: float64(c.MinRetryConcurrency)}
}

// Enter counts a request as in flight, from its first attempt to its answer.
func (b *Budget) Enter() {
	b.requests.Add(1)
	if b.waiting.Load() > 0 {
		b.serve() // more requests in flight allow more retries
	}
}

// Leave ends what Enter began.
func (b *Budget) Leave() { b.requests.Add(-1) }

// Limit is how many retries may be in flight now.
func (b *Budget) Limit() float64 {
	return max(b.least, float64(b.requests.Load())*b.percent/100)
}

// Retries is how many retries are in flight.
func (b *Budget) Retries() int { return int(b.retries.Load()) }

// Requests is how many requests are in flight.
func (b *Budget) Requests() int { return int(b.requests.Load()) }

// Take claims room for one retry, and never more than the limit however many
// claim at once. Whoever waits goes first.
func (b *Budget) Take() bool {
	return b.waiting.Load() == 0 && b.take()
}

func (b *Budget) take() bool {
	for {
		n := b.retries.Load()
		if float64(n+1) > b.Limit() {
			return false
		}
		if b.retries.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Give returns what Take claimed.
func (b *Budget) Give() {
	b.retries.Add(-1)
	if b.waiting.Load() > 0 {
		b.serve()
	}
}

// A Slot is a retry that waits for room in the budget. The caller owns it and
// may use it again when its wait is over. Wake is called, under the budget's
// lock, when room has been claimed for it: quick, and no call back into the
// budget.
type Slot struct {
	Wake func()

	spot    lb.Spot[Slot]
	granted bool
}

// Enqueue lets a retry wait in order. It looks once more after it has
// registered, so Wake may be called before Enqueue returns.
func (b *Budget) Enqueue(s *Slot) {
	b.mu.Lock()
	if s.spot.Waits() {
		b.mu.Unlock()
		panic("retry: Enqueue of a Slot that waits already")
	}
	s.granted = false
	b.line.Join(&s.spot, s)
	b.waiting.Add(1)
	b.mu.Unlock()
	b.serve()
}

// Abandon ends a wait and says whether room had been claimed by then; if so it
// is the caller's, to use or to give back.
func (b *Budget) Abandon(s *Slot) (granted bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.spot.Waits() {
		b.leave(s)
	}
	return s.granted
}

func (b *Budget) serve() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := b.line.First(); s != nil && b.take(); s = b.line.First() {
		b.leave(s)
		s.granted = true
		s.Wake()
	}
}

func (b *Budget) leave(s *Slot) {
	b.line.Leave(&s.spot)
	b.waiting.Add(-1)
}
