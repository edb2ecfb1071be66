package pick_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"minilb/core/lb"
)

func TestRoundRobinGivesEqualTurnsWhateverTheWeights(t *testing.T) {
	assert.Equal(t, "abcabcabc", newRig(t, "round_robin", defaults(), 1, 1, 1).letters(9))
	assert.Equal(t, "abcabcabc", newRig(t, "round_robin", defaults(), 5, 1, 1).letters(9))
}

func TestRoundRobinRetryWalksOnToTheNextBackend(t *testing.T) {
	r := newRig(t, "round_robin", defaults(), 1, 1, 1)
	assert.Equal(t, 1, r.Pick(lb.Query{Tried: tried(0)}))
	assert.Equal(t, 0, r.Pick(lb.Query{Tried: tried(1, 2)}))
	assert.Equal(t, -1, r.Pick(lb.Query{Tried: tried(0, 1, 2)}))
}

// The first four are the specification's; the others were recorded from nginx
// 1.22.1 on a fresh upstream.
func TestWeightedRoundRobinIsNginxsSmoothSequence(t *testing.T) {
	cases := []struct {
		weights []int
		want    string
	}{
		{[]int{5, 1, 1}, "aabacaa"},
		{[]int{3, 2, 1}, "abacba"},
		{[]int{4, 3, 2, 1}, "abcabdacba"},
		{[]int{7, 3}, "abaaabaaba"},
		{[]int{1, 1, 1}, "abcabcabcabc"},
		{[]int{5, 1, 1}, "aabacaaaabacaaaabacaa"},
		{[]int{3, 2, 1}, "abacbaabacbaabacba"},
		{[]int{10, 1}, "aaaaabaaaaaaaaaabaaaaaaaaaabaaaaa"},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, newRig(t, "weighted_round_robin", defaults(), c.weights...).letters(len(c.want)), "%v", c.weights)
	}
}

func TestWeightedRoundRobinReducesWeightsByTheirDivisor(t *testing.T) {
	assert.Equal(t, "aabacaaa", newRig(t, "weighted_round_robin", defaults(), 500, 100, 100).letters(8))
}

func TestWeightedRoundRobinGives8256PicksOverWeights1To128ExactlyTheirWeight(t *testing.T) {
	weights := make([]int, 128)
	for i := range weights {
		weights[i] = i + 1
	}
	r := newRig(t, "weighted_round_robin", defaults(), weights...)
	for range 2 {
		assert.Equal(t, weights, r.tally(8256))
	}
}

func TestWeightedRoundRobinRetrySkipsForwardToTheNextTurnOfAnother(t *testing.T) {
	r := newRig(t, "weighted_round_robin", defaults(), 5, 1, 1) // a a b a c a a
	assert.Equal(t, 1, r.Pick(lb.Query{Tried: tried(0)}), "from the first a on: b")
	r.Pick(lb.Query{})
	r.Pick(lb.Query{})
	assert.Equal(t, 2, r.Pick(lb.Query{Tried: tried(0)}), "from the third a on: c")
	assert.Equal(t, -1, r.Pick(lb.Query{Tried: tried(0, 1, 2)}))
}

// A round of a thousand backends with unlike weights would be half a million
// entries long; it is rounded, and everybody stays in it.
func TestLongWeightedRoundsAreRoundedWithEverybodyInThem(t *testing.T) {
	weights := make([]int, lb.MaxBackends)
	for i := range weights {
		weights[i] = 1 + i%lb.MaxWeight
	}
	r := newRig(t, "weighted_round_robin", defaults(), weights...)
	counts := r.tally(20_000)
	for i, n := range counts {
		assert.Positive(t, n, "backend %d", i)
	}
	assert.Greater(t, counts[999], 4*counts[0])
}

func TestFirstTakesTheFirstUsableBackend(t *testing.T) {
	r := newRig(t, "first", defaults(), 1, 9, 1)
	assert.Equal(t, "aaa", r.letters(3))
	assert.Equal(t, 1, r.Pick(lb.Query{Tried: tried(0)}))
	assert.Equal(t, 2, r.Pick(lb.Query{Tried: tried(0, 1)}))
	assert.Equal(t, -1, r.Pick(lb.Query{Tried: tried(0, 1, 2)}))
}
