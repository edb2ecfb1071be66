package sim

import (
	"math"
	"time"

	"minilb/core/lb"
	"minilb/core/stat"
)

// maxWindows is a power of two, so that windows can be merged in pairs.
const (
	maxWindows       = 256
	maxChosenWindows = 4096 // when the scenario says how long they are
)

// A series gathers figures by window of time. How long a run will be is not
// known beforehand: one that outgrows its windows merges them in pairs and
// goes on with windows twice as long, so its memory is bounded.
type series struct {
	resolution lb.Time
	most       int     // windows, a power of two
	end        lb.Time // of the last window
	windows    []window
	open       *window // the last of them
	backends   []flight
}

type window struct {
	latency  stat.Sketch
	errors   int
	dropped  int
	kinds    [failures]int
	backends []share
}

// A share is what one backend had of a window.
type share struct {
	attempts int
	failed   int     // attempts that ended badly
	area     float64 // in flight × nanoseconds
}

// flight is a backend's requests in flight and since when there are so many.
type flight struct {
	n     int
	since lb.Time
}

func newSeries(backends int, seconds float64) *series {
	s := &series{resolution: niceResolution(seconds), most: maxWindows, backends: make([]flight, backends)}
	s.begin()
	return s
}

// resolve sets the length of a window, before anything has happened. Whoever
// asks for a length gets it for longer runs, too.
func (s *series) resolve(resolution lb.Time) {
	s.resolution, s.end, s.most = resolution, resolution, maxChosenWindows
}

// niceResolution is 1, 2 or 5 times a power of ten that cuts a run expected to
// last that many seconds into about a hundred windows. It is at least a microsecond.
func niceResolution(seconds float64) lb.Time {
	ns, size := seconds*1e7, 1e3 // a hundredth of the run in nanoseconds
	for size*10 <= ns {
		size *= 10
	}
	for _, factor := range [...]float64{5, 2} {
		if size*factor <= ns {
			return lb.Time(size * factor)
		}
	}
	return lb.Time(size)
}

// begin opens the next window, after making room for it.
func (s *series) begin() {
	if len(s.windows) == s.most {
		s.fold()
	}
	s.windows = append(s.windows, window{backends: make([]share, len(s.backends))})
	s.open = &s.windows[len(s.windows)-1]
	if len(s.windows) > 1 {
		s.open.latency.Expect(&s.windows[len(s.windows)-2].latency)
	}
	s.end += s.resolution
}

// fold merges the windows in pairs.
func (s *series) fold() {
	for i := 0; i < len(s.windows); i += 2 {
		s.windows[i].merge(&s.windows[i+1])
		s.windows[i/2] = s.windows[i]
	}
	clear(s.windows[len(s.windows)/2:])
	s.windows = s.windows[:len(s.windows)/2]
	s.resolution *= 2
}

func (w *window) merge(o *window) {
	w.latency.Merge(&o.latency)
	w.errors += o.errors
	w.dropped += o.dropped
	for i := range w.kinds {
		w.kinds[i] += o.kinds[i]
	}
	for i := range w.backends {
		mine, other := &w.backends[i], &o.backends[i]
		mine.attempts += other.attempts
		mine.failed += other.failed
		mine.area += other.area
	}
}

// at returns the window of an instant that is not earlier than any before.
func (s *series) at(now lb.Time) *window {
	if now >= s.end {
		s.moveOn(now)
	}
	return s.open
}

// moveOn opens windows up to that of an instant.
func (s *series) moveOn(now lb.Time) {
	for now >= s.end {
		s.settle(s.end)
		s.begin()
	}
}

// settle counts what is in flight towards the last window, up to its end.
func (s *series) settle(now lb.Time) {
	for slot := range s.backends {
		s.backends[slot].last(now, &s.open.backends[slot])
	}
}

// last counts a backend's requests in flight towards its share of the last
// window.
func (f *flight) last(now lb.Time, b *share) {
	b.area += float64(float64(f.n) * float64(now-f.since))
	f.since = now
}

func (s *series) sent(now lb.Time, slot int) {
	b, f := &s.at(now).backends[slot], &s.backends[slot]
	b.attempts++
	f.last(now, b)
	f.n++
}

func (s *series) ended(now lb.Time, slot int) {
	f := &s.backends[slot]
	f.last(now, &s.at(now).backends[slot])
	f.n--
}

// wrong counts an attempt that ended badly.
func (s *series) wrong(now lb.Time, slot int) { s.at(now).backends[slot].failed++ }

func (s *series) finish(now lb.Time, took time.Duration, why failure) {
	w := s.at(now)
	w.latency.Record(int64(took))
	w.kinds[why]++
	if why != fine {
		w.errors++
	}
}

func (s *series) drop(now lb.Time, why failure) {
	w := s.at(now)
	w.dropped++
	w.kinds[why]++
}

// close ends the last window at now and gives the series its public form.
func (s *series) close(now lb.Time) Series {
	s.at(now)
	s.settle(now)
	out := Series{Resolution: s.resolution, Share: rows(len(s.backends)), InFlight: rows(len(s.backends)),
		Failed: counts(len(s.backends)), Kinds: counts(len(KindNames))}
	for i := range s.windows {
		w, start := &s.windows[i], lb.Time(i)*s.resolution
		out.add(w, start, float64(min(start+s.resolution, now)-start))
	}
	return out
}

// inOrder puts the backends' rows from the order of their slots into that of
// the scenario.
func (s Series) inOrder(place []int) Series {
	share, inFlight, failed := rows(len(place)), rows(len(place)), counts(len(place))
	for slot, at := range place {
		share[at], inFlight[at], failed[at] = s.Share[slot], s.InFlight[slot], s.Failed[slot]
	}
	s.Share, s.InFlight, s.Failed = share, inFlight, failed
	return s
}

func rows(n int) [][]float64 { return make([][]float64, n) }
func counts(n int) [][]int   { return make([][]int, n) }

// add appends a window that lasted so many nanoseconds.
func (s *Series) add(w *window, start lb.Time, lasted float64) {
	s.Start = append(s.Start, start.Seconds())
	s.Answered = append(s.Answered, int(w.latency.Count()))
	s.Errors = append(s.Errors, w.errors)
	s.Dropped = append(s.Dropped, w.dropped)
	s.P50 = append(s.P50, w.quantile(0.5))
	s.P95 = append(s.P95, w.quantile(0.95))
	s.P99 = append(s.P99, w.quantile(0.99))
	attempts := 0
	for _, b := range w.backends {
		attempts += b.attempts
	}
	s.Attempts = append(s.Attempts, attempts)
	for i := range s.Kinds {
		s.Kinds[i] = append(s.Kinds[i], w.kinds[int(fine)+1+i])
	}
	for slot, b := range w.backends {
		s.Failed[slot] = append(s.Failed[slot], b.failed)
		s.Share[slot] = append(s.Share[slot], ratio(float64(b.attempts), float64(attempts)))
		s.InFlight[slot] = append(s.InFlight[slot], ratio(b.area, lasted))
	}
}

// quantile is in milliseconds, NaN when nothing was answered.
func (w *window) quantile(q float64) float64 {
	if w.latency.Count() == 0 {
		return math.NaN()
	}
	return float64(w.latency.Quantile(q)) / 1e6
}

// ratio is NaN when there is nothing to take a share of.
func ratio(part, whole float64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return part / whole
}
