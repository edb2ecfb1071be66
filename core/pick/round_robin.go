package pick

import "minilb/core/lb"

// roundRobin gives every backend the same number of turns, whatever its
// speed. While backends warm up it takes weighted turns, for a slow start is
// nothing but a smaller weight.
type roundRobin struct{ set *lb.Set }

func newRoundRobin(s *lb.Set) lb.Picker {
	if warming(s) {
		return newSequence(s, warmth(s))
	}
	return roundRobin{s}
}

func (r roundRobin) Pick(q lb.Query) int { return turn(r.set, &q) }

// turn is the round-robin step that hashing policies fall back to without a
// key. A retry walks on to the next backend that has not had the request.
func turn(s *lb.Set, q *lb.Query) int {
	i := int(s.Turn() % uint64(s.Len()))
	if s.Usable(i, q) {
		return i
	}
	return s.UsableFrom(i, q)
}

// warming says whether some backend has less than its full weight.
func warming(s *lb.Set) bool {
	for i := range s.Len() {
		if s.Weight(i) < s.Backend(i).Weight*lb.Unit {
			return true
		}
	}
	return false
}

// warmth returns how warm each backend is, in thousandths.
func warmth(s *lb.Set) []int {
	w := make([]int, s.Len())
	for i := range w {
		w[i] = max(1, s.Weight(i)/s.Backend(i).Weight)
	}
	return w
}
