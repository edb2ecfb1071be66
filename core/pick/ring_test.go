package pick_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/stat"
)

// envoyNames are the backends of Envoy's own ring and Maglev tests.
func envoyNames() []string {
	all := make([]string, 6)
	for i := range all {
		all[i] = fmt.Sprintf("127.0.0.1:%d", 90+i)
	}
	return all
}

// From Envoy's ring_hash_lb_test.cc: six hosts and a minimum ring of 12 points,
// which is two each.
func TestRingHasEnvoysPoints(t *testing.T) {
	want := []struct {
		port int
		hash uint64
	}{
		{94, 833437586790550860}, {92, 928266305478181108}, {90, 1033482794131418490}, {95, 3551244743356806947},
		{93, 3851675632748031481}, {91, 5583722120771150861}, {91, 6311230543546372928}, {93, 7700377290971790572},
		{95, 13144177310400110813}, {92, 13444792449719432967}, {94, 15516499411664133160}, {90, 16117243373044804889},
	}
	r := pick.NewRing(envoyNames(), times(6, 2))
	require.Equal(t, len(want), r.Len())
	for at, w := range want {
		hash, owner := r.Point(at)
		assert.Equal(t, w.hash, hash, "point %d", at)
		assert.Equal(t, w.port, 90+owner, "point %d", at)
	}
}

func TestAKeyBelongsToTheFirstPointAtOrAfterItsHash(t *testing.T) {
	r := pick.NewRing(names(7), times(7, 160))
	for at := range r.Len() {
		hash, owner := r.Point(at)
		next, _ := r.Point((at + 1) % r.Len())
		assert.Equal(t, at, r.At(hash), "on the point")
		assert.Equal(t, owner, r.Owner(hash))
		assert.Equal(t, at, r.At(hash-1), "just before it")
		if next != hash {
			assert.Equal(t, (at+1)%r.Len(), r.At(hash+1), "just after it")
		}
	}
	last, _ := r.Point(r.Len() - 1)
	assert.Equal(t, 0, r.At(last+1), "past the last point it wraps around")
	assert.Equal(t, 0, r.At(math.MaxUint64))
	assert.Equal(t, 0, r.At(0))
}

func TestRingDoesNotDependOnTheOrderOfTheList(t *testing.T) {
	forward := names(9)
	backward := slices.Clone(forward)
	slices.Reverse(backward)
	a, b := pick.NewRing(forward, times(9, 40)), pick.NewRing(backward, times(9, 40))
	for i := range 5000 {
		h := stat.Word(1, 0, uint64(i), 0)
		assert.Equal(t, forward[a.Owner(h)], backward[b.Owner(h)])
	}
}

// Not 0.04% and not almost: a key whose backend stays never moves.
func TestRingMovesTheRemovedBackendsKeysAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		all, counts := names(2+random.IntN(12)), []int{}
		for range all {
			counts = append(counts, 1+random.IntN(200))
		}
		gone := random.IntN(len(all))
		before := pick.NewRing(all, counts)
		after := pick.NewRing(slices.Delete(slices.Clone(all), gone, gone+1), slices.Delete(slices.Clone(counts), gone, gone+1))
		for range 2000 {
			h := random.Uint64()
			if from := before.Owner(h); from != gone {
				to := after.Owner(h)
				if to >= gone {
					to++
				}
				require.Equal(t, from, to)
			}
		}
	}
}

// shares measures the arcs that end at each backend's points.
func shares(r *pick.Ring, n int) []float64 {
	all := make([]float64, n)
	last, _ := r.Point(r.Len() - 1)
	for at := range r.Len() {
		hash, owner := r.Point(at)
		all[owner] += float64(hash-last) / 0x1p64
		last = hash
	}
	return all
}

func TestRingSpreadFollowsItsLaw(t *testing.T) {
	const points, sets = 160, 400
	for _, c := range []struct {
		n   int
		law float64
	}{{3, .0645}, {5, .0707}, {10, .0750}} {
		assert.InDelta(t, c.law, math.Sqrt(float64(c.n-1)/float64(c.n*points+1)), 5e-5)
		sum := 0.0
		for set := range sets {
			all := make([]string, c.n)
			for i := range all {
				all[i] = fmt.Sprintf("set%d-backend%d", set, i)
			}
			for _, share := range shares(pick.NewRing(all, times(c.n, points)), c.n) {
				away := share*float64(c.n) - 1
				sum += away * away / float64(c.n)
			}
		}
		// The mean over 400 sets is within 3.5% (one sigma) for three backends.
		assert.InEpsilon(t, c.law, math.Sqrt(sum/sets), 0.08, "%d backends", c.n)
	}
}

