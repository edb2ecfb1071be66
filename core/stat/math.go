package stat

import "math"

// The reductions and the coefficients of Log and Exp are those of FreeBSD's msun (e_log.c and e_exp.c), which come
// with this notice:
//
//	Copyright (C) 1993, 2004 by Sun Microsystems, Inc. All rights reserved.
//	Permission to use, copy, modify, and distribute this software is freely granted,
//	provided that this notice is preserved.
const (
	// ln 2 in two parts; the first has trailing zeros, so that k times it is exact for any exponent k.
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10

	log1 = 6.666666666666735130e-01
	log2 = 3.999999999940941908e-01
	log3 = 2.857142874366239149e-01
	log4 = 2.222219843214978396e-01
	log5 = 1.818357216161805012e-01
	log6 = 1.531383769920937332e-01
	log7 = 1.479819860511658591e-01

	exp1 = 1.66666666666666657415e-01
	exp2 = -2.77777777770155933842e-03
	exp3 = 6.61375632143793436117e-05
	exp4 = -1.65339022054652515390e-06
	exp5 = 4.13813679705723846039e-08

	expOverflow  = 7.09782712893383973096e+02
	expUnderflow = -7.45133219101941108420e+02

	mantissaBits = 52
	mantissaMask = 1<<mantissaBits - 1
	exponentBias = 1023
	// Adding this to the bits of a float carries into the exponent exactly when its mantissa is sqrt(2) or more:
	// the reduced argument then lies in [sqrt(2)/2, sqrt(2)) without a branch.
	sqrt2Carry = 1<<mantissaBits - (sqrt2Mantissa)
	// The mantissa bits of sqrt(2).
	sqrt2Mantissa = 0x6a09e667f3bcd
	bitsOfOne     = exponentBias << mantissaBits
)

// Log is the natural logarithm, with an error under one unit in the last place and the same bits on every target.
// Log(0) is -Inf; the logarithm of a negative number or NaN is NaN; Log(+Inf) is +Inf.
func Log(x float64) float64 {
	bits := math.Float64bits(x)
	// Normal and positive: one unsigned comparison sends everything else away.
	if bits-1<<mantissaBits >= (0x7ff-1)<<mantissaBits {
		return logSpecial(x)
	}
	carried := bits + sqrt2Carry
	k := float64(int64(carried>>mantissaBits) - exponentBias)
	// f is x's mantissa less one, with |f| small; exact.
	f := math.Float64frombits(bits-carried&^mantissaMask+bitsOfOne) - 1

	// log(1+f) = 2 atanh(s), s = f/(2+f), as f - f*f/2 + s*(f*f/2 + R(s*s)): the large part, f, is exact.
	s := f / (2 + f)
	z := s * s
	w := z * z
	even := float64(w * (log2 + float64(w*(log4+float64(w*log6)))))
	odd := float64(z * (log1 + float64(w*(log3+float64(w*(log5+float64(w*log7)))))))
	half := float64(0.5 * f * f)
	return float64(k*ln2Hi) - ((half - (float64(s*(half+(even+odd))) + float64(k*ln2Lo))) - f)
}

// logSpecial answers for what has no logarithm and scales subnormal numbers up to normal ones.
func logSpecial(x float64) float64 {
	switch {
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	case 0 < x:
		return Log(x*0x1p54) - 54*math.Ln2
	}
	return math.NaN()
}

// Exp is e to the power x, to about one unit in the last place and with the same bits on every target.
// It overflows to +Inf above 709.78 and underflows to 0 below -745.13.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > expOverflow:
		return math.Inf(1)
	case x < expUnderflow:
		return 0
	}
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	// x = k ln 2 + r, with r kept in two parts.
	hi := x - float64(k*ln2Hi)
	lo := float64(k * ln2Lo)
	r := hi - lo
	t := r * r
	c := r - float64(t*(exp1+float64(t*(exp2+float64(t*(exp3+float64(t*(exp4+float64(t*exp5)))))))))
	return scale(1-((lo-float64(r*c)/(2-c))-hi), int(k))
}

// scale is y times 2 to the power k, for y near one and k from -1075 to 1024.
func scale(y float64, k int) float64 {
	half := k / 2
	// Two factors: 2^1024 and 2^-1075 are not themselves normal numbers. Only the second product can round.
	return y * powerOfTwo(half) * powerOfTwo(k-half)
}

func powerOfTwo(k int) float64 {
	return math.Float64frombits(uint64(k+exponentBias) << mantissaBits)
}

// The largest whole exponent that Pow multiplies out, so that small powers of small whole numbers are exact.
const maxProductPower = 64

// Pow is x to the power y, to a relative error of 1e-12 and with the same bits on every target. Special values are
// those of [math.Pow]. Whole powers up to 64 are products: exact where the result is.
func Pow(x, y float64) float64 {
	whole := math.Floor(y) == y
	switch {
	case y == 0 || x == 1:
		return 1
	case x != x || y != y:
		return math.NaN()
	case x == 0 || math.IsInf(x, 0):
		return powOfExtreme(x, y)
	case math.IsInf(y, 0):
		return powToInfinity(x, y)
	case x < 0 && !whole:
		return math.NaN()
	case y == 0.5:
		return math.Sqrt(x)
	case y == -0.5:
		return 1 / math.Sqrt(x)
	case whole && math.Abs(y) <= maxProductPower:
		return powByProducts(x, int(y))
	}
	return powByLog(x, y)
}

// powByLog is |x| to the power y with the sign that x to a whole power y has.
func powByLog(x, y float64) float64 {
	size := Exp(y * Log(math.Abs(x)))
	if x < 0 {
		return withParity(size, y)
	}
	return size
}

// powByProducts squares and multiplies; where the product overflows or vanishes on the way to a reciprocal that would
// not, it falls back to the logarithm.
func powByProducts(x float64, n int) float64 {
	product, square := 1.0, x
	for left := max(n, -n); left > 0; left >>= 1 {
		if left&1 == 1 {
			product *= square
		}
		square *= square
	}
	if n >= 0 {
		return product
	}
	if 0x1p-1000 <= math.Abs(product) && math.Abs(product) <= 0x1p1000 {
		return 1 / product
	}
	return powByLog(x, float64(n))
}

// powOfExtreme is 0 or an infinity to the power y.
func powOfExtreme(x, y float64) float64 {
	size := math.Inf(1)
	if (x == 0) == (y > 0) {
		size = 0
	}
	if math.Signbit(x) {
		return withParity(size, y)
	}
	return size
}

// powToInfinity is x to an infinite power: it grows, vanishes or, for -1, stays at 1.
func powToInfinity(x, y float64) float64 {
	switch {
	case x == -1:
		return 1
	case (math.Abs(x) < 1) == (y < 0):
		return math.Inf(1)
	}
	return 0
}

// withParity gives size the sign of a negative number raised to the power y.
func withParity(size, y float64) float64 {
	odd := math.Abs(y) < 1<<53 && math.Floor(y) == y && math.Floor(y/2) != y/2
	if odd {
		return -size
	}
	return size
}
