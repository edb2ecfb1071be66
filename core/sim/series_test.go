package sim

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
)

func TestTheResolutionIsNiceAndGivesAboutAHundredWindows(t *testing.T) {
	cases := map[float64]time.Duration{
		33.3: 200 * time.Millisecond, 100: time.Second, 99: 500 * time.Millisecond, 700: 5 * time.Second,
		1e-9: time.Microsecond, 1e11: 1e9 * time.Second,
	}
	for seconds, want := range cases {
		assert.Equal(t, lb.Time(want), niceResolution(seconds), "%g s", seconds)
	}
}

func TestASeriesAddsUpToTheFigures(t *testing.T) {
	s := steady(t, 20_000)
	_, r := play(t, s, Options{Series: true})
	windows, attempts, busy := len(r.Series.Start), 0.0, 0.0
	require.LessOrEqual(t, windows, maxWindows)
	require.Greater(t, windows, 50)
	for slot := range r.Share {
		require.Len(t, r.Series.Share[slot], windows)
		for i, share := range r.Series.Share[slot] {
			attempts += share
			lasted := r.Series.Resolution.Seconds()
			if i == windows-1 {
				continue // it ended with the run, and is looked at in the next test
			}
			busy += r.Series.InFlight[slot][i] * lasted
		}
	}
	assert.InDelta(t, windows, attempts, 1e-6, "shares of a window add up to 1")
	// Little's law: requests in flight over time are the latencies' sum.
	assertWithin(t, r.Latency.Mean/1000*float64(r.Completed), busy, 0.02, "in flight × seconds")
}

func TestInFlightIsExactOverTime(t *testing.T) {
	s := newSeries(2, 1) // windows of 10 ms
	require.Equal(t, ns(10), s.resolution)
	s.sent(ns(1), 0)
	s.sent(ns(4), 0)
	s.sent(ns(9), 1)
	s.ended(ns(9), 0)
	s.ended(ns(35), 0)
	s.finish(ns(35), time.Duration(ns(34)), serverError)
	out := s.close(ns(38))
	assert.Equal(t, []float64{0, 0.01, 0.02, 0.03}, out.Start)
	assert.Equal(t, [][]float64{{(3 + 2*5 + 1) / 10.0, 1, 1, 5.0 / 8}, {0.1, 1, 1, 1}}, out.InFlight)
	assert.Equal(t, []int{0, 0, 0, 1}, out.Answered)
	assert.Equal(t, []int{0, 0, 0, 1}, out.Errors)
	assert.InDelta(t, 34, out.P99[3], 34*0.02)
	assert.True(t, math.IsNaN(out.P50[0]), "nothing was answered")
	assert.True(t, math.IsNaN(out.Share[0][1]), "nothing was sent")
	assert.InDelta(t, 2.0/3, out.Share[0][0], 1e-9)
}

func TestASeriesThatOutgrowsItsWindowsDoublesThem(t *testing.T) {
	short, long := newSeries(1, 1), newSeries(1, 1)
	long.resolution, long.end = 4*long.resolution, 4*long.end
	for i := range 900 {
		at := ns(float64(i * 10))
		for _, s := range []*series{short, long} {
			s.sent(at, 0)
			s.finish(at+ns(3), time.Duration(ns(float64(i%50))), map[bool]failure{true: serverError}[i%7 == 0])
			s.ended(at+ns(5), 0)
		}
	}
	assert.Equal(t, long.close(ns(8999)), short.close(ns(8999)))
}

func TestALongIdleTimeCostsFewWindows(t *testing.T) {
	s := newSeries(1, 1)
	s.sent(0, 0)
	s.ended(1e18, 0)
	out := s.close(1e18)
	assert.LessOrEqual(t, len(out.Start), maxWindows)
	for i, n := range out.InFlight[0] {
		assert.InDelta(t, 1, n, 1e-9, "window %d", i)
	}
}
