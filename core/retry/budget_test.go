package retry_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
	"minilb/core/retry"
)

func budget(percent float64, least, requests int) *retry.Budget {
	b := retry.NewBudget(retry.Config{BudgetPercent: percent, MinRetryConcurrency: least})
	for range requests {
		b.Enter()
	}
	return b
}

func TestTheLimitIsAShareOfRequestsOrTheMinimum(t *testing.T) {
	cases := []struct {
		percent         float64
		least, requests int
		limit           float64
		room            int
	}{
		{20, 3, 0, 3, 3},
		{20, 3, 15, 3, 3},
		{20, 3, 17, 3.4, 3}, // part of a retry is none
		{20, 3, 20, 4, 4},
		{20, 0, 4, 0.8, 0},
		{0, 0, 100, 0, 0},
		{0, 2, 100, 2, 2},
		{100, 0, 7, 7, 7},
		{1000, 0, 2, 20, 20},
		{0.5, 0, 200, 1, 1},
	}
	for _, c := range cases {
		b := budget(c.percent, c.least, c.requests)
		assert.InDelta(t, c.limit, b.Limit(), 1e-9)
		room := 0
		for room < 50 && b.Take() {
			room++
		}
		assert.Equal(t, c.room, room, "%+v", c)
		assert.Equal(t, c.room, b.Retries())
	}
}

func TestRoomFollowsTheRequestsInFlight(t *testing.T) {
	b := budget(50, 0, 4)
	assert.True(t, b.Take())
	assert.True(t, b.Take())
	assert.False(t, b.Take())
	b.Enter()
	b.Enter()
	assert.True(t, b.Take())
	b.Leave()
	b.Leave()
	b.Give()
	assert.False(t, b.Take(), "two are the whole share again")
	b.Give()
	assert.True(t, b.Take())
}

// queue lets n slots wait and returns the order in which they are woken.
func queue(b *retry.Budget, n int) (slots []*retry.Slot, woken *[]int) {
	woken = new([]int)
	for i := range n {
		s := &retry.Slot{Wake: func() { *woken = append(*woken, i) }}
		slots = append(slots, s)
		b.Enqueue(s)
	}
	return slots, woken
}

func TestWhoWaitsIsServedInOrderAndBeforeAnybodyElse(t *testing.T) {
	b := budget(0, 1, 0)
	require.True(t, b.Take())
	_, woken := queue(b, 3)
	assert.Empty(t, *woken)
	b.Give()
	assert.Equal(t, []int{0}, *woken, "the place went to the first at once")
	assert.False(t, b.Take())
	b.Give()
	b.Give()
	assert.Equal(t, []int{0, 1, 2}, *woken)
	assert.Equal(t, 1, b.Retries())
	assert.False(t, b.Take())
	b.Give()
	assert.True(t, b.Take())
}

func TestRoomThatIsThereWakesBeforeEnqueueReturns(t *testing.T) {
	b := budget(0, 2, 0)
	_, woken := queue(b, 3)
	assert.Equal(t, []int{0, 1}, *woken)
}

func TestMoreRequestsInFlightWakeWhoWaits(t *testing.T) {
	b := budget(100, 0, 1)
	require.True(t, b.Take())
	_, woken := queue(b, 2)
	b.Enter()
	assert.Equal(t, []int{0}, *woken)
}

func TestAbandonSaysWhetherRoomHadBeenClaimed(t *testing.T) {
	b := budget(0, 1, 0)
	require.True(t, b.Take())
	slots, woken := queue(b, 4)
	assert.False(t, b.Abandon(slots[1]), "from the middle")
	assert.False(t, b.Abandon(slots[1]), "again")
	b.Give()
	assert.True(t, b.Abandon(slots[0]), "woken at the last moment: the room is the caller's")
	b.Give()
	assert.Equal(t, []int{0, 2}, *woken)
	assert.False(t, b.Abandon(slots[3]), "from the end")
	b.Give()
	assert.Zero(t, b.Retries())
	assert.True(t, b.Take(), "nobody waits any more")
}

func TestASlotCanWaitAgain(t *testing.T) {
	b := budget(0, 1, 0)
	require.True(t, b.Take())
	woken := 0
	s := &retry.Slot{Wake: func() { woken++ }}
	b.Enqueue(s)
	assert.Panics(t, func() { b.Enqueue(s) }, "but not twice at once")
	b.Give()
	b.Enqueue(s)
	b.Give()
	assert.Equal(t, 2, woken)
	b.Give()
	assert.Zero(t, b.Retries())
}

