package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"minilb/core/scenario"
)

// retrying repeats what a broken backend of three failed.
func retrying(t *testing.T) scenario.Scenario {
	s := one(t, "round_robin", "a=20", "b=20", "broken=2,errors=1")
	s.Retries, s.RetryOn, s.BudgetPercent = 1, []string{"5xx"}, 1000
	return s
}

func TestARetryGoesToABackendThatHasNotFailed(t *testing.T) {
	_, r := play(t, retrying(t), Options{})
	assert.Zero(t, r.Errors)
	broken := r.Share[2].Fraction * float64(r.Attempts)
	assert.InDelta(t, 5000, float64(r.Attempts)-broken, 1e-6, "every request was answered by a or b")
}

func TestWithoutBudgetOrTriggerNothingIsRetried(t *testing.T) {
	cases := map[string]func(*scenario.Scenario){
		"budget":  func(s *scenario.Scenario) { s.BudgetPercent, s.MinRetryConcurrency = 0, 0 },
		"trigger": func(s *scenario.Scenario) { s.RetryOn = []string{"connect-failure", "gateway-error"} },
		"other":   func(s *scenario.Scenario) { s.Backends = s.Backends[2:] },
	}
	for name, spoil := range cases {
		s := retrying(t)
		spoil(&s)
		_, r := play(t, s, Options{})
		assert.Equal(t, 5000, r.Attempts, name)
		assert.Positive(t, r.Errors, name)
	}
}

func TestARetryMayWaitForTheBudget(t *testing.T) {
	s := retrying(t)
	s.BudgetPercent, s.MinRetryConcurrency = 0, 1
	_, skipped := play(t, s, Options{})
	s.BudgetWait = time.Minute
	_, waited := play(t, s, Options{})
	s.BudgetWait = time.Millisecond
	_, impatient := play(t, s, Options{})
	assert.Zero(t, waited.Errors)
	assert.Greater(t, skipped.Errors, impatient.Errors)
	assert.Positive(t, impatient.Errors)
	assert.Greater(t, waited.Latency.P95, skipped.Latency.P95)
}

func TestABackoffDelaysTheRetry(t *testing.T) {
	s := retrying(t)
	_, atOnce := play(t, s, Options{})
	s.Backoff = 100 * time.Millisecond
	_, later := play(t, s, Options{})
	assert.Zero(t, later.Errors)
	// A third of the requests waits 50 ms on average.
	assert.InDelta(t, atOnce.Latency.Mean+50.0/3, later.Latency.Mean, 3)
}

func TestAnAttemptIsGivenUpExactlyAtItsTimeout(t *testing.T) {
	s := one(t, "round_robin", "a=20", "slow=200")
	s.Rate, s.PerTryTimeout = 40, 100*time.Millisecond
	e, r := play(t, s, Options{})
	assert.Equal(t, 100.0, r.Latency.Max)
	assert.Positive(t, r.Errors)
	assert.Equal(t, 5000, r.Attempts)
	assert.Positive(t, e.jobs.len(), "work that was given up is still served")
}

// The work of attempts that were given up keeps the workers busy, so timeouts
// under overload make nothing faster.
func TestWorkGivenUpIsStillServed(t *testing.T) {
	s := one(t, "round_robin", "a=20,capacity=1")
	s.Rate, s.PerTryTimeout = 100, 50*time.Millisecond
	_, r := play(t, s, Options{})
	assert.Greater(t, float64(r.Errors), 0.9*float64(r.Requests))
}

func TestTheBudgetBoundsTheLoadThatRetriesAdd(t *testing.T) {
	s := one(t, "p2c", "a=20,capacity=1", "b=20,capacity=1", "c=20,capacity=1")
	s.Rate, s.PerTryTimeout, s.Retries, s.RetryOn = 200, 50*time.Millisecond, 2, []string{"timeout"}
	_, bounded := play(t, s, Options{})
	s.BudgetPercent = 1000
	_, unbounded := play(t, s, Options{})
	assert.Greater(t, unbounded.Attempts, 2*s.Requests)
	assert.Less(t, float64(bounded.Attempts), 1.5*float64(s.Requests))
}

func TestARequestWaitsInFrontOfThePoolForItsTimeAtMost(t *testing.T) {
	s := one(t, "least_conn", "a=20,capacity=1")
	s.Rate, s.MaxInflight, s.Queue, s.QueueTimeout = 100, 1, 1000, 200*time.Millisecond
	e, r := play(t, s, Options{})
	assert.Positive(t, r.Dropped)
	assertWithin(t, 0.5, float64(r.Dropped)/float64(r.Requests), 0.05, "share dropped")
	longestService := 0.0
	for n := range uint64(r.Requests) {
		longestService = max(longestService, float64(e.servers[0].service(e.chance.word(forService, n, 0)))/1e6)
	}
	assert.LessOrEqual(t, r.Latency.Max, 200+longestService)
	s.Queue = 2
	_, short := play(t, s, Options{})
	assert.Less(t, short.Latency.P95, r.Latency.P95)
}
