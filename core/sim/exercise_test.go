package sim

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
)

// The exercises that the first design set, with the marks it gave.

// turnsSlow is the scenario in which a retry budget can show: one of three
// backends turns twenty times slower.
func turnsSlow(t *testing.T) scenario.Scenario {
	s := one(t, "p2c", "a=20", "b=20", "c=20,slow_after=5,slow_factor=20")
	s.Rate, s.Requests = 350, 20_000
	s.PerTryTimeout, s.Retries, s.RetryOn = 60*time.Millisecond, 3, []string{"timeout"}
	return s
}

func TestTheBudgetKeepsRetriesFromDrowningTheHealthy(t *testing.T) {
	s := turnsSlow(t)
	_, with := play(t, s, Options{})
	s.BudgetPercent = 1000
	_, without := play(t, s, Options{})
	healthy := func(r Result) float64 { return max(r.Backends[0].Latency.P99, r.Backends[1].Latency.P99) }
	t.Logf("without: %.2f attempts, healthy p99 %.0f ms; with: %.2f, %.0f ms", without.Amplification, healthy(without), with.Amplification, healthy(with))
	assert.Greater(t, without.Amplification, 1.5)
	assert.Less(t, with.Amplification, 1.2+float64(s.MinRetryConcurrency)/float64(s.Requests))
	assert.Less(t, healthy(with), healthy(without)/10)
	assert.Positive(t, with.RetriesSkipped.Budget)
	assert.Equal(t, with.Attempts-with.Requests, with.Retries)
}

// skewed is five backends whose keys are unevenly popular.
func skewed(t *testing.T, rate, factor float64) scenario.Scenario {
	s := one(t, "ring_hash", "a=20", "b=20", "c=20", "d=20", "e=20")
	s.Rate, s.Requests, s.KeysZipf, s.HashBalanceFactor = rate, 40_000, 1.2, factor
	return s
}

func TestBoundedLoadsHoldAtEveryAssignmentAndCutTheTail(t *testing.T) {
	s := skewed(t, 600, 1.25)
	e, err := newEngine(s, "ring_hash", Options{})
	require.NoError(t, err)
	e.onSent = func(slot int, _ *request) {
		loads, all := e.balancers[0].pool.Loads(), 0
		for i := range e.servers {
			all += loads.InFlight(i)
		}
		bound := int(math.Ceil(1.25*float64(all)/5 - 1e-9))
		require.LessOrEqual(t, loads.InFlight(slot), bound, "of %d in flight", all)
	}
	require.NoError(t, e.run())
	bounded := e.result()
	_, plain := play(t, skewed(t, 600, 0), Options{})
	t.Logf("p99: plain %.0f ms, bounded %.0f ms; away from home %.1f%%", plain.Latency.P99, bounded.Latency.P99, 100*float64(bounded.AwayFromHome)/float64(bounded.Requests))
	assert.Less(t, bounded.Latency.P99, plain.Latency.P99)
	assert.Zero(t, plain.AwayFromHome)
	assert.Positive(t, bounded.AwayFromHome)
}

// With thirty in flight at each backend a quarter more is eight requests: the
// keys of an even crowd stay at home.
func TestEvenKeysStayAtHome(t *testing.T) {
	s := one(t, "ring_hash", "a=200,capacity=60", "b=200,capacity=60", "c=200,capacity=60", "d=200,capacity=60", "e=200,capacity=60")
	s.Rate, s.Requests, s.Keys, s.HashBalanceFactor, s.RingPoints = 750, 40_000, 100_000, 1.25, 1000
	_, r := play(t, s, Options{})
	home := 1 - float64(r.AwayFromHome)/float64(r.Requests)
	t.Logf("%.2f%% at home", 100*home)
	assert.GreaterOrEqual(t, home, 0.95)
}

