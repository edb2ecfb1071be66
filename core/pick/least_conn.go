package pick

import "minilb/core/lb"

// leastConn takes the backend with the fewest requests in flight per unit of
// weight, compared exactly by cross-multiplication. Equals take turns by the
// pool's counter, which advances at every pick: tied[counter % len(tied)].
type leastConn struct{ set *lb.Set }

func (p leastConn) Pick(q lb.Query) int {
	if p.set.Uniform() {
		return p.uniform(q)
	}
	return p.weighted(q)
}

func (p leastConn) uniform(q lb.Query) int {
	s, turn := p.set, p.set.Turn()
	best, low, ties := -1, 0, 0
	for i := range s.Len() {
		n := s.InFlight(i)
		switch {
		case best >= 0 && n > low || !s.Usable(i, q):
		case best < 0 || n < low:
			best, low, ties = i, n, 1
		default:
			ties++
		}
	}
	if ties < 2 {
		return best
	}
	for skip := int(turn % uint64(ties)); best < s.Len(); best++ {
		if s.InFlight(best) != low || !s.Usable(best, q) {
			continue
		}
		if skip == 0 {
			return best
		}
		skip--
	}
	return p.set.UsableFrom(0, q) // the counts moved under us: any will do
}

func (p leastConn) weighted(q lb.Query) int {
	s, turn := p.set, p.set.Turn()
	low, ties := load{}, 0
	best := -1
	for i := range s.Len() {
		if !s.Usable(i, q) {
			continue
		}
		l := loadAt(s, i, q.Now)
		switch {
		case best < 0 || l.less(low):
			best, low, ties = i, l, 1
		case !low.less(l):
			ties++
		}
	}
	if ties < 2 {
		return best
	}
	for skip := int(turn % uint64(ties)); best < s.Len(); best++ {
		if !s.Usable(best, q) || loadAt(s, best, q.Now) != low && low.less(loadAt(s, best, q.Now)) {
			continue
		}
		if skip == 0 {
			return best
		}
		skip--
	}
	return s.UsableFrom(0, q)
}

// load is requests in flight over weight, as a fraction.
type load struct{ n, weight uint64 }

func loadAt(s *lb.Set, i int, now lb.Time) load {
	return load{uint64(s.InFlight(i)), uint64(s.LiveWeight(i, now))}
}

// less compares without dividing: in flight stays below 2^31 and weights
// below 2^20, so the products are exact.
func (a load) less(b load) bool { return a.n*b.weight < b.n*a.weight }
