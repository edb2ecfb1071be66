package lb_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/drain"
	"minilb/core/lb"
	"minilb/core/pick"
)

// These are worth running with -race. They are as true without it, and under
// WebAssembly, where goroutines take turns.

// crowd runs a function in many goroutines and waits for them.
func crowd(n int, f func(g int)) {
	var wg sync.WaitGroup
	for g := range n {
		wg.Go(func() { f(g) })
	}
	wg.Wait()
}

func TestClaimsNeverOvershootTheLimit(t *testing.T) {
	for _, p := range pick.All {
		s := plain()
		s.policy, s.pool.MaxInflight = p.Name, 3
		y := s.start(t, abc()...)
		var held [3]atomic.Int32
		crowd(8, func(g int) {
			for i := range 500 {
				l, err := y.Acquire(0, lb.Query{Rand: word(g*500 + i), Hash: word(i), HasKey: i%2 == 0})
				if err != nil {
					assert.ErrorIs(t, err, lb.ErrFull)
					runtime.Gosched()
					continue
				}
				if n := held[l.Slot()].Add(1); n > 3 {
					t.Errorf("%s: %d in flight", p.Name, n)
				}
				if i%7 == 0 {
					runtime.Gosched()
				}
				held[l.Slot()].Add(-1)
				y.Release(0, l, ok)
			}
		})
		assert.Zero(t, y.Counts().InFlight, p.Name)
	}
}

// Every place can be had: a claim that loses a race tries again.
func TestALostRaceIsNotAFullPool(t *testing.T) {
	for range 50 {
		s := plain()
		s.policy, s.pool.MaxInflight = "least_conn", 2
		y := s.start(t, abc()...)
		crowd(6, func(int) {
			_, err := y.Acquire(0, lb.Query{})
			assert.NoError(t, err)
		})
		_, err := y.Acquire(0, lb.Query{})
		assert.ErrorIs(t, err, lb.ErrFull)
	}
}

// No request starts after Drain has returned: what is in flight then can only
// become less, and the removal sees the last one end.
func TestADrainSeesEveryRequest(t *testing.T) {
	for round := range 40 {
		y := plain().start(t, abc()...)
		var drained atomic.Bool
		var started atomic.Int32
		crowd(5, func(g int) {
			if g == 0 {
				for range round * 10 {
					runtime.Gosched()
				}
				assert.NoError(t, y.Drain(0, "b", time.Hour))
				drained.Store(true)
				return
			}
			for range 300 {
				after := drained.Load()
				l, err := y.Acquire(0, lb.Query{})
				if !assert.NoError(t, err) {
					return
				}
				if after && l.Name() == "b" {
					started.Add(1)
				}
				y.Release(0, l, ok)
			}
		})
		assert.Zero(t, started.Load(), "started on a draining backend")
		assert.Len(t, y.Status(0), 2, "it left with its last request")
		assert.Zero(t, y.Counts().InFlight)
	}
}

// Release looks at the queue only when somebody waits, and Enqueue looks at
// the places once more after it has registered: between them nobody sleeps
// for ever.
func TestNoWakeUpIsLostBetweenReleaseAndEnqueue(t *testing.T) {
	s := plain()
	s.pool.MaxInflight, s.pool.Queue = 1, 100
	y := s.start(t, abc()[0])
	for range 3000 {
		l := y.get(t, 0, lb.Query{})
		woken := make(chan struct{}, 1)
		ticket := &lb.Ticket{Wake: func() { woken <- struct{}{} }}
		crowd(2, func(g int) {
			if g == 0 {
				y.Release(0, l, ok)
				return
			}
			assert.NoError(t, y.Enqueue(0, lb.Query{}, ticket))
		})
		select {
		case <-woken:
		default:
			require.Fail(t, "the place is free, and the waiter was not woken")
		}
		granted, has := y.Take(ticket)
		require.True(t, has)
		y.Release(0, granted, ok)
	}
}

// A client gives up in the moment in which its place is given to it. Either
// the ticket leaves without a lease, or the lease comes back; never neither.
func TestAbandonAndGrantDoNotLoseAPlace(t *testing.T) {
	s := plain()
	s.pool.MaxInflight, s.pool.Queue = 1, 100
	y := s.start(t, abc()[0])
	backs := 0
	for range 3000 {
		l := y.get(t, 0, lb.Query{})
		ticket := &lb.Ticket{Wake: func() {}}
		require.NoError(t, y.Enqueue(0, lb.Query{}, ticket))
		crowd(2, func(g int) {
			if g == 0 {
				y.Release(0, l, ok)
				return
			}
			if back, granted := y.Abandon(ticket); granted {
				backs++
				y.Release(0, back, ok)
			}
		})
		require.Zero(t, y.Counts().InFlight)
		require.Zero(t, y.Counts().Waiting)
	}
	t.Logf("%d of 3000 were granted first", backs)
}

