package sim

import (
	"time"

	"minilb/core/lb"
	"minilb/core/scenario"
	"minilb/core/stat"
)

// A record counts what happens in one run. What happens to requests that
// arrived during the warm-up is not counted, only that they were settled.
type record struct {
	algorithm string
	want      int // requests that will arrive, as far as that is known
	begun     int // requests that clients have sent, their retries among them
	settled   int // of those, the ones that are over
	completed int
	errors    int
	dropped   int
	kinds     [failures]int
	latency   *stat.Histogram
	backends  []backendRecord // by slot
	place     []int           // in the scenario's order, by slot
	names     []string        // by slot
	series    *series
	events    []lb.Event
	unkept    int // events after those

	originals     int // requests that are no client's retry
	clientRetries int
	retries       int // attempts after a request's first
	skipped       [skips]int
	duplicates    int
	away          int // requests that did not go to their key's home
	cut           int
}

// backendRecord is what happened at one backend.
type backendRecord struct {
	attempts    int
	inFlight    int
	inFlightMax int
	last        lb.Time // when it was last sent an attempt
	latency     *stat.Histogram
	watch       watch
	queueMax    int
}

func newRecord(s scenario.Scenario, algorithm string, o Options) record {
	n := len(s.Backends)
	r := record{algorithm: algorithm, want: s.Requests, latency: new(stat.Histogram), backends: make([]backendRecord, n)}
	if s.Arrivals == "trace" {
		r.want = len(s.Trace)
	}
	r.place = slots(s)
	for slot, place := range r.place {
		r.names = append(r.names, s.Backends[place].Name)
		r.backends[slot].watch = newWatch(s.Backends[place].Parts)
	}
	if o.Series {
		r.series = newSeries(n, expected(s))
		if s.Resolution > 0 {
			r.series.resolve(lb.Time(s.Resolution))
		}
	}
	return r
}

// expected is about how many seconds a run will last.
func expected(s scenario.Scenario) float64 {
	switch {
	case s.Duration > 0:
		return s.Duration.Seconds()
	case s.Arrivals == "trace":
		return max(s.Trace[len(s.Trace)-1].At.Seconds(), 1e-3)
	case s.Arrivals == "closed":
		return float64(s.Requests) / float64(s.ClientCount) * max(s.Think.Seconds(), 0.01)
	}
	return float64(s.Requests) / s.Rate
}

// keep is where the pools' events go. A transcript that nobody could read is
// cut, so that a flapping backend does not fill the memory.
func (r *record) keep(v lb.Event) {
	if len(r.events) == maxEvents {
		r.unkept++
		return
	}
	r.events = append(r.events, v)
}

// done is the share of the requests that are over.
func (r *record) done() float64 { return min(1, float64(r.settled)/float64(r.want)) }

// sent counts an attempt that goes to a backend.
func (r *record) sent(now lb.Time, slot int, counts bool) {
	b := &r.backends[slot]
	if counts {
		b.attempts++
	}
	b.inFlight++
	b.inFlightMax = max(b.inFlightMax, b.inFlight)
	b.last = now
	if b.watch.awaited {
		b.watch.returned(now)
	}
	if r.series != nil {
		r.series.sent(now, slot)
	}
}

// ended counts an attempt that the balancer no longer waits for.
func (r *record) ended(now lb.Time, slot int) {
	r.backends[slot].inFlight--
	if r.series != nil {
		r.series.ended(now, slot)
	}
}

// served counts work that a backend has done, whether or not anybody still
// waits for it.
func (r *record) served(slot int, took time.Duration) {
	b := &r.backends[slot]
	if b.latency == nil {
		b.latency = new(stat.Histogram)
	}
	b.latency.Record(int64(took))
}

// finish counts a request that has its answer, or whose client has left.
func (r *record) finish(now lb.Time, took time.Duration, why failure, counts bool) {
	r.settled++
	if counts {
		r.completed++
		r.latency.Record(int64(took))
		if why != fine {
			r.errors++
			r.kinds[why]++
		}
	}
	if r.series != nil {
		r.series.finish(now, took, why)
	}
}

// drop counts a request that no backend could take.
func (r *record) drop(now lb.Time, why failure, counts bool) {
	r.settled++
	if counts {
		r.dropped++
		r.kinds[why]++
	}
	if r.series != nil {
		r.series.drop(now, why)
	}
}

// failure is why a request got no good answer.
type failure uint8

const (
	fine failure = iota
	serverError
	timedOut
	refused
	broken
	noBackend
	queueFull
	failures
)

// KindNames are the kinds of failure in words, in the order of Series.Kinds.
var KindNames = [...]string{"5xx", "timeout", "refused", "broken", "no backend", "queue full"}

// failureOf names an attempt's outcome.
func failureOf(o lb.Outcome) failure {
	switch o.Kind {
	case lb.Refused:
		return refused
	case lb.TimedOut:
		return timedOut
	case lb.Broken:
		return broken
	}
	if o.Failed() {
		return serverError
	}
	return fine
}

// A watch measures by a backend's traffic how long it took to be taken out
// after its fault began, and to be back after that was over.
type watch struct {
	awaited  bool    // taken out, and the fault may be over before the next attempt
	from, to lb.Time // of the fault; Never when there is none, or no end
	out      int     // balancers that do not send to it
	detected time.Duration
	restored time.Duration
	found    bool
	back     bool
}

func newWatch(p scenario.Parts) watch {
	from, to, ok := p.Fault()
	w := watch{from: lb.Never, to: lb.Never}
	if ok {
		w.from = lb.Time(from)
		if to > 0 {
			w.to = lb.Time(to)
		}
	}
	return w
}

// left is told that no balancer sends to the backend any more, and when it was
// last sent anything.
func (w *watch) left(now, last lb.Time) {
	if now < w.from || now >= w.to {
		return
	}
	if !w.found {
		w.found = true
		w.detected = max(last, w.from).Sub(w.from)
	}
	w.awaited = w.to != lb.Never && !w.back
}

// returned is told of an attempt.
func (w *watch) returned(now lb.Time) {
	if now >= w.to {
		w.restored, w.back, w.awaited = now.Sub(w.to), true, false
	}
}
