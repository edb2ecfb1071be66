package pick

import "minilb/core/lb"

// peakEWMA draws distinct backends at random and takes the one with the lowest
// cost: its peak-sensitive latency average times the requests that would be in
// flight, per unit of weight (Finagle's aperture uses the same cost). A backend
// that has not answered yet costs nothing until it has a request in flight.
type peakEWMA struct {
	set     *lb.Set
	choices int
}

func newPeakEWMA(c Config, s *lb.Set) lb.Picker { return &peakEWMA{s, c.Choices} }

func (p *peakEWMA) Pick(q lb.Query) int {
	var d drawn
	d.draw(p.set, &q, p.choices)
	if d.n == 0 {
		return -1
	}
	best := int(d.at[0])
	low := p.cost(best, q.Now)
	for _, i := range d.at[1:d.n] {
		if c := p.cost(int(i), q.Now); c < low {
			best, low = int(i), c
		}
	}
	return best
}

// unknownCost stands for a latency not seen yet while a first request is on
// its way: worse than any real one, so that one request goes to find out.
const unknownCost = 1e18

func (p *peakEWMA) cost(i int, now lb.Time) float64 {
	latency, n := p.set.Latency(i, now), p.set.InFlight(i)
	if latency == 0 && n > 0 {
		latency = unknownCost
	}
	return latency * float64(n+1) / float64(p.set.LiveWeight(i, now))
}
