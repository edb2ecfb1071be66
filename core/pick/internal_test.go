package pick

import (
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"minilb/core/stat"
)

func TestDrawsAreDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(0, 1024).Draw(t, "n"), rapid.IntRange(1, maxChoices).Draw(t, "k")
		var d drawn
		d.distinct(rapid.Uint64().Draw(t, "word"), n, k)
		assert.Equal(t, min(n, k), d.n)
		at := slices.Clone(d.at[:d.n])
		slices.Sort(at)
		assert.Len(t, slices.Compact(at), d.n, "drawn twice: %v", d.at)
		for _, i := range at {
			assert.True(t, 0 <= i && int(i) < n)
		}
	})
}

// Every ordered draw of k out of 5 comes equally often.
func TestEachDrawIsEquallyLikely(t *testing.T) {
	for k := 1; k <= 5; k++ {
		seen := map[[maxChoices]int32]int{}
		const draws = 240_000
		for i := range uint64(draws) {
			var d drawn
			d.distinct(stat.Word(1, 1, i, 0), 5, k)
			seen[d.at]++
		}
		kinds := 1
		for i := range k {
			kinds *= 5 - i
		}
		assert.Len(t, seen, kinds)
		for draw, n := range seen {
			assert.InEpsilon(t, draws/kinds, n, 0.13, "%v", draw)
		}
	}
}

// The table gives each backend exactly its weight, to within what 64 bits leave.
func TestAliasTableAddsUpToTheWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.IntRange(1, 1_000_000), 1, 40).Draw(t, "weights")
		mass, total := make([]*big.Int, len(weights)), 0
		for i, w := range weights {
			mass[i] = new(big.Int)
			total += w
		}
		column := new(big.Int).Lsh(big.NewInt(1), 64)
		for i, c := range aliases(weights) {
			keep := new(big.Int).SetUint64(c.keep)
			mass[i].Add(mass[i], keep)
			mass[c.other].Add(mass[c.other], new(big.Int).Sub(column, keep))
		}
		for i, w := range weights {
			want := new(big.Int).Mul(column, big.NewInt(int64(w*len(weights))))
			want.Div(want, big.NewInt(int64(total)))
			off := new(big.Int).Sub(want, mass[i])
			off.Abs(off)
			assert.True(t, off.Cmp(big.NewInt(int64(2*total*len(weights)))) <= 0, "%d of %d is off by %s of 2^64", w, total, off)
		}
	})
}

func TestCeilForgivesTheLastBits(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want int
	}{{0, 0}, {1, 1}, {1.25, 2}, {11.999999999999998, 12}, {12.000000000000002, 12}, {12.0001, 13}, {1e6 + 0.25, 1e6 + 1}} {
		assert.Equal(t, c.want, ceil(c.x), "%v", c.x)
	}
}

func TestAHugeRingIsHalvedUntilItFits(t *testing.T) {
	assert.Equal(t, []int{160, 320}, halved([]int{160, 320}), "a small one is left alone")
	assert.Equal(t, []int{1_000_000, 2_000_000, 1}, halved([]int{4_000_000, 8_000_000, 1}), "everybody keeps a point")
	assert.Equal(t, []int{1_000_000, 2_000_000}, halved([]int{4_000_000, 8_000_000}), "and the others the same ones")
	assert.Equal(t, maxRingPoints, sum(halved([]int{maxRingPoints * 8})))
}
