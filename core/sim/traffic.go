package sim

import (
	"math"

	"minilb/core/lb"
	"minilb/core/scenario"
	"minilb/core/stat"
)

// arrivals is an open process: clients that do not wait for each other. Only
// the next arrival is known, so that a run of any length needs no memory for
// those to come.
type arrivals struct {
	chance  chance
	mean    float64            // gap in nanoseconds
	gaps    [gapsAhead]float64 // of the arrivals up to the next multiple of gapsAhead
	rest    float64            // fraction of a nanosecond carried over, so that rounding does not change the rate
	want    int
	drawn   int    // arrivals drawn so far
	number  uint32 // of the next request, counted from 0
	next    lb.Time
	end     lb.Time // nothing arrives from here on; 0: no end
	hashing bool
	keys    int
	zipf    *zipf // nil: all keys alike
	shape   shape
	trace   []scenario.TraceRow
}

func newArrivals(s scenario.Scenario, c chance, hashing bool) arrivals {
	a := arrivals{
		chance: c, mean: 1e9 / s.Rate, want: s.Requests, end: lb.Time(s.Duration), keys: s.Keys, hashing: hashing,
		shape: newShape(s),
	}
	if s.Duration > 0 {
		a.want = math.MaxInt32
	}
	if s.KeysZipf > 0 {
		a.zipf = newZipf(s.Keys, s.KeysZipf)
	}
	switch a.shape.kind {
	case closed:
		a.want, a.next = 0, lb.Never
	case replayed:
		a.trace, a.want = s.Trace, len(s.Trace)
	}
	return a
}

// gapsAhead is how many gaps are drawn together, a power of two: logarithms
// that do not wait for each other take a third of the time.
const gapsAhead = 16

// gap is the time between the arrival of that number and the one before it, in
// nanoseconds, when nothing shapes the rate.
func (a *arrivals) gap(number uint32) float64 {
	at := number & (gapsAhead - 1)
	if at == 0 {
		a.draw(number)
	}
	return a.gaps[at]
}

func (a *arrivals) draw(number uint32) {
	words := a.chance.of(forArrival, 0)
	for i := range a.gaps {
		a.gaps[i] = float64(stat.Exponential(words.Word(uint64(number)+uint64(i))) * a.mean)
	}
}

// advance moves on to the next arrival.
func (a *arrivals) advance() {
	if a.drawn == a.want || a.next == lb.Never {
		a.next = lb.Never
		return
	}
	a.number = uint32(a.drawn)
	a.drawn++
	if a.shape.kind == poisson {
		a.after(a.gap(a.number))
	} else {
		a.advanceShaped()
	}
	if a.end > 0 && a.next >= a.end {
		a.next = lb.Never
	}
}

// after moves on by a gap in nanoseconds.
func (a *arrivals) after(gap float64) {
	gap = float64(gap) + a.rest
	whole := math.Floor(gap)
	a.rest = gap - whole
	a.next += lb.Time(whole)
}

func (a *arrivals) advanceShaped() {
	switch a.shape.kind {
	case constant:
		a.after(a.mean)
	case replayed:
		a.next = lb.Time(a.trace[a.number].At)
	default:
		a.thin()
	}
}

// thin draws candidates at the highest rate and keeps each with the share of
// that rate which is due at its time (Lewis and Shedler, 1979).
func (a *arrivals) thin() {
	for try := uint64(0); ; try++ {
		unit := stat.Exponential(a.chance.word(forArrival, uint64(a.number), try))
		a.after(float64(unit*a.mean) / a.shape.peak)
		keep := stat.Unit(a.chance.word(forThinning, uint64(a.number), try))
		if keep*a.shape.peak < a.shape.level(a.next) || a.end > 0 && a.next >= a.end {
			return
		}
	}
}
