package sim

import (
	"strings"
	"time"

	"minilb/core/lb"
	"minilb/core/stat"
)

// skip is why a retry that was wanted was not made.
type skip uint8

const (
	overBudget skip = iota
	noOther
	notIdempotent
	skips
)

// skipped counts a retry that was not made, by the words of retry.Action.
func (r *record) skip(note string) {
	switch {
	case strings.HasSuffix(note, "budget exhausted"):
		r.skipped[overBudget]++
	case strings.HasSuffix(note, "is not idempotent"):
		r.skipped[notIdempotent]++
	default:
		r.skipped[noOther]++
	}
}

// result is the run in figures.
func (e *engine) result() Result {
	r := &e.record
	res := Result{
		Algorithm: r.algorithm, Requests: r.completed + r.dropped, Completed: r.completed, Errors: r.errors, Dropped: r.dropped,
		Latency: latencyOf(r.latency), Events: r.events, EventsUnkept: r.unkept,
		Kinds: r.byKind(), Retries: r.retries, ClientRetries: r.clientRetries, Duplicates: r.duplicates,
		RetriesSkipped: Skipped{r.skipped[overBudget], r.skipped[noOther], r.skipped[notIdempotent]},
		AwayFromHome:   r.away, CutByDrain: r.cut, Unanswered: r.begun - r.settled,
	}
	if e.progress.stopped {
		res.Unanswered = 0 // they were not given the time
	}
	for i := range e.balancers {
		counts := e.balancers[i].pool.Counts()
		res.Ejections += counts.Ejections
		res.EjectionsRefused += counts.Refused
	}
	res.Backends = make([]BackendResult, len(r.backends))
	for slot := range r.backends {
		res.Attempts += r.backends[slot].attempts
		res.Backends[r.place[slot]] = r.backends[slot].result(r.names[slot])
	}
	for _, b := range res.Backends {
		res.Share = append(res.Share, Share{Backend: b.Backend, Fraction: float64(b.Attempts) / float64(max(res.Attempts, 1))})
	}
	res.Amplification = float64(res.Attempts) / float64(max(r.originals, 1))
	if r.series != nil {
		res.Series = r.series.close(e.now).inOrder(r.place)
		res.Curve = curveOf(r.latency)
	}
	return res
}

func (r *record) byKind() Kinds {
	k := &r.kinds
	return Kinds{
		ServerError: k[serverError], Timeout: k[timedOut], Refused: k[refused], Broken: k[broken],
		NoBackend: k[noBackend], QueueFull: k[queueFull],
	}
}

func (b *backendRecord) result(name string) BackendResult {
	out := BackendResult{Backend: name, Attempts: b.attempts, InFlightMax: b.inFlightMax, QueueMax: b.queueMax}
	if b.latency != nil {
		out.Latency = latencyOf(b.latency)
	}
	if b.watch.found {
		out.Detection = seconds(b.watch.detected)
	}
	if b.watch.back {
		out.Restoration = seconds(b.watch.restored)
	}
	return out
}

func seconds(d time.Duration) *float64 {
	s := lb.Time(d).Seconds()
	return &s
}

func latencyOf(h *stat.Histogram) Latency {
	ms := func(q float64) float64 { return float64(h.Quantile(q)) / 1e6 }
	return Latency{Mean: h.Mean() / 1e6, P50: ms(0.5), P95: ms(0.95), P99: ms(0.99), Max: float64(h.Max()) / 1e6}
}

// tails are the shares above a quantile within one more nine, evenly spaced on
// a logarithmic axis.
var tails = [...]float64{1, 0.79, 0.63, 0.5, 0.4, 0.32, 0.25, 0.2, 0.16, 0.13}

// curveOf is the latencies from the least to the greatest, ten points for each
// nine, as far as there are requests to tell them apart.
func curveOf(h *stat.Histogram) []Quantile {
	var curve []Quantile
	add := func(q float64) { curve = append(curve, Quantile{q, float64(h.Quantile(q)) / 1e6}) }
	if h.Count() == 0 {
		return nil
	}
	for scale := 1.0; scale*float64(int64(h.Count())) >= 1; scale /= 10 {
		for _, tail := range tails {
			if above := float64(tail * scale); above*float64(int64(h.Count())) >= 1 {
				add(1 - above)
			}
		}
	}
	add(1)
	return curve
}
