package pick

import (
	"minilb/core/lb"
)

// sequence takes turns in proportion to weight, interleaved. It walks a
// precomputed round of nginx's smooth weighted round robin with one atomic
// counter, which starts again when the eligible set changes.
type sequence struct {
	set    *lb.Set
	order  []uint16
	cursor lb.Uint64
}

// sequenceWork bounds the steps that building a round may take, entries times
// backends; beyond it weights are rounded.
const sequenceWork = 4 << 20

func newWeightedRoundRobin(s *lb.Set) lb.Picker {
	weights := make([]int, s.Len())
	for i := range weights {
		weights[i] = s.Weight(i)
	}
	return newSequence(s, weights)
}

func newSequence(s *lb.Set, weights []int) *sequence {
	return &sequence{set: s, order: smooth(shorten(reduce(weights)))}
}

func (p *sequence) Pick(q lb.Query) int {
	n := uint64(len(p.order))
	at := (p.cursor.Add(1) - 1) % n
	i := int(p.order[at])
	if p.set.Usable(i, &q) {
		return i
	}
	if p.set.UsableFrom(0, &q) < 0 {
		return -1
	}
	// The next turns of others, so that a retry keeps to the weights too.
	for range p.order {
		if at++; at == n {
			at = 0
		}
		if i = int(p.order[at]); p.set.Usable(i, &q) {
			return i
		}
	}
	return -1
}

// smooth returns one round: every step adds each backend's weight to its
// score, takes the highest (the first of equals) and subtracts the total from
// the winner. For 5, 1, 1 that is a a b a c a a, as in the comment in nginx's
// ngx_http_upstream_round_robin.c.
func smooth(weights []int) []uint16 {
	total := sum(weights)
	score := make([]int, len(weights))
	order := make([]uint16, total)
	for k := range order {
		best := 0
		for i, w := range weights {
			score[i] += w
			if score[i] > score[best] {
				best = i
			}
		}
		score[best] -= total
		order[k] = uint16(best)
	}
	return order
}

// reduce divides weights by their greatest common divisor.
func reduce(weights []int) []int {
	divisor := 0
	for _, w := range weights {
		divisor = gcd(divisor, w)
	}
	reduced := make([]int, len(weights))
	for i, w := range weights {
		reduced[i] = w / divisor
	}
	return reduced
}

// shorten rounds weights down in scale when a round would take too long to build.
func shorten(weights []int) []int {
	total, longest := sum(weights), sequenceWork/len(weights)
	if total <= longest {
		return weights
	}
	short := make([]int, len(weights))
	for i, w := range weights {
		short[i] = max(1, (w*longest+total/2)/total)
	}
	return short
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
