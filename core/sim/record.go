package sim

import (
	"time"

	"minilb/core/lb"
	"minilb/core/scenario"
	"minilb/core/stat"
)

// A record counts what happens in one run.
type record struct {
	algorithm string
	want      int // requests that will arrive
	completed int
	errors    int
	dropped   int
	latency   *stat.Histogram
	names     []string
	attempts  []int // by backend
	series    *series
	events    []lb.Event
	unkept    int // events after those
}

func newRecord(s scenario.Scenario, algorithm string, o Options) record {
	r := record{algorithm: algorithm, want: s.Requests, latency: new(stat.Histogram), attempts: make([]int, len(s.Backends))}
	for _, b := range s.Backends {
		r.names = append(r.names, b.Name)
	}
	if o.Series {
		r.series = newSeries(len(s.Backends), s.Requests, s.Rate)
	}
	return r
}

// log returns where the pool's events go. A transcript that nobody could read
// is cut, so that a flapping backend does not fill the memory.
func (e *engine) log(on bool) func(lb.Event) {
	if !on {
		return nil
	}
	return func(v lb.Event) {
		if len(e.record.events) == maxEvents {
			e.record.unkept++
			return
		}
		e.record.events = append(e.record.events, v)
	}
}

func (r *record) answered() int  { return r.completed + r.dropped }
func (r *record) complete() bool { return r.answered() >= r.want }
func (r *record) done() float64  { return float64(r.answered()) / float64(r.want) }

// sent counts an attempt that goes to a backend.
func (r *record) sent(now lb.Time, slot int) {
	r.attempts[slot]++
	if r.series != nil {
		r.series.sent(now, slot)
	}
}

// ended counts an attempt that the balancer no longer waits for.
func (r *record) ended(now lb.Time, slot int) {
	if r.series != nil {
		r.series.ended(now, slot)
	}
}

// finish counts a request that has its answer.
func (r *record) finish(now lb.Time, took time.Duration, failed bool) {
	r.completed++
	if failed {
		r.errors++
	}
	r.latency.Record(int64(took))
	if r.series != nil {
		r.series.finish(now, took, failed)
	}
}

// drop counts a request that no backend could take.
func (r *record) drop(now lb.Time) {
	r.dropped++
	if r.series != nil {
		r.series.at(now).dropped++
	}
}

// result is the run in figures.
func (e *engine) result() Result {
	r, counts := &e.record, e.pool.Counts()
	res := Result{
		Algorithm: r.algorithm, Requests: r.answered(), Completed: r.completed, Errors: r.errors, Dropped: r.dropped,
		Latency: latencyOf(r.latency), Ejections: counts.Ejections, EjectionsRefused: counts.Refused, Events: r.events, EventsUnkept: r.unkept,
	}
	for _, n := range r.attempts {
		res.Attempts += n
	}
	for i, n := range r.attempts {
		res.Share = append(res.Share, Share{Backend: r.names[i], Fraction: float64(n) / float64(max(res.Attempts, 1))})
	}
	if r.series != nil {
		res.Series = r.series.close(e.now)
	}
	return res
}

func latencyOf(h *stat.Histogram) Latency {
	ms := func(q float64) float64 { return float64(h.Quantile(q)) / 1e6 }
	return Latency{Mean: h.Mean() / 1e6, P50: ms(0.5), P95: ms(0.95), P99: ms(0.99), Max: float64(h.Max()) / 1e6}
}
