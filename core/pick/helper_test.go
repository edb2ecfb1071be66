package pick_test

import (
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"minilb/core/drain"
	"minilb/core/lb"
	"minilb/core/param"
	"minilb/core/pick"
	"minilb/core/stat"
)

// defaults is the configuration that a user who sets nothing has.
func defaults() pick.Config {
	var c pick.Config
	param.Of(&c).Reset(param.Scenario)
	return c
}

// backends returns b0, b1… with the given weights.
func backends(weights ...int) []lb.Backend {
	all := make([]lb.Backend, len(weights))
	for i, w := range weights {
		all[i] = lb.Backend{Name: "b" + strconv.Itoa(i), Weight: w}
	}
	return all
}

// ones is n weights of 1.
func ones(n int) []int {
	w := make([]int, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

// names returns b0, b1…
func names(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = "b" + strconv.Itoa(i)
	}
	return all
}

// times is n times x.
func times(n, x int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = x
	}
	return all
}

// A rig is a picker in a pool that sees the loads and latencies which the test
// sets, not the pool's own.
type rig struct {
	lb.Picker
	set   *lb.Set
	loads *lb.Loads
	lat   *lb.Latencies
	pool  *lb.Pool
}

func newRig(t require.TestingT, policy string, c pick.Config, weights ...int) *rig {
	return newLimitedRig(t, policy, c, lb.Config{}, backends(weights...))
}

func newLimitedRig(t require.TestingT, policy string, c pick.Config, limits lb.Config, members []lb.Backend) *rig {
	r := &rig{loads: new(lb.Loads), lat: lb.NewLatencies(10 * time.Second)}
	build := pickers(t, policy, c)
	pool, err := lb.New(0, limits, lb.Parts{
		Pickers: func(s *lb.Set) lb.Picker {
			r.set, r.Picker = s, build(s)
			return r.Picker
		},
		View: r.loads, Latency: r.lat, Drain: drain.Policy{},
	}, members)
	require.NoError(t, err)
	r.pool = pool
	return r
}

func pickers(t require.TestingT, policy string, c pick.Config) lb.Pickers {
	p, known := pick.Find(policy)
	require.True(t, known, policy)
	build, err := p.Pickers(c)
	require.NoError(t, err)
	return build
}

// hold sets the requests in flight of all backends.
func (r *rig) hold(inFlight ...int) {
	for i, n := range inFlight {
		r.loads.Store(i, n)
	}
}

// letters picks n times, the first backend's name being a.
func (r *rig) letters(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = 'a' + byte(r.Pick(lb.Query{}))
	}
	return string(text)
}

// keyed is the query of a key.
func keyed(key string) lb.Query { return lb.Query{Hash: pick.Hash(key), HasKey: true} }

// chance is the query of the i-th request: a random word and a key, both its own.
func chance(i int) lb.Query {
	return lb.Query{Rand: stat.Word(1, 2, uint64(i), 0), Hash: stat.Word(3, 4, uint64(i), 0), HasKey: true}
}

// tally counts n picks by backend.
func (r *rig) tally(n int) []int {
	counts := make([]int, r.set.Len())
	for i := range n {
		counts[r.Pick(chance(i))]++
	}
	return counts
}

// leases has one lease for each slot.
var leases = sync.OnceValue(func() (all []lb.Lease) {
	first, _ := pick.Find("first")
	build, _ := first.Pickers(defaults())
	pool, _ := lb.New(0, lb.Config{}, lb.Parts{Pickers: build}, backends(ones(16)...))
	for _, name := range names(16) {
		l, _ := pool.Acquire(0, lb.Query{Sticky: name})
		all = append(all, l)
	}
	return all
})

// tried is the set of the given slots. Only leases get into one.
func tried(slots ...int) (set lb.Tried) {
	for _, slot := range slots {
		set = set.With(leases()[slot])
	}
	return set
}

// fits is the chi-square test of counts against weights. Words are fixed, so a
// test that passes once passes always; the critical value is that of one
// failure in about 30 000 (z = 4, Wilson and Hilferty's approximation).
func fits(counts, weights []int) bool {
	total, sum := 0, 0
	for i, w := range weights {
		total += counts[i]
		sum += w
	}
	chi2 := 0.0
	for i, w := range weights {
		expected := float64(total) * float64(w) / float64(sum)
		chi2 += (float64(counts[i]) - expected) * (float64(counts[i]) - expected) / expected
	}
	df := float64(len(weights) - 1)
	return chi2 <= df*math.Pow(1-2/(9*df)+4*math.Sqrt(2/(9*df)), 3)
}

// newPool is a pool with the policy, its own counts and no checks.
func newPool(t require.TestingT, policy string, c pick.Config, limits lb.Config, members []lb.Backend) *lb.Pool {
	pool, err := lb.New(0, limits, lb.Parts{
		Pickers: pickers(t, policy, c), Latency: lb.NewLatencies(10 * time.Second),
	}, members)
	require.NoError(t, err)
	return pool
}
