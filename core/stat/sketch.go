package stat

import "slices"

// A Sketch is a smaller [Histogram] for one window of a time series: quantiles within 2%, and memory only for the
// range of values it has seen (a few hundred bytes to a few kilobytes). The zero value is ready.
type Sketch struct {
	summary
	first  int // the bucket that counts[0] stands for
	counts []uint64
}

// Record counts one latency. It allocates only when a value falls outside the range seen so far.
// A negative one, from a clock that stepped back, counts as 0.
func (s *Sketch) Record(ns int64) {
	ns = max(ns, 0)
	s.add(ns)
	bucket := bucketOf(uint64(ns), sketchPrecision)
	if i := bucket - s.first; 0 <= i && i < len(s.counts) {
		s.counts[i]++
		return
	}
	s.cover(bucket, bucket+1)
	s.counts[bucket-s.first]++
}

// Expect makes room for the range that o has seen, so that a window like the one before it allocates once.
func (s *Sketch) Expect(o *Sketch) {
	if len(o.counts) > 0 {
		s.cover(o.first, o.first+len(o.counts))
	}
}

// cover widens the range of buckets to include [first, last), in whole powers of two so that it happens seldom.
func (s *Sketch) cover(first, last int) {
	const block = 1 << sketchPrecision
	first, last = first&^(block-1), (last+block-1)&^(block-1)
	if len(s.counts) == 0 {
		s.first = first
	}
	if below := s.first - first; below > 0 {
		s.counts = slices.Insert(s.counts, 0, make([]uint64, below)...)
		s.first = first
	}
	if above := last - s.first - len(s.counts); above > 0 {
		s.counts = append(s.counts, make([]uint64, above)...)
	}
}

// Quantile is the nearest-rank q-quantile, as [Histogram.Quantile] but within 2%.
func (s *Sketch) Quantile(q float64) int64 {
	return s.quantile(q, s.counts, s.first, sketchPrecision)
}

// Merge adds everything that o recorded.
func (s *Sketch) Merge(o *Sketch) {
	if o.count == 0 {
		return
	}
	s.cover(o.first, o.first+len(o.counts))
	for i, n := range o.counts {
		s.counts[o.first-s.first+i] += n
	}
	s.merge(&o.summary)
}

// Reset forgets everything but keeps the memory, for the next window.
func (s *Sketch) Reset() {
	clear(s.counts)
	s.summary = summary{}
}
