package pick_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/stat"
)

// Every test of this file ranges over pick.All: a new policy is held to all of
// it by being in the table.

// small is the defaults with tables that a twin builds in no time.
func small() pick.Config {
	c := defaults()
	c.RingPoints, c.TableSize = 8, 61
	return c
}

// configs are the variants that a policy has.
func configs(policy string) []pick.Config {
	all := []pick.Config{small(), small()}
	switch policy {
	case "p2c", "peak_ewma":
		all[1].Choices = 5
	case "ring_hash":
		all[1].HashBalanceFactor = 1.25
	default:
		return all[:1]
	}
	return all
}

func TestEveryPolicyAgreesWithItsTwin(t *testing.T) {
	for _, p := range pick.All {
		for _, c := range configs(p.Name) {
			twin := twins(c)[p.Name]
			require.NotNil(t, twin, "%s has no twin", p.Name)
			t.Run(p.Name, rapid.MakeCheck(func(t *rapid.T) { agree(t, p.Name, c, twin) }))
		}
	}
}

func agree(t *rapid.T, policy string, c pick.Config, twin twin) {
	weights := rapid.SliceOfN(rapid.SampledFrom([]int{1, 1, 1, 2, 3, 7}), 1, 7).Draw(t, "weights")
	limit := rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "limit")
	r := newLimitedRig(t, policy, c, lb.Config{MaxInflight: limit}, backends(weights...))
	w := &world{names: names(len(weights)), weights: weights, inFlight: make([]int, len(weights)), usable: make([]bool, len(weights))}
	for range rapid.IntRange(1, 20).Draw(t, "picks") {
		i := rapid.IntRange(0, len(weights)-1).Draw(t, "whose load")
		w.inFlight[i] = rapid.IntRange(0, 4).Draw(t, "load")
		r.hold(w.inFlight...)
		had := rapid.SliceOfNDistinct(rapid.IntRange(0, len(weights)-1), 0, min(3, len(weights)), rapid.ID[int]).Draw(t, "tried")
		for i, n := range w.inFlight {
			w.usable[i] = !slices.Contains(had, i) && (limit == 0 || n < limit)
		}
		q := lb.Query{
			Rand: rapid.Uint64().Draw(t, "rand"), Hash: rapid.Uint64().Draw(t, "hash"),
			HasKey: rapid.Bool().Draw(t, "key"), Tried: tried(had...),
		}
		got, want := r.Pick(q), twin(w, q)
		if want != -2 {
			require.Equal(t, want, got, "in flight %v, usable %v", w.inFlight, w.usable)
		}
	}
}

func TestNoPolicyReturnsAnUnusableBackend(t *testing.T) {
	for _, p := range pick.All {
		for _, c := range configs(p.Name) {
			t.Run(p.Name, rapid.MakeCheck(func(t *rapid.T) { neverUnusable(t, p.Name, c) }))
		}
	}
}

func neverUnusable(t *rapid.T, policy string, c pick.Config) {
	weights := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 12).Draw(t, "weights")
	r := newLimitedRig(t, policy, c, lb.Config{MaxInflight: 2}, backends(weights...))
	r.hold(rapid.SliceOfN(rapid.IntRange(0, 2), len(weights), len(weights)).Draw(t, "in flight")...)
	had := tried(rapid.SliceOfNDistinct(rapid.IntRange(0, len(weights)-1), 0, len(weights), rapid.ID[int]).Draw(t, "tried")...)
	for i := range 20 {
		q := chance(i)
		q.Tried, q.HasKey = had, i%2 == 0
		got := r.Pick(q)
		if r.set.UsableFrom(0, &q) < 0 {
			require.Equal(t, -1, got, "nobody is usable")
		} else {
			require.True(t, 0 <= got && r.set.Usable(got, &q), "%d", got)
		}
	}
}

func TestNoPolicyAllocates(t *testing.T) {
	for _, p := range pick.All {
		for _, c := range configs(p.Name) {
			for _, weights := range [][]int{{1, 1, 1, 1, 1}, {5, 1, 1, 3, 2}} {
				r := newLimitedRig(t, p.Name, c, lb.Config{MaxInflight: 9}, backends(weights...))
				for _, had := range []lb.Tried{{}, tried(0, 3), tried(0, 1, 2, 3, 4)} {
					i := 0
					assert.Zero(t, testing.AllocsPerRun(100, func() {
						q := chance(i)
						q.Tried, q.HasKey = had, i%2 == 0
						r.Pick(q)
						i++
					}), "%s %v, %d tried", p.Name, weights, had.Len())
				}
			}
		}
	}
}

