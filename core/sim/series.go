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
	backends   []flight
}

type window struct {
	latency  stat.Sketch
	errors   int
	dropped  int
	kinds    [failures]int
	attempts []int     // by backend
	failed   []int     // by backend: attempts that ended badly
	area     []float64 // by backend: in flight × nanoseconds
}

// flight is a backend's requests in flight and since when there are so many.
type flight struct {
	n     int
	since lb.Time
}

func newSeries(backends int, seconds float64) *series {
	s := &series{resolution: niceResolution(seconds), most: maxWindows, backends: make([]flight, backends)}
	s.open()
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

// open begins the next window, after making room for it.
func (s *series) open() {
	if len(s.windows) == s.most {
		s.fold()
	}
	n := len(s.backends)
	s.windows = append(s.windows, window{attempts: make([]int, n), failed: make([]int, n), area: make([]float64, n)})
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
	for i := range w.attempts {
		w.attempts[i] += o.attempts[i]
		w.failed[i] += o.failed[i]
		w.area[i] += o.area[i]
	}
}

// at returns the window of an instant that is not earlier than any before.
func (s *series) at(now lb.Time) *window {
	for now >= s.end {
		s.settle(s.end)
		s.open()
	}
	return &s.windows[len(s.windows)-1]
}

// settle counts what is in flight towards the last window, up to its end.
func (s *series) settle(now lb.Time) {
	for slot := range s.backends {
		s.last(now, slot)
	}
}

// last counts one backend's requests in flight towards the last window.
func (s *series) last(now lb.Time, slot int) {
	f := &s.backends[slot]
	s.windows[len(s.windows)-1].area[slot] += float64(float64(f.n) * float64(now-f.since))
	f.since = now
}

func (s *series) sent(now lb.Time, slot int) {
	s.at(now).attempts[slot]++
	s.last(now, slot)
	s.backends[slot].n++
}

func (s *series) ended(now lb.Time, slot int) {
	s.at(now)
	s.last(now, slot)
	s.backends[slot].n--
}

// wrong counts an attempt that ended badly.
func (s *series) wrong(now lb.Time, slot int) { s.at(now).failed[slot]++ }

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
	for _, n := range w.attempts {
		attempts += n
	}
	s.Attempts = append(s.Attempts, attempts)
	for i := range s.Kinds {
		s.Kinds[i] = append(s.Kinds[i], w.kinds[int(fine)+1+i])
	}
	for slot, n := range w.attempts {
		s.Failed[slot] = append(s.Failed[slot], w.failed[slot])
		s.Share[slot] = append(s.Share[slot], ratio(float64(n), float64(attempts)))
		s.InFlight[slot] = append(s.InFlight[slot], ratio(w.area[slot], lasted))
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
