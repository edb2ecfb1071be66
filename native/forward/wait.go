package forward

import (
	"time"

	"minilb/core/lb"
	"minilb/core/retry"
)

// acquire gets the lease of the first attempt, and waits in front of a full
// pool when that has a queue.
func (x *exchange) acquire() (lb.Lease, error) {
	lease, err := x.Pool.Acquire(x.Now(), x.query)
	if err != lb.ErrFull || x.QueueTimeout <= 0 {
		return lease, err
	}
	woken := make(chan struct{}, 1)
	ticket := &lb.Ticket{Wake: func() { woken <- struct{}{} }}
	began := x.Now()
	if full := x.Pool.Enqueue(began, x.query, ticket); full != nil {
		return lb.Lease{}, full
	}
	defer x.waited(began)
	gone := !x.wait(x.QueueTimeout, woken)
	lease, granted := x.Pool.Abandon(ticket)
	switch {
	case granted && gone:
		x.Pool.Release(x.Now(), lease, lb.Outcome{Kind: lb.Cancelled})
		return lb.Lease{}, errGone
	case granted:
		return lease, nil
	case gone:
		return lb.Lease{}, errGone
	}
	return lb.Lease{}, lb.ErrFull
}

// queueForBudget waits until the retry budget has room, at most until at.
func (x *exchange) queueForBudget(at lb.Time) retry.Action {
	woken := make(chan struct{}, 1)
	slot := &retry.Slot{Wake: func() { woken <- struct{}{} }}
	x.Budget.Enqueue(slot)
	x.wait(at.Sub(x.Now()), woken)
	if x.Budget.Abandon(slot) {
		return x.life.Granted(x.Now(), x.word())
	}
	return x.life.Denied()
}

// sleep waits until an instant, and says whether the client waited as well.
func (x *exchange) sleep(at lb.Time) bool { return x.wait(at.Sub(x.Now()), nil) }

// wait ends after d, when woken, or when the client leaves: then it is false.
func (x *exchange) wait(d time.Duration, woken <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-woken:
	case <-x.ctx.Done():
		return false
	}
	return true
}
