package lb_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
)

func TestDrainingBackendTakesNoNewRequest(t *testing.T) {
	y := plain().start(t, abc()...)
	held := y.on(t, 0, "b")
	require.NoError(t, y.Drain(0, "b", 10*time.Second))
	assert.Equal(t, "draining", y.status(t, 0, "b").State)
	assert.NotContains(t, y.names(t, 0, 30), "b")
	y.Release(second, held, ok)
	assert.Len(t, y.Status(second), 2, "it left with its last request")
	assert.Equal(t, "t=1.000 b removed: drained: no requests in flight", y.transcript()[1])
}

func TestADrainEndsAtItsDeadline(t *testing.T) {
	y := plain().start(t, abc()...)
	first, second1 := y.on(t, 0, "b"), y.on(t, 0, "b")
	require.NoError(t, y.Drain(0, "b", 10*time.Second))
	assert.Equal(t, 10*second, y.Next())
	y.Advance(10*second - 1)
	assert.Len(t, y.Status(10*second-1), 3)
	y.Advance(12 * second)
	assert.Equal(t, "t=10.000 b removed: drain deadline passed with 2 in flight", y.transcript()[1])
	assert.Equal(t, lb.Never, y.Next())
	assert.Equal(t, 2, y.Counts().InFlight, "what it holds is still counted")
	y.Release(13*second, first, ok)
	y.Release(13*second, second1, ok)
	assert.Zero(t, y.Counts().InFlight)
}

func TestAcquireNoticesADeadlineThatNobodyCalledAdvanceFor(t *testing.T) {
	y := plain().start(t, abc()...)
	y.on(t, 0, "b")
	require.NoError(t, y.Drain(0, "b", time.Second))
	y.get(t, second, lb.Query{})
	assert.Equal(t, lb.WasRemoved, y.events[1].What)
}

func TestADrainedBackendCanReturn(t *testing.T) {
	y := plain().start(t, abc()...)
	y.on(t, 0, "b")
	require.NoError(t, y.Drain(0, "b", time.Minute))
	require.NoError(t, y.Undrain(second, "b"))
	assert.Contains(t, y.names(t, second, 3), "b")
	y.Advance(2 * 60 * second)
	assert.Len(t, y.Status(2*60*second), 3, "the deadline is void")
}

func TestAPoolWithoutADrainRuleNeverAsksToBeCalledForIt(t *testing.T) {
	pool, err := lb.New(0, lb.Config{}, lb.Parts{Pickers: first}, abc())
	require.NoError(t, err)
	require.NoError(t, pool.Drain(0, "a", time.Second))
	assert.Equal(t, lb.Never, pool.Next())
	pool.Advance(2 * second)
	assert.Len(t, pool.Status(2*second), 3)
}

// first is the smallest policy there is.
func first(s *lb.Set) lb.Picker { return firstOf{s} }

type firstOf struct{ *lb.Set }

func (f firstOf) Pick(q lb.Query) int { return f.UsableFrom(0, &q) }

func TestStickyClientsStayWhileTheirBackendIsEligible(t *testing.T) {
	s := plain()
	s.outlier.Consecutive5xx = 1
	y := s.start(t, abc()...)
	for range 5 {
		l := y.get(t, 0, lb.Query{Sticky: "c"})
		assert.Equal(t, "c", l.Name())
		assert.True(t, l.Sticky)
		y.Release(0, l, ok)
	}
	y.Release(0, y.on(t, 0, "c"), bad) // ejected
	l := y.get(t, 0, lb.Query{Sticky: "c"})
	assert.NotEqual(t, "c", l.Name())
	assert.False(t, l.Sticky, "the cookie is to be rewritten")
	l = y.get(t, 0, lb.Query{Sticky: "stranger"})
	assert.False(t, l.Sticky, "a cookie that names nobody")
}

func TestAStickyRetryGoesElsewhere(t *testing.T) {
	y := plain().start(t, abc()...)
	l := y.on(t, 0, "c")
	again := y.get(t, 0, lb.Query{Sticky: "c", Tried: lb.Tried{}.With(l)})
	assert.NotEqual(t, "c", again.Name())
	assert.False(t, again.Sticky)
}