func TestMondayACheckThatOnlyTestsTheProcessSeesNothing(t *testing.T) {
	for health, sees := range map[string]bool{"process": false, "honest": true} {
		s := one(t, "round_robin", "a=20", "b=20", "c=20,errors=1,error_ms=3,errors_after=10,health="+health)
		s.CheckInterval, s.CheckTimeout = 2*time.Second, time.Second
		e, r := play(t, s, Options{Events: true})
		if sees {
			assert.NotNil(t, r.Backends[2].Detection)
			assert.Less(t, r.Share[2].Fraction, 0.25)
			continue
		}
		assert.Empty(t, r.Events)
		assert.Nil(t, r.Backends[2].Detection)
		assert.InDelta(t, 1.0/3, r.Share[2].Fraction, 0.01)
		after := 1 - 10/e.now.Seconds()
		assertWithin(t, after/3*float64(r.Requests), float64(r.Kinds.ServerError), 0.05, "a third of what came after 10 s")
	}
}

// The second design's bench: a flag file makes /health answer 503 while the
// service goes on working.
func TestAFlagTakesABackendOutThatWorks(t *testing.T) {
	s := one(t, "round_robin", "a=20", "b=20,health=flag,errors_after=10,recover_at=20")
	s.Rate, s.CheckInterval, s.CheckTimeout = 100, time.Second, 500*time.Millisecond
	_, r := play(t, s, Options{Events: true})
	require.Len(t, r.Events, 2)
	assert.Equal(t, "3 consecutive failed checks (last: HTTP 503)", r.Events[0].Reason)
	assert.Zero(t, r.Errors, "the service itself never failed")
	assert.InDelta(t, 2, *r.Backends[1].Detection, 1.1, "fall × interval")
	assert.InDelta(t, 1, *r.Backends[1].Restoration, 1.1, "rise × interval")
}

// A shared dependency makes every check fail at once: nobody is left, for
// requests that would mostly have worked.
func TestASharedDependencyTakesEverybodyOutTogether(t *testing.T) {
	s := one(t, "round_robin", "a=20,health=shared", "b=20,health=shared", "c=20,health=shared")
	s.CheckInterval, s.CheckTimeout, s.Duration = time.Second, 500*time.Millisecond, 60*time.Second
	s.DependencyDown, s.DependencyShare = scenario.Window{From: 20 * time.Second, To: 40 * time.Second}, 0.2
	_, shared := play(t, s, Options{})
	assert.Greater(t, shared.Kinds.NoBackend, 150*14)
	for i := range s.Backends {
		s.Backends[i].Health = "honest"
	}
	_, honest := play(t, s, Options{})
	assert.Zero(t, honest.Dropped)
	assertWithin(t, 0.2*20*150, float64(honest.Kinds.ServerError), 0.15, "a fifth of twenty seconds' requests")
}

// When one of three goes, the others get its traffic, answer their probes too
// late and go as well.
func TestASaturatedSurvivorIsTakenOutInTurn(t *testing.T) {
	s := one(t, "p2c", "a=20,capacity=2", "b=20,capacity=2", "c=20,capacity=2,crash_at=5")
	s.Rate, s.Requests, s.CheckInterval, s.CheckTimeout = 250, 5000, 500*time.Millisecond, 200*time.Millisecond
	_, r := play(t, s, Options{})
	assert.NotNil(t, r.Backends[2].Detection)
	assert.Greater(t, r.Kinds.NoBackend, 100, "nobody was left now and then")
	s.Backends[2].CrashAt = 0
	_, well := play(t, s, Options{})
	assert.Zero(t, well.Dropped)
}

func TestDetectionIsUniformBetweenFallLessOneAndFallIntervals(t *testing.T) {
	s := one(t, "round_robin", "a=2", "b=2,errors=1")
	s.Rate, s.CheckInterval, s.CheckTimeout, s.Fall, s.Duration = 500, time.Second, 500*time.Millisecond, 3, 9*time.Second
	sum, least, most, n := 0.0, 9.0, 0.0, 40
	for i := range n {
		s.Seed = uint64(i)
		s.Backends[1].ErrorsAfter = 4*time.Second + time.Duration(i)*time.Second/time.Duration(n)
		_, r := play(t, s, Options{})
		require.NotNil(t, r.Backends[1].Detection)
		d := *r.Backends[1].Detection
		sum, least, most = sum+d/float64(n), min(least, d), max(most, d)
	}
	t.Logf("detection %.3f to %.3f, mean %.3f s", least, most, sum)
	assert.InDelta(t, 2.5, sum, 0.06)
	assert.InDelta(t, 2, least, 0.06)
	assert.InDelta(t, 3, most, 0.06)
}
