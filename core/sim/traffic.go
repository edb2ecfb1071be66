package sim

import (
	"math"

	"minilb/core/lb"
	"minilb/core/stat"
)

// arrivals is an open Poisson process: clients that do not wait for each other.
// Only the next arrival is known, so that a run of any length needs no memory
// for those to come.
type arrivals struct {
	chance  chance
	mean    float64 // gap in nanoseconds
	rest    float64 // fraction of a nanosecond carried over, so that rounding does not change the rate
	want    int
	drawn   int    // arrivals drawn so far
	number  uint32 // of the next request, counted from 0
	next    lb.Time
	hashing bool
	keys    int
}

// advance moves on to the next arrival.
func (a *arrivals) advance() {
	if a.drawn == a.want {
		a.next = lb.Never
		return
	}
	a.number = uint32(a.drawn)
	a.drawn++
	unit := stat.Exponential(a.chance.word(forArrival, uint64(a.number), 0))
	gap := float64(unit*a.mean) + a.rest
	whole := math.Floor(gap)
	a.rest = gap - whole
	a.next += lb.Time(whole)
}
