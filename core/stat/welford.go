package stat

import "math"

// A Welford keeps the mean and variance of a stream of numbers in three words, without the cancellation that sums of
// squares suffer (B. P. Welford, Technometrics 4, 1962). The zero value is ready.
type Welford struct {
	n       int
	mean    float64
	squares float64 // sum of squared distances from the mean
}

// Add takes one more number.
func (w *Welford) Add(x float64) {
	w.n++
	distance := x - w.mean
	w.mean += distance / float64(w.n)
	w.squares += float64(distance * (x - w.mean))
}

// N is how many numbers were added.
func (w Welford) N() int { return w.n }

// Mean is their average; 0 when there is none.
func (w Welford) Mean() float64 { return w.mean }

// Variance is the unbiased estimate of their variance; 0 for fewer than two numbers.
func (w Welford) Variance() float64 {
	if w.n < 2 {
		return 0
	}
	return w.squares / float64(w.n-1)
}

// Interval95 is the range that contains the true mean with 95% confidence, by Student's t: what a comparison of runs
// with several seeds should show. Fewer than two numbers say nothing, and the interval is infinite.
func (w Welford) Interval95() (lo, hi float64) {
	if w.n < 2 {
		return math.Inf(-1), math.Inf(1)
	}
	reach := float64(student975(w.n-1) * math.Sqrt(w.Variance()/float64(w.n)))
	return w.mean - reach, w.mean + reach
}

// The 97.5% quantiles of Student's t for 1 to 30 degrees of freedom.
var studentTable = [...]float64{
	12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
	2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
	2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
}

// student975 continues the table with the expansion around the normal quantile (Abramowitz and Stegun, 26.7.5).
func student975(freedom int) float64 {
	if freedom <= len(studentTable) {
		return studentTable[freedom-1]
	}
	const z = 1.959963984540054
	const first, second = (z*z*z + z) / 4, (5*z*z*z*z*z + 16*z*z*z + 3*z) / 96
	v := float64(freedom)
	return z + first/v + second/(v*v)
}