// Many wait for few places, some of them impatient; all that are served are
// served one at a time, and in the end nothing is left over.
func TestAQueueUnderLoadServesEverybody(t *testing.T) {
	s := plain()
	s.pool.MaxInflight, s.pool.Queue = 1, 1000
	y := s.start(t, abc()...)
	var busy, served atomic.Int32
	crowd(12, func(g int) {
		for i := range 200 {
			l, err := y.Acquire(0, lb.Query{})
			if err != nil {
				l, err = waitFor(y, g%4 == 0 && i%3 == 0)
			}
			if err != nil {
				continue
			}
			if n := busy.Add(1); n > 3 {
				t.Errorf("%d in flight over three places", n)
			}
			runtime.Gosched()
			busy.Add(-1)
			served.Add(1)
			y.Release(0, l, ok)
		}
	})
	c := y.Counts()
	assert.Zero(t, c.InFlight)
	assert.Zero(t, c.Waiting)
	assert.GreaterOrEqual(t, served.Load(), int32(9*200), "the patient ones at least")
}

func waitFor(y *story, impatient bool) (lb.Lease, error) {
	woken := make(chan struct{}, 1)
	ticket := &lb.Ticket{Wake: func() { woken <- struct{}{} }}
	if err := y.Enqueue(0, lb.Query{}, ticket); err != nil {
		return lb.Lease{}, err
	}
	if impatient {
		runtime.Gosched()
		if l, granted := y.Abandon(ticket); granted {
			return l, nil
		}
		return lb.Lease{}, lb.ErrFull
	}
	<-woken
	l, _ := y.Take(ticket)
	return l, nil
}

// Everything at once: requests, errors, probes, drains, returns, weights.
func TestThePoolIsSafeForManyAtOnce(t *testing.T) {
	for _, policy := range []string{"least_conn", "peak_ewma", "maglev", "weighted_round_robin"} {
		s := plain()
		s.policy = policy
		s.pool.MaxInflight, s.pool.SlowStart, s.pool.PanicThreshold = 5, 10*time.Millisecond, 30
		s.health.CheckInterval, s.health.Fall, s.health.Rise = 10*time.Millisecond, 1, 1
		s.outlier.Consecutive5xx, s.outlier.BaseEjection = 2, 20*time.Millisecond
		y := s.start(t, abc()...)
		var clock atomic.Int64
		crowd(8, func(g int) {
			for i := range 300 {
				now := lb.Time(clock.Add(int64(time.Millisecond) / 8))
				switch {
				case g > 1:
					exchange(y, now, i)
				case g == 1:
					y.probe(now, func(string) lb.ProbeResult { return lb.ProbeResult{Status: 200 + i%3/2*300} })
				default:
					churn(t, y, now, i)
				}
			}
		})
		y.Advance(lb.Time(time.Hour))
		c := y.Counts()
		assert.Zero(t, c.InFlight, policy)
		var attempts uint64
		for _, st := range y.Status(lb.Time(time.Hour)) {
			assert.Zero(t, st.InFlight)
			attempts += st.Attempts
		}
		assert.Positive(t, attempts)
	}
}

func exchange(y *story, now lb.Time, i int) {
	l, err := y.Acquire(now, lb.Query{Rand: word(i), Hash: word(i), HasKey: true, Sticky: []string{"", "a", "d3"}[i%3]})
	if err != nil {
		return
	}
	outcome := ok
	if i%5 < 2 {
		outcome = bad
	}
	runtime.Gosched()
	y.Release(now, l, outcome)
}

func churn(t *testing.T, y *story, now lb.Time, i int) {
	name := fmt.Sprintf("d%d", i/4%8)
	switch i % 4 {
	case 0:
		assert.NoError(t, y.Add(now, lb.Backend{Name: name, Weight: 1 + i%9}))
	case 1:
		assert.NoError(t, y.SetWeight(now, "a", 1+i%9))
	case 2:
		assert.NoError(t, y.Drain(now, name, time.Millisecond))
	default:
		_ = y.Undrain(now, name) // it may have left already
		if y.Drain(now, name, 0) == nil {
			y.Advance(now)
		}
	}
}

// meddler is a policy under which something happens between a pick and the
// claim of its place.
type meddler struct {
	firstOf
	meddle *func()
}

func (m meddler) Pick(q lb.Query) int {
	i := m.firstOf.Pick(q)
	f := *m.meddle
	*m.meddle = func() {}
	f()
	return i
}

func TestAPickIsVoidWhenItsBackendBeganToDrainMeanwhile(t *testing.T) {
	meddle := func() {}
	var left []string
	pool, err := lb.New(0, lb.Config{}, lb.Parts{
		Pickers: func(s *lb.Set) lb.Picker { return meddler{firstOf{s}, &meddle} },
		Drain:   drain.Policy{},
		Log: func(e lb.Event) {
			if e.What == lb.WasRemoved {
				left = append(left, e.Backend)
			}
		},
	}, abc())
	require.NoError(t, err)

	meddle = func() { require.NoError(t, pool.Drain(0, "a", time.Minute)) }
	l, err := pool.Acquire(0, lb.Query{})
	require.NoError(t, err)
	assert.Equal(t, "b", l.Name(), "a was picked, then drained")
	assert.Equal(t, []string{"a"}, left)

	held, err := pool.Acquire(0, lb.Query{})
	require.NoError(t, err)
	meddle = func() { // the last request ends while another is being claimed
		require.NoError(t, pool.Drain(0, "b", time.Minute))
		pool.Release(0, held, ok)
		pool.Release(0, l, ok)
	}
	l, err = pool.Acquire(0, lb.Query{})
	require.NoError(t, err)
	assert.Equal(t, "c", l.Name())
	assert.Equal(t, []string{"a", "b"}, left)
	assert.Equal(t, 1, pool.Counts().InFlight)
}
