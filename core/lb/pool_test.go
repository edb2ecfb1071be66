package lb_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
)

func TestAcquireAndReleaseCountRequestsInFlight(t *testing.T) {
	y := plain().start(t, abc()...)
	l := y.get(t, second, lb.Query{})
	assert.Equal(t, "a", l.Name())
	assert.Equal(t, second, l.Start)
	assert.True(t, l.Valid())
	assert.False(t, lb.Lease{}.Valid())
	assert.Equal(t, 1, y.status(t, second, "a").InFlight)
	assert.Equal(t, 1, y.Counts().InFlight)
	y.Release(2*second, l, bad)
	a := y.status(t, 2*second, "a")
	assert.Equal(t, []any{0, uint64(1), uint64(1)}, []any{a.InFlight, a.Attempts, a.Failures})
}

func TestReleasingALeaseTwicePanics(t *testing.T) {
	y := plain().start(t, abc()...)
	l := y.get(t, 0, lb.Query{})
	y.Release(0, l, ok)
	assert.PanicsWithValue(t, "lb: lease released twice", func() { y.Release(0, l, ok) })
}

func TestARetryGoesToAnotherBackend(t *testing.T) {
	y := plain().start(t, abc()...)
	var had lb.Tried
	for range 3 {
		l := y.get(t, 0, lb.Query{Tried: had})
		assert.False(t, had.Has(l.Slot()))
		had = had.With(l)
	}
	assert.Equal(t, 3, had.Len())
	_, err := y.Acquire(0, lb.Query{Tried: had})
	assert.ErrorIs(t, err, lb.ErrNoOther)
}

func TestRefusalsSayWhy(t *testing.T) {
	s := plain()
	s.pool.MaxInflight = 1
	y := s.start(t, abc()[0])
	l := y.get(t, 0, lb.Query{})
	_, err := y.Acquire(0, lb.Query{})
	assert.ErrorIs(t, err, lb.ErrFull)
	_, err = y.Acquire(0, lb.Query{Tried: lb.Tried{}.With(l)})
	assert.ErrorIs(t, err, lb.ErrNoOther)
	y.Release(0, l, ok)
	require.NoError(t, y.Drain(0, "a", 0))
	_, err = y.Acquire(0, lb.Query{})
	assert.ErrorIs(t, err, lb.ErrNoBackend)
	assert.EqualError(t, err, "no healthy upstream")
}

func TestMembershipErrorsAreActionable(t *testing.T) {
	y := plain().start(t, abc()...)
	assert.EqualError(t, y.Add(0, lb.Backend{Name: "a", Weight: 1}), "backend a: the name is taken; names in a pool are unique")
	assert.ErrorContains(t, y.Add(0, lb.Backend{Name: "d"}), "weight 0 outside 1 to 1000")
	assert.ErrorIs(t, y.SetWeight(0, "x", 2), lb.ErrUnknown)
	assert.ErrorContains(t, y.SetWeight(0, "a", -1), "weight -1 outside 1 to 1000")
	assert.ErrorIs(t, y.Drain(0, "x", 0), lb.ErrUnknown)
	assert.ErrorIs(t, y.Undrain(0, "x"), lb.ErrUnknown)
	assert.EqualError(t, y.Undrain(0, "a"), "backend a is not draining")
	assert.Empty(t, y.events, "nothing happened")

	_, err := lb.New(0, lb.Config{}, lb.Parts{}, []lb.Backend{{Name: "a", Weight: 1}, {Name: "a", Weight: 1}})
	assert.ErrorContains(t, err, "the name is taken")
}

func TestAPoolHoldsAtMost1024Backends(t *testing.T) {
	y := plain().start(t)
	for i := range lb.MaxBackends {
		require.NoError(t, y.Add(0, lb.Backend{Name: fmt.Sprintf("b%d", i), Weight: 1}))
	}
	assert.EqualError(t, y.Add(0, lb.Backend{Name: "one-more", Weight: 1}), "a pool holds at most 1024 backends")
	require.NoError(t, y.Drain(0, "b7", 0))
	require.NoError(t, y.Add(0, lb.Backend{Name: "one-more", Weight: 1}))
	assert.Equal(t, 7, y.on(t, 0, "one-more").Slot(), "the place that became free")
}

func TestSlotsAreNotConfusedAfterRemovalAndReturn(t *testing.T) {
	s := plain()
	s.policy = "peak_ewma"
	s.outlier.Consecutive5xx = 3
	y := s.start(t)
	for i := range lb.MaxBackends {
		require.NoError(t, y.Add(0, lb.Backend{Name: fmt.Sprintf("b%d", i), Weight: 1}))
	}
	old := []lb.Lease{y.on(t, 0, "b7"), y.on(t, 0, "b7"), y.on(t, 0, "b7")}
	require.NoError(t, y.Drain(0, "b7", time.Second))
	y.Advance(second)
	assert.Len(t, y.Status(second), lb.MaxBackends-1, "gone at its deadline, with three in flight")
	assert.EqualError(t, y.Add(second, lb.Backend{Name: "b7", Weight: 1}), "a pool holds at most 1024 backends",
		"its slot is still counted on")
	for _, l := range old {
		assert.Equal(t, "b7", l.Name())
		y.Release(second, l, bad)
	}
	assert.Positive(t, y.lat.At(second, 7))
	require.NoError(t, y.Add(second, lb.Backend{Name: "b7", Weight: 1}))
	assert.Zero(t, y.lat.At(second, 7), "nor are its latencies")
	fresh := y.status(t, second, "b7")
	assert.Equal(t, "healthy", fresh.State, "its namesake's errors are not its own")
	assert.Zero(t, fresh.Attempts+fresh.Failures)
	l := y.on(t, second, "b7")
	assert.Equal(t, 7, l.Slot())
	y.Release(second, l, bad)
	assert.Equal(t, "healthy", y.status(t, second, "b7").State, "one error is its first")
}

