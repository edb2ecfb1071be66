package sim

import (
	"slices"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/scenario"
	"minilb/core/stat"
)

// process is how requests arrive.
type process uint8

const (
	poisson process = iota
	constant
	bursty
	ramp
	step
	daily
	closed
	replayed
)

// processes are the names of the above, in their order.
var processes = []string{"poisson", "constant", "bursty", "ramp", "step", "daily", "closed", "trace"}

// A shape is how the rate changes over time.
type shape struct {
	kind              process
	peak              float64 // highest rate, as a multiple of the scenario's
	period, at, lasts lb.Time
}

func newShape(s scenario.Scenario) shape {
	kind := process(max(0, slices.Index(processes, s.Arrivals)))
	return shape{kind: kind, peak: s.Peak, period: lb.Time(s.Period), at: lb.Time(s.ChangeAt), lasts: lb.Time(s.ChangeFor)}
}

// level is the rate at an instant, as a multiple of the scenario's.
func (s *shape) level(now lb.Time) float64 {
	switch s.kind {
	case bursty:
		if float64(float64(now%s.period)*s.peak) < float64(s.period) {
			return s.peak
		}
		return 0
	case ramp:
		return 1 + float64((s.peak-1)*s.progress(now))
	case step:
		if now < s.at || s.lasts > 0 && now >= s.at+s.lasts {
			return 1
		}
		return s.peak
	case daily:
		return 1 + float64((s.peak-1)*(1-cosine(float64(now%s.period)/float64(s.period)))/2)
	}
	return 1
}

// progress is how much of the ramp is done, 0 to 1.
func (s *shape) progress(now lb.Time) float64 {
	switch {
	case now < s.at:
		return 0
	case now >= s.at+s.lasts:
		return 1
	}
	return float64(now-s.at) / float64(s.lasts)
}

// cosine of a turn, 0 to 1, within 0.2% by Bhaskara's formula: enough for a
// day, and the same bits everywhere, which math.Cos does not promise.
func cosine(turn float64) float64 {
	if turn > 0.5 {
		turn = 1 - turn // the other half mirrors this one
	}
	if turn > 0.25 {
		return -cosine(0.5 - turn)
	}
	square := float64(4 * turn * turn)
	return (1 - float64(4*square)) / (1 + square)
}

// zipf draws ranks 1 to n in proportion to 1/rank^s by rejection-inversion
// (Hörmann and Derflinger, 1996): no table, so millions of keys cost nothing.
type zipf struct {
	n, s        float64
	low, high   float64 // the integral from the first rank to the last
	alwaysBelow float64
}

func newZipf(n int, s float64) *zipf {
	z := &zipf{n: float64(n), s: s}
	z.high = z.integral(1.5) - 1
	z.low = z.integral(z.n + 0.5)
	z.alwaysBelow = 2 - z.inverse(z.integral(2.5)-z.weight(2))
	return z
}

// rank is a draw; word gives as many words as it takes, 1.02 on average.
func (z *zipf) rank(word uint64) int {
	for {
		u := z.low + float64(stat.Unit(word)*(z.high-z.low))
		x := z.inverse(u)
		k := min(max(float64(int(x+0.5)), 1), z.n)
		if k-x <= z.alwaysBelow || u >= z.integral(k+0.5)-z.weight(k) {
			return int(k)
		}
		word = stat.Next(word)
	}
}

// nearOne is how close to 1 an exponent counts as 1.
const nearOne = 1e-9

func (z *zipf) weight(x float64) float64 { return stat.Exp(-z.s * stat.Log(x)) }

// integral of the weight, up to a constant.
func (z *zipf) integral(x float64) float64 {
	log, e := stat.Log(x), 1-z.s
	if -nearOne < e && e < nearOne {
		return log
	}
	return (stat.Exp(e*log) - 1) / e
}

func (z *zipf) inverse(y float64) float64 {
	e := 1 - z.s
	if -nearOne < e && e < nearOne {
		return stat.Exp(y)
	}
	return stat.Exp(stat.Log(max(1+float64(y*e), 1e-300)) / e)
}

// hashKey is the hash of a request's key: of the trace, or drawn.
func (a *arrivals) hashKey(number uint32) uint64 {
	if a.trace != nil && a.trace[number].Key != "" {
		return pick.Hash(a.trace[number].Key)
	}
	word := a.chance.word(forKey, uint64(number), 0)
	if a.zipf != nil {
		return pick.HashNumber(uint64(a.zipf.rank(word) - 1))
	}
	return pick.HashNumber(uint64(stat.Below(word, a.keys)))
}
