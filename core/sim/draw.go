package sim

import (
	"math"

	"minilb/core/stat"
)

// A draw is a distribution of mean one: a service time in units of its mean.
// Each uses exactly one word, so every policy sees the same draws.
type draw struct {
	kind distribution
	a, b float64 // what the kind needs
}

type distribution uint8

const (
	exponential distribution = iota
	fixed
	lognormal
	pareto
	bimodal
)

// newDraw is the distribution of that name with a coefficient of variation.
// One of 0 is a constant, whatever the name.
func newDraw(name string, cv float64) draw {
	square := float64(cv * cv)
	switch {
	case name == "constant" || cv == 0 && name != "exponential":
		return draw{kind: fixed}
	case name == "lognormal":
		sigma2 := stat.Log(1 + square)
		return draw{lognormal, math.Sqrt(sigma2), sigma2 / 2}
	case name == "pareto":
		// cv² = 1/(a(a-2)): the exponent is always over 2, where the variance is finite.
		a := 1 + math.Sqrt(1+1/square)
		return draw{pareto, (a - 1) / a, -1 / a}
	case name == "bimodal":
		// Most take half the mean, and a share of 1/(1+4cv²) takes so much longer that the mean is one.
		share := 1 / (1 + float64(4*square))
		return draw{bimodal, share, 0.5 + 0.5/share}
	}
	return draw{kind: exponential}
}

// unit is a draw.
func (d draw) unit(word uint64) float64 {
	switch d.kind {
	case fixed:
		return 1
	case lognormal:
		return stat.Exp(float64(d.a*stat.Normal(word)) - d.b)
	case pareto:
		return d.a * stat.Pow(stat.Unit(word), d.b)
	case bimodal:
		if stat.Unit(word) < d.a {
			return d.b
		}
		return 0.5
	}
	return stat.Exponential(word)
}