func TestAProbeOfARemovedBackendSaysNothingAboutItsSuccessor(t *testing.T) {
	s := plain()
	s.health.CheckInterval = time.Second
	s.health.Fall = 1
	y := s.start(t, abc()...)
	probes := y.Due(0, nil)
	require.Len(t, probes, 3)
	require.NoError(t, y.Drain(0, "a", 0))
	require.NoError(t, y.Add(0, lb.Backend{Name: "a", Weight: 1}))
	assert.Equal(t, "unhealthy", y.status(t, 0, "a").State, "not checked yet")
	y.Probed(0, probes[0], passed)
	assert.Equal(t, "unhealthy", y.status(t, 0, "a").State, "that was the first a's")
}

func TestALateAnswerIsNotAnObservationOfTheSuccessor(t *testing.T) {
	s := plain()
	s.outlier.Consecutive5xx = 1
	y := s.start(t, abc()...)
	late := y.on(t, 0, "a")
	require.NoError(t, y.Drain(0, "a", time.Second))
	y.Advance(second)
	require.NoError(t, y.Add(second, lb.Backend{Name: "a", Weight: 1}))
	y.Release(second, late, bad)
	assert.Equal(t, "healthy", y.status(t, second, "a").State)
	assert.Zero(t, y.Counts().Ejections)
}

func TestWeightsChangeFromNowOn(t *testing.T) {
	s := plain()
	s.policy = "weighted_round_robin"
	y := s.start(t, abc()...)
	assert.Equal(t, "abc", y.names(t, 0, 3))
	require.NoError(t, y.SetWeight(0, "a", 5))
	assert.Equal(t, "aabacaa", y.names(t, 0, 7))
	assert.Equal(t, []string{"t=0.000 a changed: weight 5"}, y.transcript())
}

func TestASequenceGoesOnWhenThatWhichChangedIsNotTheSet(t *testing.T) {
	s := plain()
	s.policy = "weighted_round_robin"
	s.health.CheckInterval = time.Second
	y := s.start(t, lb.Backend{Name: "a", Weight: 5}, lb.Backend{Name: "b", Weight: 1}, lb.Backend{Name: "c", Weight: 1})
	assert.Equal(t, "aab", y.names(t, 0, 3))
	require.NoError(t, y.Add(0, lb.Backend{Name: "d", Weight: 1})) // waits for its first check
	assert.Equal(t, "acaa", y.names(t, 0, 4))
	assert.Equal(t, 1, y.built, "no table was built for it")
}

func TestTheTranscriptTellsTheStory(t *testing.T) {
	s := plain()
	s.health.CheckInterval, s.health.Fall, s.health.Rise = time.Second, 2, 1
	s.outlier.Consecutive5xx = 2
	y := s.start(t, abc()...)
	health := failed
	answer := func(name string) lb.ProbeResult {
		if name == "b" {
			return health
		}
		return passed
	}
	y.probe(0, answer)
	y.probe(second, answer)
	health = passed
	for range 2 {
		y.Release(3*second/2, y.on(t, 3*second/2, "c"), bad)
	}
	y.probe(2*second, answer)
	held := y.on(t, 2*second, "a")
	require.NoError(t, y.Drain(3*second, "a", 5*time.Second))
	require.NoError(t, y.Undrain(4*second, "a"))
	require.NoError(t, y.Drain(5*second, "a", 5*time.Second))
	y.Release(6*second, held, ok)
	y.Advance(20 * second)
	assert.Equal(t, []string{
		"t=1.000 b down: 2 consecutive failed checks (last: connection refused)",
		"t=1.500 c ejected: 2 consecutive 5xx; ejected for 10s (ejection 1)",
		"t=2.000 b up: 1 consecutive passed check",
		"t=3.000 a draining: 1 in flight, at most 5s",
		"t=4.000 a undrained: 1 in flight",
		"t=5.000 a draining: 1 in flight, at most 5s",
		"t=6.000 a removed: drained: no requests in flight",
		"t=11.500 c returned: ejection 1 over after 10s",
	}, y.transcript())
}

func TestAProbeThatComesBackAfterItsBackendLeftChangesNothing(t *testing.T) {
	s := plain()
	s.health.CheckInterval, s.health.Rise, s.health.Fall = time.Second, 1, 1
	y := s.start(t, abc()...)
	probes := y.Due(0, nil)
	require.NoError(t, y.Drain(0, "a", 0))
	before := len(y.events)
	y.Probed(0, probes[0], passed)
	y.Probed(0, probes[0], failed)
	assert.Len(t, y.events, before)
}

// A balancer may choose by a view that is out of date; its own limits hold all
// the same, and it goes on to whoever really has a place.
func TestAStaleViewNeverOvershootsALimit(t *testing.T) {
	s := plain()
	s.policy, s.pool.MaxInflight, s.view = "first", 2, new(lb.Loads)
	y := s.start(t, abc()...)
	text := ""
	for range 6 {
		text += y.get(t, 0, lb.Query{}).Name()
	}
	assert.Equal(t, "aabbcc", text, "the view says that a is idle, always")
	_, err := y.Acquire(0, lb.Query{})
	assert.ErrorIs(t, err, lb.ErrFull)
}
