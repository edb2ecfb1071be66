package pick

import (
	"math"

	"minilb/core/lb"
)

// leastConn takes the backend with the fewest requests in flight per unit of
// weight, compared exactly by cross-multiplication. Equals take turns by the
// pool's counter, which advances at every pick: tied[counter % len(tied)].
type leastConn struct{ set *lb.Set }

func (p leastConn) Pick(q lb.Query) int {
	if p.set.Uniform() {
		return p.uniform(&q)
	}
	return p.weighted(&q)
}

// uniform looks at counts alone where it can: unless the request has been
// somewhere already, whoever has the fewest is usable or nobody is.
func (p leastConn) uniform(q *lb.Query) int {
	s, turn, retry := p.set, p.set.Turn(), q.Tried.Len() > 0
	best, low, ties := -1, math.MaxInt, 0
	for i := range s.Len() {
		n := s.InFlight(i)
		if n > low || retry && !s.Usable(i, q) {
			continue
		}
		if n < low {
			best, low, ties = i, n, 0
		}
		ties++
	}
	if ties > 1 {
		best = p.tied(best, low, int(turn%uint64(ties)), q)
	}
	if best < 0 || s.Usable(best, q) {
		return best
	}
	return s.UsableFrom(best, q) // the counts moved under us: any will do
}

// tied returns the backend that skip others with the same count precede.
func (p leastConn) tied(first, low, skip int, q *lb.Query) int {
	s, retry := p.set, q.Tried.Len() > 0
	for i := first; i < s.Len(); i++ {
		if s.InFlight(i) != low || retry && !s.Usable(i, q) {
			continue
		}
		if skip == 0 {
			return i
		}
		skip--
	}
	return first
}

func (p leastConn) weighted(q *lb.Query) int {
	s, turn := p.set, p.set.Turn()
	best, low, ties := -1, load{}, 0
	for i := range s.Len() {
		l := loadAt(s, i, q.Now)
		if best >= 0 && low.less(l) || !s.Usable(i, q) {
			continue
		}
		if best < 0 || l.less(low) {
			best, low, ties = i, l, 0
		}
		ties++
	}
	if ties < 2 {
		return best
	}
	skip := int(turn % uint64(ties))
	for i := best; i < s.Len(); i++ {
		if low.less(loadAt(s, i, q.Now)) || !s.Usable(i, q) {
			continue
		}
		if skip == 0 {
			return i
		}
		skip--
	}
	return s.UsableFrom(best, q) // the counts moved under us: any will do
}

// load is requests in flight over weight, as a fraction.
type load struct{ n, weight uint64 }

func loadAt(s *lb.Set, i int, now lb.Time) load {
	return load{uint64(s.InFlight(i)), uint64(s.LiveWeight(i, now))}
}

// less compares without dividing: in flight stays below 2^31 and weights
// below 2^20, so the products are exact.
func (a load) less(b load) bool { return a.n*b.weight < b.n*a.weight }
