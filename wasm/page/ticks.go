package page

import (
	"math"
	"slices"
	"sort"

	"minilb/core/param"
)

// mantissas are the round numbers of one decade. A slider stops at these and nowhere else: people compare 120 with 150,
// not 121.7 with 148.3, and every press of an arrow key changes the value.
var mantissas = func() []float64 {
	var list []float64
	for _, part := range []struct{ from, to, step float64 }{{10, 20, 1}, {20, 50, 2}, {50, 100, 5}} {
		for m := part.from; m < part.to; m += part.step {
			list = append(list, m/10)
		}
	}
	return list
}()

// maxTicks keeps a linear slider's steps wide enough for a finger.
const maxTicks = 400

// ticks are the values at which a parameter's slider stops, in rising order; nil when it has no slider.
func ticks(p *param.Param) []float64 {
	lo, hi := p.SliderLo, p.SliderHi
	whole := p.Kind == param.Int || p.Kind == param.Uint
	switch {
	case p.List || !(lo < hi):
		return nil
	case p.Scale == "log" && lo > 0:
		return logTicks(lo, hi, whole)
	}
	return linearTicks(lo, hi, linearStep(p, hi-lo))
}

func logTicks(lo, hi float64, whole bool) []float64 {
	list := []float64{lo}
	for exponent := math.Floor(math.Log10(lo)); math.Pow(10, exponent) <= hi; exponent++ {
		for _, m := range mantissas {
			v := tidy(m * math.Pow(10, exponent))
			if lo < v && v < hi && (!whole || v == math.Trunc(v)) {
				list = append(list, v)
			}
		}
	}
	return append(list, hi)
}

// linearStep is the parameter's own step, widened by a round factor until the slider has few enough stops.
func linearStep(p *param.Param, span float64) float64 {
	step := p.Step
	if !(step > 0) {
		step = math.Pow(10, math.Floor(math.Log10(span/100)))
	}
	for _, factor := range []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000} {
		if span/(step*factor) <= maxTicks {
			return step * factor
		}
	}
	return span / maxTicks
}

// linearTicks are the multiples of step between the ends, and the ends.
func linearTicks(lo, hi, step float64) []float64 {
	list := []float64{lo}
	for k := math.Floor(lo/step) + 1; ; k++ {
		v := tidy(k * step)
		if !(v < hi) {
			return append(list, hi)
		}
		if v > lo {
			list = append(list, v)
		}
	}
}

// tidy removes what binary arithmetic adds to a decimal: 0.1 × 3 is 0.3.
func tidy(v float64) float64 { return math.Round(v*1e9) / 1e9 }

// nearestTick is the index of the tick closest to a value, which need not be one.
func nearestTick(list []float64, v float64) int {
	i := sort.SearchFloat64s(list, v)
	switch {
	case i == len(list):
		return i - 1
	case i > 0 && v-list[i-1] < list[i]-v:
		return i - 1
	}
	return i
}

// tickCache computes each slider's ticks once: they depend on the schema alone.
type tickCache map[string][]float64

func (c tickCache) of(id string, p *param.Param) []float64 {
	list, known := c[id]
	if !known {
		list = slices.Clip(ticks(p))
		c[id] = list
	}
	return list
}
