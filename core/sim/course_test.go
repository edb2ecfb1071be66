package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
)

func TestTheSeriesAddUpToTheFigures(t *testing.T) {
	s, err := scenario.Decode("#v1;algorithm=least_conn;requests=3000;rate=300;retries=2;retry-on=5xx;per-try-timeout=0.1;max-inflight=5;backend=a:20;backend=b:20,errors:0.3;backend=late:30,add_at:2")
	require.NoError(t, err)
	r, err := Run(s, Options{Series: true})
	require.NoError(t, err)
	result := r.Results[0]
	total := func(list []int) (sum int) {
		for _, n := range list {
			sum += n
		}
		return sum
	}
	series := result.Series
	assert.Equal(t, result.Attempts, total(series.Attempts))
	assert.Equal(t, result.Errors, total(series.Errors))
	k := result.Kinds
	for i, want := range []int{k.ServerError, k.Timeout, k.Refused, k.Broken, k.NoBackend, k.QueueFull} {
		assert.Equal(t, want, total(series.Kinds[i]), KindNames[i])
		assert.Len(t, series.Kinds[i], len(series.Start))
	}
	require.Len(t, series.Failed, 3)
	assert.GreaterOrEqual(t, total(series.Failed[1]), result.Kinds.ServerError, "every 5xx that a client saw was b's, and retried ones come on top")
	assert.Positive(t, total(series.Failed[1]))
}

func TestTheLatencyCurveRisesToTheMaximumAndHasTheReportedPercentiles(t *testing.T) {
	r, err := Run(scenario.Default(), Options{Series: true})
	require.NoError(t, err)
	for _, result := range r.Results {
		last := Quantile{Q: -1}
		for _, q := range result.Curve {
			assert.Greater(t, q.Q, last.Q)
			assert.GreaterOrEqual(t, q.MS, last.MS)
			last = q
		}
		assert.Equal(t, Quantile{1, result.Latency.Max}, last)
		assert.Contains(t, result.Curve, Quantile{0.5, result.Latency.P50})
		assert.InDelta(t, 1, float64(len(result.Curve))/38, 0.1, "ten points for each nine of 5000 requests")
	}
	without, err := Run(scenario.Default(), Options{})
	require.NoError(t, err)
	assert.Empty(t, without.Results[0].Curve)
	assert.Equal(t, string(without.JSON()), string(r.JSON()), "the figures do not depend on what else is asked for")
}
