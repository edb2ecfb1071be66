package pick_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"minilb/core/lb"
)

func TestLeastConnTakesTheFewestInFlightPerUnitOfWeight(t *testing.T) {
	cases := []struct {
		claim             string
		weights, inFlight []int
		want              int
	}{
		{"the fewest", []int{1, 1, 1}, []int{3, 1, 2}, 1},
		{"an idle one", []int{1, 1, 1}, []int{1, 1, 0}, 2},
		{"by weight", []int{1, 4}, []int{1, 3}, 1},
		{"2/1 and 4/2 are equal, so the first in turn", []int{1, 2}, []int{2, 4}, 0},
		{"1/3 is less than 334/1000", []int{3, 1000}, []int{1, 334}, 0},
		{"333/1000 is less than 1/3", []int{3, 1000}, []int{1, 333}, 1},
		{"less by one part in 10^12", []int{999, 1000}, []int{998_999_999, 999_999_999}, 0},
		{"more by one part in 10^12", []int{999, 1000}, []int{999_000_001, 1_000_000_001}, 1},
	}
	for _, c := range cases {
		r := newRig(t, "least_conn", defaults(), c.weights...)
		r.hold(c.inFlight...)
		assert.Equal(t, c.want, r.Pick(lb.Query{}), c.claim)
	}
}

func TestLeastConnGivesEveryIdleBackendATurn(t *testing.T) {
	assert.Equal(t, "abcdeabcde", newRig(t, "least_conn", defaults(), 1, 1, 1, 1, 1).letters(10))
	assert.Equal(t, "abcabc", newRig(t, "least_conn", defaults(), 5, 1, 1).letters(6), "idle is 0 whatever the weight")
}

// The seed's rule is tied[counter % len(tied)], and the counter advances at
// every pick, tie or not.
func TestLeastConnTiesFollowTheSeedsCounter(t *testing.T) {
	r := newRig(t, "least_conn", defaults(), 1, 1, 1)
	assert.Equal(t, 0, r.Pick(lb.Query{})) // counter 0 of 3
	r.hold(1, 0, 0)
	assert.Equal(t, 2, r.Pick(lb.Query{})) // 1 of 2 tied: b, c
	r.hold(1, 0, 1)
	assert.Equal(t, 1, r.Pick(lb.Query{})) // alone, and the counter goes on
	r.hold(1, 1, 1)
	assert.Equal(t, 0, r.Pick(lb.Query{})) // 3 of 3
}

func TestLeastConnHoldsRequestsAsTheWeights(t *testing.T) {
	for _, weights := range [][]int{{1, 2, 3}, {5, 1, 1}, {1, 1, 1, 1}} {
		r := newRig(t, "least_conn", defaults(), weights...)
		held := make([]int, len(weights))
		sum := 0
		for _, w := range weights {
			sum += w
		}
		for range 100 * sum {
			held[r.Pick(lb.Query{})]++
			r.hold(held...)
		}
		for i, w := range weights {
			assert.Equal(t, 100*w, held[i], "%v", weights)
		}
	}
}

func TestPowerOfTwoChoicesWith0And5And9InFlight(t *testing.T) {
	r := newRig(t, "p2c", defaults(), 1, 1, 1)
	r.hold(0, 5, 9)
	counts := r.tally(300_000)
	assert.InDelta(t, 2.0/3, float64(counts[0])/300_000, 0.003, "the idlest wins two pairs of three")
	assert.InDelta(t, 1.0/3, float64(counts[1])/300_000, 0.003)
	assert.Zero(t, counts[2], "the busiest loses every pair that it is in")
}

func TestMoreChoicesFindTheIdlestMoreOften(t *testing.T) {
	before := 0
	for choices := 2; choices <= 8; choices++ {
		c := defaults()
		c.Choices = choices
		r := newRig(t, "p2c", c, ones(8)...)
		r.hold(0, 1, 2, 3, 4, 5, 6, 7)
		counts := r.tally(20_000)
		assert.Greater(t, counts[0], before)
		assert.InDelta(t, float64(choices)/8, float64(counts[0])/20_000, 0.01, "%d of 8 draws have it", choices)
		for i := 8 - choices + 1; i < 8; i++ {
			assert.Zero(t, counts[i], "choices %d: %d others are always less loaded", choices, i)
		}
		before = counts[0]
	}
}

func TestPowerOfTwoChoicesComparesPerUnitOfWeight(t *testing.T) {
	r := newRig(t, "p2c", defaults(), 1, 4)
	r.hold(1, 3)
	assert.Equal(t, []int{0, 1000}, r.tally(1000), "3/4 is less than 1/1")
	r.hold(1, 5)
	assert.Equal(t, []int{1000, 0}, r.tally(1000))
}

func TestPowerOfTwoChoicesWithOneOrNobodyLeft(t *testing.T) {
	r := newRig(t, "p2c", defaults(), 1, 1, 1)
	for i := range 100 {
		q := chance(i)
		q.Tried = tried(0, 2)
		assert.Equal(t, 1, r.Pick(q))
		q.Tried = tried(0, 1, 2)
		assert.Equal(t, -1, r.Pick(q))
	}
	assert.Equal(t, []int{9}, newRig(t, "p2c", defaults(), 1).tally(9))
}

func TestRandomFollowsTheWeightsOverAMillionDraws(t *testing.T) {
	for _, weights := range [][]int{{1, 1, 1}, {5, 1, 1}, {1, 2, 3, 4, 5, 6, 7}, {1000, 1}, {1}} {
		counts := newRig(t, "random", defaults(), weights...).tally(1_000_000)
		assert.True(t, len(weights) == 1 || fits(counts, weights), "%v: %v", weights, counts)
	}
}

// A draw that is not usable is drawn again; the second draw may not lean on
// what the first one was.
func TestRandomKeepsToTheWeightsAmongTheBackendsLeft(t *testing.T) {
	r := newRig(t, "random", defaults(), 6, 1, 2, 3)
	had := tried(0)
	counts := make([]int, 4)
	for i := range 300_000 {
		q := chance(i)
		q.Tried = had
		counts[r.Pick(q)]++
	}
	assert.Zero(t, counts[0])
	assert.True(t, fits(counts[1:], []int{1, 2, 3}), "%v", counts)
}
