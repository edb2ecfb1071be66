package outlier

import "sync/atomic"

// A tally is what Note counts about one backend, by atomics alone.
type tally struct {
	errors   streak // 5xx in a row
	gateway  streak // gateway errors in a row
	requests atomic.Int32
	failures atomic.Int32

	// Whether the last look has already reported that the cap refused.
	rateReported, shareReported atomic.Bool
}

// A streak counts errors in a row. Its refusal by the cap is reported once.
type streak struct {
	n        atomic.Int64
	reported atomic.Bool
}

func (s *streak) add() int64 {
	n := s.n.Add(1)
	if n == 1 {
		s.reported.Store(false)
	}
	return n
}

// end reads first, which keeps the common case, a success after a success,
// free of shared writes.
func (s *streak) end() {
	if s.n.Load() != 0 {
		s.n.Store(0)
	}
}

// goOn adds an error to the streak, or ends it, and says whether it is complete.
func (s *streak) goOn(failed bool, threshold int) (complete bool) {
	if failed {
		return reached(s.add(), threshold)
	}
	s.end()
	return false
}

func (s *streak) reached(threshold int) bool { return reached(s.n.Load(), threshold) }

func reached(n int64, threshold int) bool { return threshold > 0 && n >= int64(threshold) }

// count counts a request before its failure, and take reads the other way
// round, so that no interval shows a failure of a request that it has not.
func (t *tally) count(failed bool) {
	t.requests.Add(1)
	if failed {
		t.failures.Add(1)
	}
}

// take empties the counts of an interval. A failure whose request was counted
// in the interval before is dropped rather than judged twice.
func (t *tally) take() sample {
	failures := t.failures.Swap(0)
	requests := t.requests.Swap(0)
	return sample{requests: int(requests), failures: int(min(failures, requests))}
}

func (t *tally) endStreaks() {
	t.errors.end()
	t.gateway.end()
}

func (t *tally) clear() {
	t.endStreaks()
	t.take()
	t.rateReported.Store(false)
	t.shareReported.Store(false)
}

// A sample is one interval of one backend, as the statistical detectors see it.
type sample struct{ requests, failures int }

// successRate is in percent.
func (s sample) successRate() float64 {
	return 100 * float64(s.requests-s.failures) / float64(s.requests)
}
