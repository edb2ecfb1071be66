package stat_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"

	"minilb/core/stat"
)

// These bits were printed on amd64; every target must give the same.
func TestFunctionsGiveTheSameBitsEverywhere(t *testing.T) {
	for _, c := range golden {
		t.Run(c.call, func(t *testing.T) {
			assert.Equal(t, fmt.Sprintf("%016x", c.want), fmt.Sprintf("%016x", math.Float64bits(c.got)))
		})
	}
}

// One checksum over many arguments finds what a handful of golden values would miss.
func TestManyDrawsGiveTheSameBitsEverywhere(t *testing.T) {
	draws := map[string]struct {
		f    func(word uint64) float64
		want uint64
	}{
		"Exponential": {stat.Exponential, manyExponential},
		"Normal":      {stat.Normal, manyNormal},
		"Exp":         {func(w uint64) float64 { return stat.Exp(60 * stat.Normal(w)) }, manyExp},
		"Pow":         {func(w uint64) float64 { return stat.Pow(stat.Exponential(w), 9*stat.Unit(stat.Next(w))) }, manyPow},
	}
	for name, d := range draws {
		t.Run(name, func(t *testing.T) {
			sum := uint64(0)
			for i := range uint64(100_000) {
				sum = stat.Next(sum ^ math.Float64bits(d.f(stat.Word(1, 2, i, 0))))
			}
			assert.Equal(t, fmt.Sprintf("%#x", d.want), fmt.Sprintf("%#x", sum))
		})
	}
}

func TestLogIsWithinAboutOneUlp(t *testing.T) {
	worst := 0.0
	for i := range uint64(200_000) {
		w := stat.Word(3, 0, i, 0)
		for _, x := range []float64{stat.Unit(w), 1 + 1e-3*stat.Unit(w), math.Ldexp(stat.Unit(w), int(w%2000)-1000)} {
			got, want := stat.Log(x), math.Log(x)
			ulp := math.Abs(math.Nextafter(want, math.Inf(1)) - want)
			worst = max(worst, math.Abs(got-want)/ulp)
		}
	}
	assert.LessOrEqual(t, worst, 2.0)
}

func TestExpAndPowAreAccurate(t *testing.T) {
	worstExp, worstPow := 0.0, 0.0
	for i := range uint64(100_000) {
		w := stat.Word(4, 0, i, 0)
		x := 1400 * (stat.Unit(w) - 0.5)
		worstExp = max(worstExp, relative(stat.Exp(x), math.Exp(x)))
		base, y := stat.Exponential(w)*10, 100*(stat.Unit(stat.Next(w))-0.5)
		worstPow = max(worstPow, relative(stat.Pow(base, y), math.Pow(base, y)))
	}
	assert.Less(t, worstExp, 1e-14)
	assert.Less(t, worstPow, 1e-12)
}

func relative(got, want float64) float64 { return math.Abs(got-want) / math.Abs(want) }

func TestLogAndExpOfSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	same(t, -inf, stat.Log(0), "Log(0)")
	same(t, -inf, stat.Log(math.Copysign(0, -1)), "Log(-0)")
	same(t, inf, stat.Log(inf), "Log(+Inf)")
	same(t, nan, stat.Log(-1), "Log(-1)")
	same(t, nan, stat.Log(-inf), "Log(-Inf)")
	same(t, nan, stat.Log(nan), "Log(NaN)")
	same(t, 0, stat.Log(1), "Log(1)")
	// Some expectations are written out: amd64's math.Log and math.Exp are wrong at these ends.
	assert.InEpsilon(t, -744.4400719213812, stat.Log(5e-324), 1e-15, "subnormal")
	assert.InEpsilon(t, math.Log(math.MaxFloat64), stat.Log(math.MaxFloat64), 1e-15)
	same(t, 1, stat.Exp(0), "Exp(0)")
	same(t, inf, stat.Exp(inf), "Exp(+Inf)")
	same(t, inf, stat.Exp(710), "Exp(710)")
	same(t, 0, stat.Exp(-inf), "Exp(-Inf)")
	same(t, 0, stat.Exp(-746), "Exp(-746)")
	same(t, nan, stat.Exp(nan), "Exp(NaN)")
	assert.InEpsilon(t, 1.6549840276802644e308, stat.Exp(709.7), 1e-14)
	assert.InDelta(t, math.Exp(-740), stat.Exp(-740), 5e-324, "subnormal result")
}

// same compares bits but lets every NaN be equal.
func same(t *testing.T, want, got float64, what string) {
	t.Helper()
	if want != want && got != got {
		return
	}
	assert.Equal(t, math.Float64bits(want), math.Float64bits(got), "%s = %v, want %v", what, got, want)
}

func TestPowTreatsSpecialValuesAsTheStandardLibraryDoes(t *testing.T) {
	inf := math.Inf(1)
	values := []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 3, -3, 0.5, -0.5, inf, -inf, math.NaN(), 1e300, -1e300, 64, -65, 65}
	for _, x := range values {
		for _, y := range values {
			got, want := stat.Pow(x, y), math.Pow(x, y)
			if want == 0 || want != want || math.IsInf(want, 0) || math.Abs(y) <= 3 {
				same(t, want, got, fmt.Sprintf("Pow(%v, %v)", x, y))
				continue
			}
			assert.InEpsilon(t, want, got, 1e-12, "Pow(%v, %v)", x, y)
		}
	}
}

func TestSmallWholePowersAreExact(t *testing.T) {
	for base := int64(2); base <= 10; base++ {
		for n := int64(0); n <= 15; n++ {
			want, _ := new(big.Float).SetInt(new(big.Int).Exp(big.NewInt(base), big.NewInt(n), nil)).Float64()
			assert.Equal(t, want, stat.Pow(float64(base), float64(n)))
		}
	}
	assert.Equal(t, math.Sqrt(2), stat.Pow(2, 0.5))
	assert.Equal(t, 0x1p-64, stat.Pow(2, -64))
}

var sink float64

func BenchmarkLog(b *testing.B) {
	x := 0.3
	for b.Loop() {
		sink = stat.Log(x)
		x += 1e-9
	}
}

func BenchmarkExponential(b *testing.B) {
	i := uint64(0)
	for b.Loop() {
		sink = stat.Exponential(stat.Word(1, 2, i, 0))
		i++
	}
}

func BenchmarkNormal(b *testing.B) {
	i := uint64(0)
	for b.Loop() {
		sink = stat.Normal(stat.Word(1, 2, i, 0))
		i++
	}
}