func TestRingPointsGrowWithWeight(t *testing.T) {
	r := newRig(t, "ring_hash", defaults(), 1, 3)
	counts := r.tally(100_000)
	assert.InDelta(t, 0.75, float64(counts[1])/100_000, 0.04)
}

func TestRingRetryWalksToTheNextPointOfAnotherBackend(t *testing.T) {
	r := newRig(t, "ring_hash", defaults(), ones(5)...)
	ring := pick.NewRing(names(5), times(5, 160))
	for i := range 500 {
		q := chance(i)
		home := r.Pick(q)
		at := ring.At(q.Hash)
		owner := home
		for owner == home {
			at = (at + 1) % ring.Len()
			_, owner = ring.Point(at)
		}
		q.Tried = tried(home)
		assert.Equal(t, owner, r.Pick(q))
	}
}

// bound is ceil(factor × requests in flight, this one included, × weight / all
// weights), in exact fractions.
func bound(factor float64, inFlight, weight, weights int) int {
	b := new(big.Rat).SetFloat64(factor)
	b.Mul(b, big.NewRat(int64(inFlight)*int64(weight), int64(weights)))
	q, rest := new(big.Int).QuoRem(b.Num(), b.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return int(q.Int64())
}

func TestBoundedLoadsHoldAfterEveryAssignment(t *testing.T) {
	for _, factor := range []float64{1, 1.0625, 1.25, 1.5, 2, 10} {
		for _, weights := range [][]int{{1, 1, 1}, {1, 1, 1, 1, 1}, {5, 1, 1}, {7, 3, 2, 9}} {
			t.Run(fmt.Sprint(factor, weights), func(t *testing.T) { boundsHold(t, factor, weights) })
		}
	}
}

// boundsHold sends keys of which a few are most, and ends requests at random.
func boundsHold(t *testing.T, factor float64, weights []int) {
	c := defaults()
	c.HashBalanceFactor = factor
	r := newRig(t, "ring_hash", c, weights...)
	held, total, sum := make([]int, len(weights)), 0, 0
	for _, w := range weights {
		sum += w
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		if i := random.IntN(len(held)); held[i] > 0 && random.IntN(200) < total {
			held[i]--
			total--
		} else {
			key := uint64(random.IntN(1 + random.IntN(30)))
			i := r.Pick(lb.Query{Hash: pick.HashNumber(key), HasKey: true})
			held[i]++
			total++
			require.LessOrEqual(t, held[i], bound(factor, total, weights[i], sum), "%v", held)
		}
		r.hold(held...)
	}
}

func TestBoundedLoadsSendUniformKeysHome(t *testing.T) {
	c := defaults()
	c.HashBalanceFactor = 1.25
	for _, n := range []int{3, 5, 10} {
		r, plain := newRig(t, "ring_hash", c, ones(n)...), newRig(t, "ring_hash", defaults(), ones(n)...)
		held := make([]int, n)
		var open []int // who has each request in flight
		home, counted := 0, 0
		random := rand.New(rand.NewPCG(7, uint64(n)))
		for range 20_000 {
			if len(open) == 30*n {
				k := random.IntN(len(open))
				held[open[k]]--
				open[k] = open[len(open)-1]
				open = open[:len(open)-1]
				r.hold(held...)
			}
			q := lb.Query{Hash: random.Uint64(), HasKey: true}
			i := r.Pick(q)
			if len(open) == 30*n-1 {
				counted++
				if i == plain.Pick(q) {
					home++
				}
			}
			held[i]++
			open = append(open, i)
			r.hold(held...)
		}
		assert.GreaterOrEqual(t, float64(home)/float64(counted), 0.95, "%d backends", n)
	}
}

func TestABoundedRetryStillFindsAnotherBackend(t *testing.T) {
	c := defaults()
	c.HashBalanceFactor = 1
	r := newRig(t, "ring_hash", c, 1, 1, 1)
	r.hold(9, 9, 0) // only the last is under its bound of 7
	assert.Equal(t, 2, r.Pick(keyed("x")))
	q := keyed("x")
	q.Tried = tried(2)
	assert.Contains(t, []int{0, 1}, r.Pick(q))
	q.Tried = tried(0, 1, 2)
	assert.Equal(t, -1, r.Pick(q))
}
