package stat_test

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/assert"

	"minilb/core/stat"
)

func TestWordsNeverChange(t *testing.T) {
	assert.Equal(t, uint64(0x33fe8bd4f9c57863), stat.Word(0, 0, 0, 0))
	assert.Equal(t, uint64(0xcefe86f947f8926c), stat.Word(1, 2, 3, 4))
	assert.Equal(t, uint64(0x910a2dec89025cc1), stat.Next(1))
}

// words gives word i of a sequence that varies one argument of Word and leaves the others.
var sequences = map[string]func(i uint64) uint64{
	"seed":    func(i uint64) uint64 { return stat.Word(i, 1, 1, 1) },
	"stream":  func(i uint64) uint64 { return stat.Word(1, i, 1, 1) },
	"index":   func(i uint64) uint64 { return stat.Word(1, 1, i, 0) },
	"attempt": func(i uint64) uint64 { return stat.Word(1, 1, 1, i) },
	"next":    func(i uint64) uint64 { return stat.Next(stat.Word(1, 1, i, 0)) },
	"xor":     func(i uint64) uint64 { return stat.Word(1, 1, i, 0) ^ stat.Word(1, 1, i+1, 0) },
	"streams": func(i uint64) uint64 { return stat.Word(1, 1, i, 0) ^ stat.Word(1, 2, i, 0) },
	"retry":   func(i uint64) uint64 { return stat.Word(1, 1, i, 0) ^ stat.Word(1, 1, i, 1) },
	"further": func(i uint64) uint64 { return stat.Word(1, 1, i, 0) ^ stat.Next(stat.Word(1, 1, i, 0)) },
}

func TestEveryByteOfEverySequenceIsUniform(t *testing.T) {
	const draws = 100_000
	for name, word := range sequences {
		for _, shift := range []int{0, 8, 28, 56} {
			var cells [256]float64
			for i := range uint64(draws) {
				cells[word(i)>>shift&255]++
			}
			assert.Less(t, chiSquare(cells[:], draws), 400.0, "%s, bits from %d", name, shift)
		}
	}
}

// chiSquare has 255 degrees of freedom here: mean 255, standard deviation 22.6. 400 is far outside chance.
func chiSquare(cells []float64, draws float64) float64 {
	want, sum := draws/float64(len(cells)), 0.0
	for _, c := range cells {
		sum += (c - want) * (c - want) / want
	}
	return sum
}

func TestOneBitOfAnyArgumentChangesHalfOfTheWord(t *testing.T) {
	const trials = 300
	for argument := range 4 {
		for bit := range 64 {
			changed := 0
			for i := range uint64(trials) {
				args := [4]uint64{i, i % 7, i * 3, i % 2}
				before := stat.Word(args[0], args[1], args[2], args[3])
				args[argument] ^= 1 << bit
				changed += bits.OnesCount64(before ^ stat.Word(args[0], args[1], args[2], args[3]))
			}
			assert.InDelta(t, 32, float64(changed)/trials, 1.5, "argument %d, bit %d", argument, bit)
		}
	}
}

func TestConsecutiveDrawsAreNotCorrelated(t *testing.T) {
	const draws = 200_000
	for name, word := range sequences {
		sum := 0.0
		for i := range uint64(draws) {
			sum += (stat.Unit(word(i)) - 0.5) * (stat.Unit(word(i+1)) - 0.5)
		}
		correlation := sum / draws * 12
		assert.Less(t, math.Abs(correlation), 5/math.Sqrt(draws), name)
	}
}

func TestCountersDoNotCollide(t *testing.T) {
	seen := map[uint64]bool{}
	for stream := range uint64(20) {
		for index := range uint64(2000) {
			for attempt := range uint64(4) {
				seen[stat.Word(1, stream, index, attempt)] = true
			}
		}
	}
	assert.Len(t, seen, 20*2000*4)
}

func TestUnitIsInsideTheOpenInterval(t *testing.T) {
	assert.Greater(t, stat.Unit(0), 0.0)
	assert.Less(t, stat.Unit(math.MaxUint64), 1.0)
	assert.InDelta(t, 0.5, stat.Unit(1<<63), 1e-15)
}

func TestBelowIsUniformAndInRange(t *testing.T) {
	counts := make([]float64, 7)
	for i := range uint64(70_000) {
		counts[stat.Below(stat.Word(5, 0, i, 0), 7)]++
	}
	assert.Less(t, chiSquare(counts, 70_000), 30.0)
	assert.Equal(t, 0, stat.Below(math.MaxUint64, 1))
	assert.Equal(t, math.MaxInt-1, stat.Below(math.MaxUint64, math.MaxInt))
	assert.PanicsWithValue(t, "stat: Below needs a positive n", func() { stat.Below(1, 0) })
}

func TestExponentialHasMeanAndVarianceOne(t *testing.T) {
	w := moments(stat.Exponential)
	assert.InDelta(t, 1, w.Mean(), 0.01)
	assert.InDelta(t, 1, w.Variance(), 0.03)
}

func TestNormalHasMeanZeroAndVarianceOne(t *testing.T) {
	w := moments(stat.Normal)
	assert.InDelta(t, 0, w.Mean(), 0.01)
	assert.InDelta(t, 1, w.Variance(), 0.015)
}

func moments(draw func(uint64) float64) (w stat.Welford) {
	for i := range uint64(200_000) {
		w.Add(draw(stat.Word(6, 0, i, 0)))
	}
	return w
}

func TestNormalInvertsTheDistributionFunction(t *testing.T) {
	for _, word := range []uint64{0, 1 << 20, 1 << 40, 1 << 50, 1 << 58, 1 << 60, 1 << 62, 1 << 63, 3 << 62, 15 << 60} {
		x := stat.Normal(word)
		assert.InEpsilon(t, stat.Unit(word), math.Erfc(-x/math.Sqrt2)/2, 1e-13, "word %#x", word)
	}
	assert.Equal(t, -stat.Normal(0), stat.Normal(math.MaxUint64), "symmetric to the ends")
}

func TestDrawsDoNotAllocate(t *testing.T) {
	i := uint64(0)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		w := stat.Word(1, 2, i, 0)
		sink = stat.Exponential(w) + stat.Normal(stat.Next(w)) + float64(stat.Below(w, 10))
		i++
	}))
}
