package stat_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"minilb/core/stat"
)

func TestWelfordKnowsMeanAndVariance(t *testing.T) {
	var w stat.Welford
	for _, x := range []float64{2, 4, 4, 4, 5, 5, 7, 9} {
		w.Add(1e9 + x)
	}
	assert.Equal(t, 8, w.N())
	assert.InDelta(t, 1e9+5, w.Mean(), 1e-6)
	assert.InDelta(t, 32.0/7, w.Variance(), 1e-6)
}

func TestOneNumberSaysNothingAboutItsError(t *testing.T) {
	var w stat.Welford
	w.Add(3)
	lo, hi := w.Interval95()
	assert.Equal(t, 3.0, w.Mean())
	assert.Zero(t, w.Variance())
	assert.True(t, math.IsInf(lo, -1) && math.IsInf(hi, 1))
}

func TestIntervalMatchesTheTextbook(t *testing.T) {
	// Values of t from any table: 12.706 for one degree of freedom, 2.262 for 9, 2.000 for 60, 1.984 for 100.
	for n, want := range map[int]float64{2: 12.706, 10: 2.262, 31: 2.042, 32: 2.0395, 61: 2.0003, 101: 1.9840} {
		var w stat.Welford
		for i := range n {
			w.Add(float64(i % 2))
		}
		lo, hi := w.Interval95()
		standardError := math.Sqrt(w.Variance() / float64(n))
		assert.InDelta(t, want, (hi-lo)/2/standardError, 5e-4, "n=%d", n)
	}
}

func TestIntervalContainsTheTruthNineteenTimesInTwenty(t *testing.T) {
	const runs = 4000
	hits := 0
	for run := range uint64(runs) {
		var w stat.Welford
		for i := range uint64(5) {
			w.Add(stat.Normal(stat.Word(run, 0, i, 0)))
		}
		if lo, hi := w.Interval95(); lo <= 0 && 0 <= hi {
			hits++
		}
	}
	assert.InDelta(t, 0.95, float64(hits)/runs, 0.012)
}
