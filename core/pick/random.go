package pick

import (
	"math/bits"

	"minilb/core/lb"
	"minilb/core/stat"
)

// random draws a backend in proportion to weight, in constant time by Vose's
// alias method: every column of a table is shared by at most two backends.
type random struct {
	set   *lb.Set
	alias []column // nil when all weights are the same
}

type column struct {
	keep  uint64 // draws below this stay with the column's own backend
	other int32
}

func newRandom(s *lb.Set) lb.Picker {
	r := &random{set: s}
	if s.Uniform() {
		return r
	}
	weights := make([]int, s.Len())
	for i := range weights {
		weights[i] = s.Weight(i)
	}
	r.alias = aliases(weights)
	return r
}

func (p *random) Pick(q lb.Query) int {
	word := q.Rand
	for range redraws {
		if i := p.draw(word); p.set.Usable(i, &q) {
			return i
		}
		word = stat.Next(word)
	}
	return p.set.UsableFrom(stat.Below(word, p.set.Len()), &q)
}

// redraws is how often a draw that is not usable is drawn again, which keeps
// to the weights, before any usable backend will do.
const redraws = 16

// draw splits one word in two: its product with the number of columns has the
// column above and, below, where in the column it fell. The next word is then
// free of this draw, which a second draw relies on.
func (p *random) draw(word uint64) int {
	i, fell := bits.Mul64(word, uint64(p.set.Len()))
	if p.alias != nil && fell >= p.alias[i].keep {
		return int(p.alias[i].other)
	}
	return int(i)
}

// aliases builds Vose's table in whole numbers: weight × n is dealt out over n
// columns that hold the total each.
func aliases(weights []int) []column {
	total := sum(weights)
	left := make([]int, len(weights))
	var small, large []int
	for i, w := range weights {
		left[i] = w * len(weights)
		if left[i] < total {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	table := make([]column, len(weights))
	for len(small) > 0 && len(large) > 0 {
		i, j := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		table[i] = column{keep: share(left[i], total), other: int32(j)}
		if left[j] -= total - left[i]; left[j] < total {
			large = large[:len(large)-1]
			small = append(small, j)
		}
	}
	for _, i := range append(small, large...) {
		table[i] = column{keep: ^uint64(0), other: int32(i)}
	}
	return table
}

// share is part/whole of the range of a word.
func share(part, whole int) uint64 {
	return uint64(part) * (^uint64(0) / uint64(whole))
}
