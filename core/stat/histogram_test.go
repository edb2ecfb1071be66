package stat_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/stat"
)

// recorder is what Histogram and Sketch have in common.
type recorder interface {
	Record(int64)
	Quantile(float64) int64
	Mean() float64
	Min() int64
	Max() int64
	Count() uint64
	Reset()
}

var recorders = map[string]struct {
	empty func() recorder
	error float64
}{
	"Histogram": {func() recorder { return new(stat.Histogram) }, 0.005},
	"Sketch":    {func() recorder { return new(stat.Sketch) }, 0.02},
}

// latency covers every order of magnitude, the largest included.
var latency = rapid.Custom(func(t *rapid.T) int64 {
	return rapid.Int64Range(0, math.MaxInt64).Draw(t, "ns") >> rapid.IntRange(0, 63).Draw(t, "shift")
})

func TestQuantilesAgreeWithASortedSlice(t *testing.T) {
	for name, r := range recorders {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				values := rapid.SliceOfN(latency, 1, 300).Draw(t, "values")
				h := r.empty()
				for _, v := range values {
					h.Record(v)
				}
				agree(t, h, values, r.error)
			})
		})
	}
}

// agree compares a recorder with its dumb twin.
func agree(t require.TestingT, h recorder, values []int64, allowed float64) {
	sorted := slices.Sorted(slices.Values(values))
	for _, q := range []float64{0, 0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1} {
		rank := max(int(math.Ceil(q*float64(len(sorted))-1e-9)), 1)
		want, got := float64(sorted[rank-1]), float64(h.Quantile(q))
		require.LessOrEqual(t, math.Abs(got-want), allowed*want, "quantile %v: got %v, want %v", q, got, want)
	}
	require.Equal(t, sorted[0], h.Min())
	require.Equal(t, sorted[len(sorted)-1], h.Max())
	require.Equal(t, uint64(len(sorted)), h.Count())
	require.InEpsilon(t, 1+meanOf(values), 1+h.Mean(), 1e-15)
}

func meanOf(values []int64) float64 {
	sum := new(big.Rat)
	for _, v := range values {
		sum.Add(sum, new(big.Rat).SetInt64(v))
	}
	mean, _ := sum.Quo(sum, big.NewRat(int64(len(values)), 1)).Float64()
	return mean
}

func TestMergingEqualsRecordingTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOf(latency).Draw(t, "a"), rapid.SliceOf(latency).Draw(t, "b")
		var left, right, together stat.Histogram
		var leftSketch, rightSketch, togetherSketch stat.Sketch
		for _, v := range a {
			left.Record(v)
			leftSketch.Record(v)
		}
		for _, v := range b {
			right.Record(v)
			rightSketch.Record(v)
		}
		for _, v := range append(slices.Clone(a), b...) {
			together.Record(v)
			togetherSketch.Record(v)
		}
		left.Merge(&right)
		leftSketch.Merge(&rightSketch)
		require.True(t, left == together)
		for _, q := range []float64{0, 0.1, 0.5, 0.9, 1} {
			require.Equal(t, togetherSketch.Quantile(q), leftSketch.Quantile(q))
		}
		require.Equal(t, togetherSketch.Mean(), leftSketch.Mean())
		require.Equal(t, togetherSketch.Count(), leftSketch.Count())
	})
}

func TestResetLeavesNothingBehind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h stat.Histogram
		var s stat.Sketch
		for _, v := range rapid.SliceOf(latency).Draw(t, "before") {
			h.Record(v)
			s.Record(v)
		}
		h.Reset()
		s.Reset()
		require.True(t, h == stat.Histogram{})
		after := rapid.SliceOfN(latency, 1, 20).Draw(t, "after")
		for _, v := range after {
			s.Record(v)
		}
		agree(t, &s, after, 0.02)
	})
}

func TestAnEmptyHistogramIsAllZeros(t *testing.T) {
	for name, r := range recorders {
		h := r.empty()
		assert.Zero(t, h.Quantile(0.99), name)
		assert.Zero(t, h.Mean(), name)
		assert.Zero(t, h.Min(), name)
		assert.Zero(t, h.Max(), name)
		assert.Zero(t, h.Count(), name)
		h.Reset()
	}
}

func TestANegativeLatencyCountsAsZero(t *testing.T) {
	for name, r := range recorders {
		h := r.empty()
		h.Record(-5)
		assert.Equal(t, uint64(1), h.Count(), name)
		assert.Zero(t, h.Min(), name)
		assert.Zero(t, h.Max(), name)
	}
}

func TestQuantileFollowsTheNearestRankRule(t *testing.T) {
	var h stat.Histogram
	for v := range int64(100) {
		h.Record(v + 1)
	}
	// 0.29*100 is 28.999999999999996 in binary and 0.07*100 is 7.000000000000001.
	for q, want := range map[float64]int64{-1: 1, 0: 1, 0.005: 1, 0.01: 1, 0.011: 2, 0.07: 7, 0.29: 29, 0.5: 50, 0.99: 99, 0.991: 100, 1: 100, 2: 100} {
		assert.Equal(t, want, h.Quantile(q), "q=%v", q)
	}
	assert.Equal(t, int64(1), h.Quantile(math.NaN()))
}

func TestMeanIsExactWhereASixtyFourBitSumWouldOverflow(t *testing.T) {
	var h stat.Histogram
	for range 5 {
		h.Record(math.MaxInt64)
	}
	assert.Equal(t, float64(math.MaxInt64), h.Mean())
}

func TestRecordingDoesNotAllocate(t *testing.T) {
	var h stat.Histogram
	var s stat.Sketch
	s.Record(1_000_000)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		h.Record(1_000_000)
		s.Record(1_000_000)
	}))
}

func BenchmarkRecord(b *testing.B) {
	var h stat.Histogram
	ns := int64(1)
	for b.Loop() {
		h.Record(ns & 0xffffff)
		ns = ns*5 + 1
	}
}

func BenchmarkSketchRecord(b *testing.B) {
	var s stat.Sketch
	ns := int64(1)
	for b.Loop() {
		s.Record(ns & 0xffffff)
		ns = ns*5 + 1
	}
}
