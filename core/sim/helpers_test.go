package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
	"minilb/core/scenario"
)

// backends reads backends as the command line does.
func backends(t require.TestingT, texts ...string) []scenario.Backend {
	all := make([]scenario.Backend, len(texts))
	for i, text := range texts {
		require.NoError(t, all[i].UnmarshalText([]byte(text)))
	}
	return all
}

// one is a scenario with one policy and the given backends.
func one(t require.TestingT, algorithm string, texts ...string) scenario.Scenario {
	s := scenario.Default()
	s.Algorithms, s.Backends = []string{algorithm}, backends(t, texts...)
	return s
}

// play runs a scenario with its first policy to the end and returns the
// engine, whose insides tests look at. What every run owes is checked here.
func play(t require.TestingT, s scenario.Scenario, o Options) (*engine, Result) {
	e, err := newEngine(s, s.Algorithms[0], o)
	require.NoError(t, err)
	require.NoError(t, e.run())
	r := e.result()
	requireSettled(t, e, r)
	return e, r
}

// requireSettled checks that every request got its answer and left nothing behind.
func requireSettled(t require.TestingT, e *engine, r Result) {
	require.Equal(t, e.record.begun, e.record.settled+r.Unanswered)
	if stuck := r.Unanswered > 0 && e.config.Arrivals == "closed"; e.warm == 0 && e.config.Duration == 0 && !stuck {
		require.Equal(t, e.record.want+r.ClientRetries, r.Requests+r.Unanswered)
	}
	require.Equal(t, r.Errors+r.Dropped, r.Kinds.sum(), "errors by kind: %+v", r.Kinds)
	require.Equal(t, r.Requests, r.Completed+r.Dropped, "requests = completed + dropped")
	require.LessOrEqual(t, r.Errors, r.Completed)
	for i := range e.balancers {
		b := &e.balancers[i]
		if counts := b.pool.Counts(); r.Unanswered == 0 && e.config.Layer == "l7" {
			require.Zero(t, counts.InFlight, "in flight at the end")
			require.Zero(t, counts.Waiting, "waiting at the end")
		}
		require.Equal(t, 0, min(b.budget.Requests(), 1-min(1, r.Unanswered)), "requests that the budget counts at the end")
		require.LessOrEqual(t, b.budget.Retries(), r.Unanswered, "retries at the end")
	}
	require.Equal(t, r.Unanswered, e.requests.len(), "requests remembered at the end")
	sum := 0.0
	for _, share := range r.Share {
		sum += share.Fraction
	}
	if r.Attempts > 0 {
		require.InDelta(t, 1, sum, 1e-9, "sum of shares")
	}
}

func (k Kinds) sum() int {
	return k.ServerError + k.Timeout + k.Refused + k.Broken + k.NoBackend + k.QueueFull
}

// steady is a scenario in which no queue grows for ever.
func steady(t require.TestingT, requests int) scenario.Scenario {
	s := one(t, "p2c", "a=20", "b=20", "c=30")
	s.Rate, s.Requests = 300, requests
	return s
}

// guarded has ejection, checks, retries and per-try timeouts at work.
func guarded(t require.TestingT, requests int) scenario.Scenario {
	s := steady(t, requests)
	s.Backends = backends(t, "a=20", "b=20", "c=30,errors=0.1")
	s.Consecutive5xx, s.MaxEjectionPercent, s.BaseEjection = 3, 34, time.Second
	s.CheckInterval, s.CheckTimeout, s.Fall = 200*time.Millisecond, 100*time.Millisecond, 3
	s.Retries, s.RetryOn, s.PerTryTimeout = 1, []string{"5xx", "timeout"}, 300*time.Millisecond
	return s
}

// assertWithin checks a figure against what it should be, with a relative tolerance.
func assertWithin(t *testing.T, want, got, tolerance float64, what string) {
	t.Helper()
	assert.InDelta(t, want, got, want*tolerance, what)
}

func ns(ms float64) lb.Time { return lb.Time(ms * 1e6) }