func TestEveryPolicyIsAFunctionOfWhatItIsGiven(t *testing.T) {
	for _, p := range pick.All {
		for _, c := range configs(p.Name) {
			a, b := newRig(t, p.Name, c, 5, 1, 2, 2), newRig(t, p.Name, c, 5, 1, 2, 2)
			for i := range 2000 {
				word := stat.Word(8, 8, uint64(i), 0)
				held := []int{int(word % 5), int(word >> 8 % 5), int(word >> 16 % 5), int(word >> 24 % 5)}
				a.hold(held...)
				b.hold(held...)
				require.Equal(t, a.Pick(chance(i)), b.Pick(chance(i)), "%s, pick %d", p.Name, i)
			}
		}
	}
}

// exact are the policies that share by weight when all backends are idle; what
// the others do with weights, the tests of each say.
var exact = map[string]bool{"weighted_round_robin": true, "random": true, "maglev": true, "rendezvous": true}

func TestPoliciesMatchTheirWeights(t *testing.T) {
	for _, p := range pick.All {
		if !exact[p.Name] {
			continue
		}
		for _, weights := range [][]int{{1, 1, 1}, {5, 1, 1}, {1, 2, 3, 4}, {100, 1}} {
			counts := newRig(t, p.Name, defaults(), weights...).tally(200_000)
			assert.True(t, fits(counts, weights), "%s %v: %v", p.Name, weights, counts)
		}
	}
}

// The ring's shares are its arcs, and those follow the weights as its law says.
func TestRingMatchesItsArcs(t *testing.T) {
	ring := pick.NewRing(names(4), []int{160, 320, 480, 640})
	arcs := make([]int, 4)
	for i, share := range shares(ring, 4) {
		arcs[i] = int(share * 1e9)
		assert.InEpsilon(t, float64(i+1)/10, share, 0.25)
	}
	assert.True(t, fits(newRig(t, "ring_hash", defaults(), 1, 2, 3, 4).tally(200_000), arcs))
}

// Policies that weigh loads keep requests in flight in proportion to weight.
func TestLoadPoliciesHoldRequestsAsTheWeights(t *testing.T) {
	for _, policy := range []string{"least_conn", "p2c", "peak_ewma"} {
		r := newRig(t, policy, defaults(), 1, 2, 3)
		held := make([]int, 3)
		for i := range 6000 {
			held[r.Pick(chance(i))]++
			r.hold(held...)
		}
		for i := range held {
			assert.InDelta(t, 1000*(i+1), held[i], 30, "%s: %v", policy, held)
		}
	}
}

// Run with -race: many pick while loads and latencies change under them.
func TestEveryPolicyIsSafeForManyAtOnce(t *testing.T) {
	for _, p := range pick.All {
		for _, c := range configs(p.Name) {
			r := newLimitedRig(t, p.Name, c, lb.Config{MaxInflight: 6}, backends(3, 1, 1, 2, 1))
			had := tried(2)
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					for i := range 400 {
						q := chance(g*400 + i)
						q.Now, q.HasKey = lb.Time(i)*1e6, i%3 != 0
						if i%4 == 0 {
							q.Tried = had
						}
						got := r.Pick(q)
						assert.True(t, -1 <= got && got < 5 && !(got == 2 && i%4 == 0), "%s: %d", p.Name, got)
						r.loads.Store((g+i)%5, i%6)
						r.lat.Observe(q.Now, (g+i)%5, 1e6)
					}
				})
			}
			wg.Wait()
		}
	}
}

func TestNobodyIsPickedFromAnEmptySet(t *testing.T) {
	for _, p := range pick.All {
		r := newRig(t, p.Name, defaults())
		assert.Equal(t, -1, r.Pick(chance(1)), p.Name)
		assert.Equal(t, -1, r.Pick(lb.Query{}), p.Name)
	}
}

func TestAPoliciesPickerComesWithItsPool(t *testing.T) {
	for _, p := range pick.All {
		pool := newPool(t, p.Name, defaults(), lb.Config{MaxInflight: 1}, backends(1, 1, 1))
		seen := map[int]bool{}
		for i := range 3 {
			l, err := pool.Acquire(0, chance(i))
			require.NoError(t, err, p.Name)
			seen[l.Slot()] = true
		}
		assert.Len(t, seen, 3, "%s fills every place", p.Name)
		_, err := pool.Acquire(0, chance(4))
		assert.ErrorIs(t, err, lb.ErrFull, p.Name)
	}
}

func TestAnAttemptThroughThePoolAllocatesNothing(t *testing.T) {
	for _, p := range pick.All {
		pool := newPool(t, p.Name, defaults(), lb.Config{MaxInflight: 9}, backends(1, 1, 1, 1, 1))
		had := tried(2)
		i := 0
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			q := chance(i)
			q.Tried = had
			l, _ := pool.Acquire(lb.Time(i), q)
			pool.Release(lb.Time(i), l, lb.Outcome{Status: 200, Latency: 1e6})
			i++
		}), p.Name)
	}
}