func full(t *testing.T, wait, perTry time.Duration, deadline lb.Time) (*call, retry.Action) {
	conf := config()
	conf.MinRetryConcurrency, conf.BudgetWait, conf.PerTryTimeout = 1, wait, perTry
	c := begin(t, conf, "GET", deadline)
	require.True(t, c.budget.Take(), "somebody else's retry")
	a, _ := c.attempt(10*ms, status(503))
	return c, a
}

func TestAFullBudgetSkipsOrWaitsAsToldAndNeverPastTheDeadline(t *testing.T) {
	exhausted := retry.Action{Note: "not retried: retry budget exhausted"}
	cases := []struct {
		name         string
		wait, perTry time.Duration
		deadline     lb.Time
		want         retry.Action
	}{
		{"no wait", 0, 0, lb.Never, exhausted},
		{"wait", 100 * time.Millisecond, 0, lb.Never, retry.Action{Do: retry.Queue, At: 110 * ms}},
		{"up to the deadline", 100 * time.Millisecond, 0, 50 * ms, retry.Action{Do: retry.Queue, At: 50 * ms}},
		{"while an attempt still fits", 100 * time.Millisecond, 20 * time.Millisecond, 50 * ms, retry.Action{Do: retry.Queue, At: 30 * ms}},
	}
	for _, c := range cases {
		call, a := full(t, c.wait, c.perTry, c.deadline)
		assert.Equal(t, c.want, a, c.name)
		assert.Equal(t, exhausted, call.life.Denied(), c.name)
		assert.Equal(t, 1, call.budget.Retries(), c.name)
	}
}

func TestAGrantTooLateForAnotherAttemptIsGivenBack(t *testing.T) {
	c, _ := full(t, 100*time.Millisecond, 20*time.Millisecond, 50*ms)
	s := &retry.Slot{Wake: func() {}}
	c.budget.Enqueue(s)
	c.budget.Give()
	require.True(t, c.budget.Abandon(s))
	assert.Equal(t, retry.Action{Note: "not retried: 19ms left of the request's time, another attempt may take 20ms"}, c.life.Granted(31*ms, 0))
	assert.Zero(t, c.budget.Retries())
}

func TestAGrantGoesAheadAfterItsBackOff(t *testing.T) {
	c, _ := full(t, 100*time.Millisecond, 0, lb.Never)
	s := &retry.Slot{Wake: func() {}}
	c.budget.Enqueue(s)
	c.budget.Give()
	assert.Equal(t, retry.Action{Do: retry.Try, At: 31 * ms}, c.life.Granted(31*ms, 0))
	c.life.End()
	assert.Zero(t, c.budget.Retries())
}

// A gauge counts who is inside and remembers when there were too many.
type gauge struct {
	in   atomic.Int64
	over atomic.Int64
}

func (g *gauge) enter(limit int64) {
	if g.in.Add(1) > limit {
		g.over.Add(1)
	}
}

func (g *gauge) leave() { g.in.Add(-1) }

func TestTheBudgetIsNeverExceededHoweverManyClaimAtOnce(t *testing.T) {
	b := budget(20, 3, 30) // six
	var g gauge
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 500 {
				if b.Take() {
					g.enter(6)
					g.leave()
					b.Give()
				}
			}
		})
	}
	wg.Wait()
	assert.Zero(t, g.over.Load())
	assert.Zero(t, b.Retries())
}

// Some wait for ever and some give up at once: a grant that crosses with giving
// up must be neither lost nor counted twice, or somebody would hang here.
func TestNoGrantIsLostBetweenWaitingAndGivingUp(t *testing.T) {
	b := budget(0, 3, 0)
	var g gauge
	use := func() {
		g.enter(3)
		g.leave()
		b.Give()
	}
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			woken := make(chan struct{}, 1)
			s := &retry.Slot{Wake: func() { woken <- struct{}{} }}
			for range 200 {
				switch {
				case b.Take():
					use()
					continue
				case i%2 == 0:
					b.Enqueue(s)
					<-woken
					use()
					continue
				}
				b.Enqueue(s)
				if b.Abandon(s) {
					<-woken
					use()
				}
			}
		})
	}
	wg.Wait()
	assert.Zero(t, g.over.Load())
	assert.Zero(t, b.Retries())
	assert.True(t, b.Take(), "and nobody is left waiting")
}
