package pick_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
	"minilb/core/stat"
)

// open is a request in flight and when it will be answered.
type open struct {
	ends  lb.Time
	lease lb.Lease
}

// serveWith sends a request every gap, each answered after its backend's mean
// times an exponential draw, and counts requests by backend.
func serveWith(t *testing.T, pool *lb.Pool, means []time.Duration, gap time.Duration, requests int) []int {
	var inFlight []open
	counts := make([]int, len(means))
	for i := range requests {
		now := lb.Time(i) * lb.Time(gap)
		inFlight = slices.DeleteFunc(inFlight, func(o open) bool {
			if o.ends <= now {
				pool.Release(o.ends, o.lease, lb.Outcome{Status: 200, Latency: o.ends.Sub(o.lease.Start)})
			}
			return o.ends <= now
		})
		l, err := pool.Acquire(now, chance(i))
		require.NoError(t, err)
		counts[l.Slot()]++
		took := time.Duration(float64(means[l.Slot()]) * stat.Exponential(stat.Word(9, 9, uint64(i), 0)))
		inFlight = append(inFlight, open{now.Add(took), l})
	}
	return counts
}

func TestPeakEWMAStarvesABackendTenTimesSlower(t *testing.T) {
	for _, gap := range []time.Duration{time.Millisecond, 5 * time.Millisecond, 50 * time.Millisecond} {
		pool := newPool(t, "peak_ewma", defaults(), lb.Config{}, backends(ones(5)...))
		counts := serveWith(t, pool, []time.Duration{10e6, 10e6, 100e6, 10e6, 10e6}, gap, 20_000)
		assert.Less(t, counts[2], 20_000/5/10, "a tenth of its fair share, one request every %s: %v", gap, counts)
		assert.Positive(t, counts[2], "it is tried again now and then")
	}
}

func TestPeakEWMASharesEvenlyAmongEquals(t *testing.T) {
	pool := newPool(t, "peak_ewma", defaults(), lb.Config{}, backends(ones(5)...))
	counts := serveWith(t, pool, []time.Duration{10e6, 10e6, 10e6, 10e6, 10e6}, time.Millisecond, 50_000)
	for _, n := range counts {
		assert.InEpsilon(t, 10_000, n, 0.05)
	}
}

func TestPeakEWMATakesTheLowerCost(t *testing.T) {
	r := newRig(t, "peak_ewma", defaults(), 1, 1)
	r.lat.Observe(0, 0, 10*time.Millisecond)
	r.lat.Observe(0, 1, 25*time.Millisecond)
	cases := []struct {
		inFlight []int
		want     int
	}{
		{[]int{0, 0}, 0}, // 10 × 1 against 25 × 1
		{[]int{1, 0}, 0}, // 10 × 2 against 25 × 1
		{[]int{2, 0}, 1}, // 10 × 3 against 25 × 1
		{[]int{5, 1}, 1}, // 10 × 6 against 25 × 2
	}
	for _, c := range cases {
		r.hold(c.inFlight...)
		assert.Equal(t, c.want, r.Pick(chance(1)), "%v", c.inFlight)
	}
}

func TestPeakEWMASendsOneRequestToFindOutAboutABackend(t *testing.T) {
	r := newRig(t, "peak_ewma", defaults(), 1, 1)
	r.lat.Observe(0, 0, 10*time.Millisecond)
	r.hold(3, 0)
	assert.Equal(t, 1, r.Pick(chance(1)), "not seen yet and idle: free")
	r.hold(3, 1)
	assert.Equal(t, 0, r.Pick(chance(1)), "not seen yet, and the first request is still out")
}

func TestPeakEWMAWithoutLatenciesComparesRequestsInFlight(t *testing.T) {
	loads := new(lb.Loads)
	p := pickers(t, "peak_ewma", defaults())(lb.NewSet(backends(1, 1), loads))
	loads.Store(0, 4)
	loads.Store(1, 3)
	assert.Equal(t, 1, p.Pick(chance(1)))
}
