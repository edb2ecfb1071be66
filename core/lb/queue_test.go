package lb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
)

// queued is three backends that take one request each, all busy.
func queued(t *testing.T, room int) (*story, []lb.Lease) {
	s := plain()
	s.pool.MaxInflight, s.pool.Queue = 1, room
	y := s.start(t, abc()...)
	return y, []lb.Lease{y.on(t, 0, "a"), y.on(t, 0, "b"), y.on(t, 0, "c")}
}

// A waiter is a ticket that notes its own waking.
type waiter struct {
	lb.Ticket
	woken int
}

func wait(t *testing.T, y *story, q lb.Query) *waiter {
	w := &waiter{}
	w.Wake = func() { w.woken++ }
	require.NoError(t, y.Enqueue(0, q, &w.Ticket))
	return w
}

func TestTheQueueServesInOrder(t *testing.T) {
	y, held := queued(t, 3)
	_, err := y.Acquire(0, lb.Query{})
	assert.ErrorIs(t, err, lb.ErrFull)
	one, two := wait(t, y, lb.Query{}), wait(t, y, lb.Query{})
	assert.Equal(t, 2, y.Counts().Waiting)
	y.Release(second, held[1], ok)
	assert.Equal(t, []int{1, 0}, []int{one.woken, two.woken})
	l, granted := y.Take(&one.Ticket)
	assert.True(t, granted)
	assert.Equal(t, "b", l.Name())
	assert.Equal(t, second, l.Start)
	y.Release(2*second, l, ok)
	assert.Equal(t, 1, two.woken)
	assert.Zero(t, y.Counts().Waiting)
}

func TestTheQueueIsBounded(t *testing.T) {
	y, _ := queued(t, 2)
	wait(t, y, lb.Query{})
	wait(t, y, lb.Query{})
	assert.ErrorIs(t, y.Enqueue(0, lb.Query{}, &lb.Ticket{}), lb.ErrQueueFull)
	y, _ = queued(t, 0)
	assert.ErrorIs(t, y.Enqueue(0, lb.Query{}, &lb.Ticket{}), lb.ErrQueueFull, "there is no queue")
}

func TestNobodyOvertakesThoseWhoWait(t *testing.T) {
	y, held := queued(t, 3)
	w := wait(t, y, lb.Query{})
	_, err := y.Acquire(0, lb.Query{})
	assert.ErrorIs(t, err, lb.ErrFull)
	y.Release(0, held[0], ok)
	_, err = y.Acquire(0, lb.Query{})
	assert.ErrorIs(t, err, lb.ErrFull, "the place went to the waiter")
	l, granted := y.Take(&w.Ticket)
	assert.True(t, granted)
	assert.Equal(t, "a", l.Name())
}

func TestAPlaceFreedBeforeTheTicketRegisteredIsNotMissed(t *testing.T) {
	y, held := queued(t, 3)
	_, err := y.Acquire(0, lb.Query{})
	require.ErrorIs(t, err, lb.ErrFull)
	y.Release(0, held[2], ok) // nobody waits yet
	w := wait(t, y, lb.Query{})
	assert.Equal(t, 1, w.woken, "within Enqueue")
}

func TestAbandonEndsAWait(t *testing.T) {
	y, held := queued(t, 3)
	one, two, three := wait(t, y, lb.Query{}), wait(t, y, lb.Query{}), wait(t, y, lb.Query{})
	_, granted := y.Abandon(&two.Ticket)
	assert.False(t, granted)
	y.Release(0, held[0], ok)
	y.Release(0, held[1], ok)
	assert.Equal(t, []int{1, 0, 1}, []int{one.woken, two.woken, three.woken})
}

func TestALeaseGrantedAtTheLastMomentComesBackOnce(t *testing.T) {
	y, held := queued(t, 3)
	w := wait(t, y, lb.Query{})
	y.Release(0, held[0], ok)
	l, granted := y.Abandon(&w.Ticket)
	assert.True(t, granted, "the deadline passed as the place was given")
	assert.Equal(t, "a", l.Name())
	_, granted = y.Abandon(&w.Ticket)
	assert.False(t, granted)
	_, granted = y.Take(&w.Ticket)
	assert.False(t, granted)
	y.Release(0, l, ok)
	assert.Equal(t, 2, y.Counts().InFlight)
}

func TestATicketCanBeUsedAgain(t *testing.T) {
	y, held := queued(t, 3)
	w := wait(t, y, lb.Query{})
	y.Abandon(&w.Ticket)
	require.NoError(t, y.Enqueue(0, lb.Query{}, &w.Ticket))
	y.Release(0, held[0], ok)
	l, granted := y.Take(&w.Ticket)
	require.True(t, granted)
	require.NoError(t, y.Enqueue(0, lb.Query{}, &w.Ticket))
	y.Release(0, l, ok)
	assert.Equal(t, 2, w.woken)
}

func TestABackendThatJoinsServesTheQueue(t *testing.T) {
	y, _ := queued(t, 3)
	w := wait(t, y, lb.Query{})
	require.NoError(t, y.Add(second, lb.Backend{Name: "d", Weight: 1}))
	l, granted := y.Take(&w.Ticket)
	assert.True(t, granted)
	assert.Equal(t, "d", l.Name())
}

// A retry may not go back to where it has been, and somebody else may.
func TestARetryThatCannotUseAFreePlaceLetsOthersPass(t *testing.T) {
	y, held := queued(t, 3)
	retry := wait(t, y, lb.Query{Tried: lb.Tried{}.With(held[0])})
	fresh := wait(t, y, lb.Query{})
	y.Release(0, held[0], ok)
	assert.Equal(t, []int{0, 1}, []int{retry.woken, fresh.woken})
	y.Release(0, held[1], ok)
	assert.Equal(t, 1, retry.woken)
	l, _ := y.Take(&retry.Ticket)
	assert.Equal(t, "b", l.Name())
}

func TestAWaiterIsNotSentToABackendThatLeft(t *testing.T) {
	y, held := queued(t, 3)
	w := wait(t, y, lb.Query{})
	require.NoError(t, y.Drain(0, "a", time.Minute))
	y.Release(0, held[0], ok)
	assert.Zero(t, w.woken)
	y.Release(0, held[1], ok)
	assert.Equal(t, 1, w.woken)
}