func TestAStickyClientOfAFullBackendGoesElsewhere(t *testing.T) {
	s := plain()
	s.pool.MaxInflight = 1
	y := s.start(t, abc()...)
	y.on(t, 0, "c")
	l := y.get(t, 0, lb.Query{Sticky: "c"})
	assert.NotEqual(t, "c", l.Name())
	assert.Equal(t, 1, y.status(t, 0, "c").InFlight)
}

func TestDrainingRefusesStickyClientsUnlessToldNotTo(t *testing.T) {
	for _, drainSticky := range []bool{false, true} {
		s := plain()
		s.pool.DrainSticky = drainSticky
		y := s.start(t, abc()...)
		y.on(t, 0, "c")
		require.NoError(t, y.Drain(0, "c", time.Minute))
		l := y.get(t, 0, lb.Query{Sticky: "c"})
		assert.Equal(t, drainSticky, l.Sticky)
		assert.Equal(t, drainSticky, l.Name() == "c")
		assert.NotContains(t, y.names(t, 0, 9), "c", "nobody else gets in")
	}
}

// With drain-sticky a backend that is also down or ejected takes nobody.
func TestDrainStickyNeedsABackendThatIsOtherwiseEligible(t *testing.T) {
	s := plain()
	s.pool.DrainSticky = true
	s.outlier.Consecutive5xx = 1
	y := s.start(t, abc()...)
	y.on(t, 0, "c")
	y.Release(0, y.on(t, 0, "c"), bad)
	require.NoError(t, y.Drain(0, "c", time.Minute))
	assert.False(t, y.get(t, 0, lb.Query{Sticky: "c"}).Sticky)
}

// sick is a pool of n backends with the first few of them down.
func sick(t *testing.T, threshold float64, n, down int) *story {
	s := plain()
	s.pool.PanicThreshold = threshold
	s.health.CheckInterval, s.health.Fall, s.health.Rise = time.Second, 1, 1
	var all []lb.Backend
	for i := range n {
		all = append(all, lb.Backend{Name: string(rune('a' + i)), Weight: 1})
	}
	y := s.start(t, all...)
	y.probe(0, func(name string) lb.ProbeResult {
		if int(name[0]-'a') < down {
			return failed
		}
		return passed
	})
	return y
}

func TestPanicBeginsBelowItsThresholdAndNotAtIt(t *testing.T) {
	cases := []struct {
		threshold float64
		down      int
		panics    bool
	}{
		{0, 4, false}, {50, 1, false}, {50, 2, false}, {50, 3, true}, {50, 4, true},
		{25, 3, false}, {25, 4, true}, {100, 0, false}, {100, 1, true}, {50.1, 2, true},
	}
	for _, c := range cases {
		y := sick(t, c.threshold, 4, c.down)
		assert.Equal(t, c.panics, y.Counts().Panic, "%+v", c)
		l, err := y.Acquire(0, lb.Query{})
		if c.down == 4 && !c.panics {
			assert.ErrorIs(t, err, lb.ErrNoBackend)
			continue
		}
		assert.Equal(t, c.panics, l.Panic, "every decision says so")
		if !c.panics {
			assert.GreaterOrEqual(t, l.Slot(), c.down)
			continue
		}
		assert.ElementsMatch(t, []byte("abcd"), []byte(y.names(t, 0, 4)), "everybody gets traffic")
		assert.True(t, slices.ContainsFunc(y.events, func(e lb.Event) bool { return e.What == lb.PanicBegan }))
	}
}

func TestPanicEndsWhenEnoughAreBack(t *testing.T) {
	y := sick(t, 50, 4, 3)
	y.probe(second, func(string) lb.ProbeResult { return passed })
	assert.False(t, y.Counts().Panic)
	assert.False(t, y.get(t, second, lb.Query{}).Panic)
	assert.Contains(t, y.transcript(), "t=0.000 pool panic: fewer than 50% of backends are eligible; all that are not draining get traffic")
	assert.Contains(t, y.transcript(), "t=1.000 pool panic over: 50% of backends or more are eligible again")
}

