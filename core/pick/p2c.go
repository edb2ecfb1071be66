package pick

import "minilb/core/lb"

// p2c draws distinct backends at random and takes the least loaded of them
// per unit of weight: the power of two choices. It never takes the most loaded
// of all, and balancers with stale counts do not all rush to the same backend
// (Mitzenmacher, The Power of Two Choices in Randomized Load Balancing, 2001).
type p2c struct {
	set     *lb.Set
	choices int
}

func newP2C(c Config, s *lb.Set) lb.Picker { return &p2c{s, c.Choices} }

func (p *p2c) Pick(q lb.Query) int {
	var d drawn
	d.draw(p.set, &q, p.choices)
	if d.n == 0 {
		return -1
	}
	if p.set.Uniform() {
		return p.fewest(&d)
	}
	best := int(d.at[0])
	low := loadAt(p.set, best, q.Now)
	for _, i := range d.at[1:d.n] {
		// The first drawn wins a tie.
		if l := loadAt(p.set, int(i), q.Now); l.less(low) {
			best, low = int(i), l
		}
	}
	return best
}

// fewest is the choice with equal weights, where counts compare as loads do.
func (p *p2c) fewest(d *drawn) int {
	best := int(d.at[0])
	low := p.set.InFlight(best)
	for _, i := range d.at[1:d.n] {
		if n := p.set.InFlight(int(i)); n < low {
			best, low = int(i), n
		}
	}
	return best
}
