package stat

import (
	"math"
	"math/bits"
)

// Precision is the number of bits kept below a value's leading one. Every power of two is cut into 2^precision equal
// buckets, so a bucket's midpoint is within 1 part in 2^(precision+1) of anything in it.
const (
	histogramPrecision = 7 // 0.39%: inside the 0.5% that results promise
	sketchPrecision    = 5 // 1.56%: a fifth of the memory, for one window of a chart

	histogramBuckets = (64 - histogramPrecision) << histogramPrecision
)

// bucketOf is the bucket of a value that is not negative. Values under 2^(precision+1) have a bucket each; the index
// then continues without a seam, which is what makes one shift and one addition enough.
func bucketOf(v uint64, precision int) int {
	shift := max(bits.Len64(v)-1-precision, 0)
	return shift<<precision + int(v>>shift)
}

// middleOf is the value that stands for a bucket: the midpoint of the values it holds.
func middleOf(bucket, precision int) int64 {
	shift := max(bucket>>precision-1, 0)
	low := uint64(bucket-shift<<precision) << shift
	return int64(low + (1<<shift-1)/2)
}

// summary is what is kept exactly, whatever the buckets: count, sum, least and greatest. The sum has 128 bits.
type summary struct {
	count        uint64
	sumHi, sumLo uint64
	min, max     int64
}

func (s *summary) add(ns int64) {
	if s.count == 0 || ns < s.min {
		s.min = ns
	}
	if ns > s.max {
		s.max = ns
	}
	s.count++
	var carry uint64
	s.sumLo, carry = bits.Add64(s.sumLo, uint64(ns), 0)
	s.sumHi += carry
}

func (s *summary) merge(o *summary) {
	if o.count == 0 {
		return
	}
	if s.count == 0 {
		*s = *o
		return
	}
	s.min, s.max = min(s.min, o.min), max(s.max, o.max)
	s.count += o.count
	var carry uint64
	s.sumLo, carry = bits.Add64(s.sumLo, o.sumLo, 0)
	s.sumHi, _ = bits.Add64(s.sumHi, o.sumHi, carry)
}

// Count is how many values were recorded.
func (s *summary) Count() uint64 { return s.count }

// Min is the least value recorded, exactly; 0 when there is none.
func (s *summary) Min() int64 { return s.min }

// Max is the greatest value recorded, exactly; 0 when there is none.
func (s *summary) Max() int64 { return s.max }

// Mean is the average in nanoseconds, from an exact sum; 0 when nothing was recorded.
func (s *summary) Mean() float64 {
	if s.count == 0 {
		return 0
	}
	// No value exceeds 2^63, so the sum's high word is less than the count and the division cannot overflow.
	whole, rest := bits.Div64(s.sumHi, s.sumLo, s.count)
	return float64(int64(whole)) + float64(int64(rest))/float64(int64(s.count))
}

// rank is the position, counted from one, of the q-quantile in sorted order by the nearest-rank rule.
func (s *summary) rank(q float64) uint64 {
	if !(0 < q) { // NaN too
		return 1
	}
	if !(q < 1) {
		return s.count
	}
	exact := float64(q * float64(int64(s.count)))
	// 0.99*100 is a hair above 99 in binary; the rule means 99.
	nearest := math.Floor(exact + 0.5)
	if math.Abs(exact-nearest) <= float64(exact*0x1p-50) {
		exact = nearest
	}
	return min(max(uint64(int64(math.Ceil(exact))), 1), s.count)
}

// quantile walks the buckets from first upwards to the one that holds the rank. The two ends are known exactly.
func (s *summary) quantile(q float64, counts []uint64, first, precision int) int64 {
	if s.count == 0 {
		return 0
	}
	rank, seen := s.rank(q), uint64(0)
	switch rank {
	case 1:
		return s.min
	case s.count:
		return s.max
	}
	for i, n := range counts {
		if seen += n; seen >= rank {
			return min(max(middleOf(first+i, precision), s.min), s.max)
		}
	}
	return s.max
}

// A Histogram counts latencies in nanoseconds so that any quantile can be asked for afterwards, with a relative error
// of at most 0.5%; count, least, greatest and mean are exact. The zero value is ready, Record never allocates, and the
// whole range of an int64 has its place, so nothing is ever clipped.
type Histogram struct {
	summary
	counts [histogramBuckets]uint64
}

// Record counts one latency. A negative one, from a clock that stepped back, counts as 0.
func (h *Histogram) Record(ns int64) {
	ns = max(ns, 0)
	h.add(ns)
	h.counts[bucketOf(uint64(ns), histogramPrecision)]++
}

// Quantile is the nearest-rank q-quantile: the least recorded value that at least a share q of all values do not
// exceed, as the midpoint of its bucket. Quantile(0) is Min, Quantile(1) is Max; 0 when nothing was recorded.
func (h *Histogram) Quantile(q float64) int64 {
	first, last := h.touched()
	return h.quantile(q, h.counts[first:last], first, histogramPrecision)
}

// touched is the range of buckets that can be other than zero.
func (h *Histogram) touched() (first, last int) {
	if h.count == 0 {
		return 0, 0
	}
	return bucketOf(uint64(h.min), histogramPrecision), bucketOf(uint64(h.max), histogramPrecision) + 1
}

// Merge adds everything that o recorded.
func (h *Histogram) Merge(o *Histogram) {
	first, last := o.touched()
	for i, n := range o.counts[first:last] {
		h.counts[first+i] += n
	}
	h.merge(&o.summary)
}

// Reset forgets everything. It clears only the buckets between the least and the greatest value.
func (h *Histogram) Reset() {
	first, last := h.touched()
	clear(h.counts[first:last])
	h.summary = summary{}
}
