package stat

import "math/bits"

// Odd constants with no structure of their own: the fractional part of the golden ratio (as in splitmix64) for seeds
// and for Next, and others for the remaining counters, so that no step of one counter equals a small step of another.
const (
	golden      = 0x9e3779b97f4a7c15
	streamStep  = 0xd6e8feb86659fd93
	attemptStep = 0xa0761d6478bd642f
	indexStep   = 0xe7037ed1a0b428db
)

// Word is the random word of one draw: a function of the run's seed, what the draw is for (stream), whose it is
// (index: a request, a backend, a probe) and which try of it (attempt). Nothing is remembered between draws, so what
// one policy asks for never shifts what another sees.
func Word(seed, stream, index, attempt uint64) uint64 {
	return StreamOf(seed, stream, attempt).Word(index)
}

// A Stream is Word for many indices: all but the index is mixed once, which is two thirds of the work.
type Stream uint64

// StreamOf is the stream of a seed, of what the draws are for and of which try they are.
func StreamOf(seed, stream, attempt uint64) Stream {
	h := mix(seed + golden)
	return Stream(mix(h ^ (stream*streamStep + attempt*attemptStep)))
}

// Word is the random word of one draw of the stream.
func (s Stream) Word(index uint64) uint64 { return mix(uint64(s) + index*indexStep) }

// Next derives a further word from one, for draws that need several: one step of splitmix64.
func Next(word uint64) uint64 { return mix(word + golden) }

// mix is the finaliser of splitmix64 (David Stafford's variant 13 of murmur3's): each input bit changes each output
// bit with a probability close to one half.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Unit is uniform in the open interval from 0 to 1. It is never 0 or 1, so its logarithm and any quantile are finite.
func Unit(word uint64) float64 {
	// 52 bits and a half: the middle of one of 2^52 equal cells, exact in a float64.
	return float64((float64(int64(word>>12)) + 0.5) * 0x1p-52)
}

// Below is uniform from 0 to n-1, by the high half of a 128-bit product: no division, and a bias under n/2^64.
// It panics unless n is positive.
func Below(word uint64, n int) int {
	if n <= 0 {
		panic("stat: Below needs a positive n")
	}
	hi, _ := bits.Mul64(word, uint64(n))
	return int(hi)
}

// Exponential is an exponential draw of mean one: the gap between arrivals, or a service time in units of its mean.
func Exponential(word uint64) float64 { return -Log(Unit(word)) }

// Normal is a draw of mean zero and standard deviation one, by the inverse of the distribution function, so that it
// uses exactly one word.
func Normal(word uint64) float64 { return normalQuantile(Unit(word)) }