func TestPanicLetsEverybodyInButTheDraining(t *testing.T) {
	y := sick(t, 60, 4, 3)
	y.on(t, 0, "a")
	require.NoError(t, y.Drain(0, "a", time.Minute))
	assert.True(t, y.Counts().Panic, "one of the three that stay is eligible")
	assert.NotContains(t, y.names(t, 0, 12), "a")
	assert.NotEqual(t, "a", y.get(t, 0, lb.Query{Sticky: "a"}).Name())
	assert.True(t, y.get(t, 0, lb.Query{Sticky: "b"}).Sticky, "a cookie may name a backend that is down")
}

func TestTheHoldsAreSeparateAndAllMustBeClear(t *testing.T) {
	s := plain()
	s.health.CheckInterval, s.health.Fall, s.health.Rise = time.Second, 1, 1
	s.outlier.Consecutive5xx, s.outlier.BaseEjection = 1, 10*time.Second
	y := s.start(t, abc()...)
	y.Release(0, y.on(t, 0, "a"), bad)
	y.probe(0, func(string) lb.ProbeResult { return failed })
	a := y.status(t, 0, "a")
	assert.True(t, a.Down && a.Ejected)
	y.probe(second, func(string) lb.ProbeResult { return passed })
	a = y.status(t, second, "a")
	assert.True(t, !a.Down && a.Ejected, "a passed check does not end an ejection")
	assert.NotContains(t, y.names(t, second, 9), "a")
	y.Advance(10 * second)
	assert.Contains(t, y.names(t, 10*second, 3), "a")
}

func TestAnAddedBackendWaitsForOnePassedCheck(t *testing.T) {
	s := plain()
	s.health.CheckInterval, s.health.Rise = time.Second, 5
	y := s.start(t, abc()...)
	y.Due(0, nil)
	require.NoError(t, y.Add(second/2, lb.Backend{Name: "d", Weight: 1}))
	assert.NotContains(t, y.names(t, second/2, 8), "d")
	assert.Equal(t, second/2, y.Next(), "it is probed at once")
	y.probe(second/2, func(string) lb.ProbeResult { return passed })
	assert.Contains(t, y.names(t, second/2, 4), "d")
}

// haproxy#1234 and #1176: the end of one hold says nothing about the other, and
// a backend that passed through both comes back without traffic to it.
func TestABackendThatPassedThroughBothHoldsComesBack(t *testing.T) {
	for uneject, want := range map[bool]lb.Time{
		false: 14 * second, // the second ejection ends, twice as long as the first
		true:  8 * second,  // rise × interval after the checks have begun to pass
	} {
		s := plain()
		s.health.CheckInterval, s.health.Fall, s.health.Rise = time.Second, 1, 2
		s.outlier.Consecutive5xx, s.outlier.BaseEjection, s.outlier.UnejectOnCheck = 1, 4*time.Second, uneject
		y := s.start(t, abc()...)
		first, late := y.on(t, 0, "a"), y.on(t, 0, "a")
		y.Release(0, first, bad)
		in := lb.Never
		for now := lb.Time(0); now <= 20*second && in == lb.Never; now += second {
			works := now >= 7*second
			y.probe(now, func(name string) lb.ProbeResult {
				if name == "a" && !works {
					return failed
				}
				return passed
			})
			a := y.status(t, now, "a")
			switch {
			case now == 5*second:
				assert.True(t, a.Down && !a.Ejected, "its ejection is over and its checks fail: it stays out")
			case now == 6*second:
				y.Release(now, late, bad) // and is ejected anew, while it is down
			case works && !a.Down && !a.Ejected:
				in = now
			}
		}
		assert.Equal(t, want, in, "uneject-on-check %t", uneject)
		assert.Contains(t, y.names(t, in, 3), "a")
	}
}
