package pick

import (
	"minilb/core/lb"
	"minilb/core/stat"
)

// rendezvous gives a key to the backend with the highest score for it (Thaler
// and Ravishankar, 1998; with weights after Schindelhauer and Schomaker, 2005:
// the lowest -ln(u)/weight wins, which gives shares exactly as the weights).
// A removal moves the removed backend's keys alone.
type rendezvous struct {
	set   *lb.Set
	names []uint64 // hashes of the backends' names
}

func newRendezvous(s *lb.Set) lb.Picker {
	p := &rendezvous{set: s, names: make([]uint64, s.Len())}
	for i := range p.names {
		p.names[i] = Hash(s.Backend(i).Name)
	}
	return p
}

func (p *rendezvous) Pick(q lb.Query) int {
	if !q.HasKey {
		return turn(p.set, &q)
	}
	if p.set.Uniform() {
		return p.highest(&q)
	}
	return p.soonest(&q)
}

// highest is the choice with equal weights, where words compare as scores do.
func (p *rendezvous) highest(q *lb.Query) int {
	best, high := -1, uint64(0)
	for i, name := range p.names {
		if w := stat.Next(q.Hash ^ name); (best < 0 || w > high) && p.set.Usable(i, q) {
			best, high = i, w
		}
	}
	return best
}

// soonest is the choice with weights: each backend's score is an exponential
// time with its weight as rate, and the first to ring wins.
func (p *rendezvous) soonest(q *lb.Query) int {
	best, low := -1, 0.0
	for i, name := range p.names {
		t := stat.Exponential(stat.Next(q.Hash^name)) / float64(p.set.LiveWeight(i, q.Now))
		if (best < 0 || t < low) && p.set.Usable(i, q) {
			best, low = i, t
		}
	}
	return best
}
