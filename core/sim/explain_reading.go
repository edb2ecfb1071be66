package sim

import (
	"time"

	"minilb/core/scenario"
)

// A reading is one policy's result beside its scenario and the other results.
type reading struct {
	Result
	scenario  scenario.Scenario
	others    []Result
	cancelled bool
}

func newReading(r Report, i int) reading {
	a := reading{Result: r.Results[i], scenario: r.Scenario, cancelled: r.Cancelled}
	for j, other := range r.Results {
		if j != i && other.Requests > 0 {
			a.others = append(a.others, other)
		}
	}
	return a
}

// A site is a backend as a reading sees it.
type site struct {
	scenario.Backend
	result BackendResult
	share  float64 // of attempts
	gets   float64 // attempts/s, on average
	serves float64 // attempts/s that its workers can do
}

func (b site) load() float64 { return b.gets / b.serves }

func (r reading) sites() []site {
	list := make([]site, len(r.scenario.Backends))
	for i, b := range r.scenario.Backends {
		if b.ErrorsAfter > r.lasts() {
			b.Errors = 0 // there will be none
		}
		list[i] = site{Backend: b, share: r.Share[i].Fraction, gets: r.Share[i].Fraction * r.attempted(), serves: serves(b)}
		if i < len(r.Backends) {
			list[i].result = r.Backends[i]
		}
	}
	return list
}

// lasts is about how long requests arrive: what a scenario has in store for
// later does not happen.
func (r reading) lasts() time.Duration {
	switch s := r.scenario; {
	case s.Duration > 0:
		return s.Duration
	case s.Arrivals == "closed" || s.Arrivals == "trace":
		return longest
	default:
		return time.Duration(min(float64(s.Requests)/s.Rate, longest.Seconds()) * 1e9)
	}
}

// part is how much of the run lies between two instants; an end of 0 is the
// run's. Of a run of unknown length it is all.
func (r reading) part(from, to time.Duration) float64 {
	end := r.lasts()
	if end == longest {
		return 1
	}
	if to == 0 || to > end {
		to = end
	}
	return max(0, float64(to-from)) / float64(end)
}

// spoils is the share of the attempts that a fault of the backend's concerns
// while it lasts.
func (b site) spoils() float64 {
	slow := b.SlowFactor > 1 && b.CrashAt == 0 && b.HangAt == 0 && b.StallAt == 0
	switch {
	case slow:
		return b.share * (1 - 1/b.SlowFactor)
	case b.Health == "flag" && b.Errors > 0:
		return 0 // requests are answered
	}
	return b.share
}

// longest is more than any time that a scenario can name.
const longest = 100_000 * time.Hour

// steady says whether rate, service times and pool stay what they are for the
// whole run, so that what a backend gets can be compared with what it can do.
func (r reading) steady() bool {
	switch r.scenario.Arrivals {
	case "poisson", "constant", "bursty":
	default:
		return false
	}
	for _, b := range r.scenario.Backends {
		if changes(b) {
			return false
		}
	}
	return true
}

// changes says whether a backend is not the same throughout the run, or answers
// errors faster than the rest.
func changes(b scenario.Backend) bool {
	_, _, faulty := b.Fault()
	return faulty || b.SlowFactor != 1 || b.ColdFor > 0 || b.AddAt > 0 || b.DrainAt > 0 || b.ErrorMS > 0
}

// attempted is how many attempts a second the backends get together.
func (r reading) attempted() float64 { return r.scenario.Rate * r.perRequest() }

// perRequest is attempts for each request that the clients meant; what a client sends again
// is the same request.
func (r reading) perRequest() float64 {
	if r.Amplification > 0 {
		return r.Amplification
	}
	return float64(r.Attempts) / float64(r.Requests)
}

func serves(b scenario.Backend) float64 { return float64(b.Capacity) * 1000 / b.Mean }

// poolServes is how many attempts a second all workers together can do.
func (r reading) poolServes() float64 {
	sum := 0.0
	for _, b := range r.scenario.Backends {
		sum += serves(b)
	}
	return sum
}

// busiest is the backend that is sent the most work for its workers.
func (r reading) busiest() site {
	sites := r.sites()
	most := sites[0]
	for _, b := range sites[1:] {
		if b.load() > most.load() {
			most = b
		}
	}
	return most
}

// failing is the backend that causes the most errors; without any, the first.
func (r reading) failing() site {
	sites := r.sites()
	worst := sites[0]
	for _, b := range sites[1:] {
		if b.share*b.fails() > worst.share*worst.fails() {
			worst = b
		}
	}
	return worst
}

// fails is the share of a backend's answers that are errors while it fails; one
// whose /health alone fails answers well.
func (b site) fails() float64 {
	if b.Health == "flag" {
		return 0
	}
	return b.Errors
}

// errorTakes is the mean service time of an error.
func (b site) errorTakes() float64 {
	if b.ErrorMS > 0 {
		return b.ErrorMS
	}
	return b.Mean
}

// fair is the share that a backend's weight stands for.
func (r reading) fair(b scenario.Backend) float64 {
	sum := 0
	for _, other := range r.scenario.Backends {
		sum += other.Weight
	}
	return float64(b.Weight) / float64(sum)
}

func shareOf(r Result, name string) float64 {
	for _, share := range r.Share {
		if share.Backend == name {
			return share.Fraction
		}
	}
	return 0
}

// onlyFailing says whether failures, and so ejections, can come from one backend
// alone.
func (r reading) onlyFailing() bool {
	n := 0
	for _, b := range r.scenario.Backends {
		if _, _, faulty := b.Fault(); b.Errors > 0 || faulty || b.Queue > 0 {
			n++
		}
	}
	return n == 1 && r.scenario.PerTryTimeout == 0 && !r.scenario.DependencyDown.On()
}

// queues says whether nothing bounds a backend's queue.
func (r reading) queues(b site) bool {
	s := r.scenario
	given := s.Abandon == "cancel" && (s.PerTryTimeout > 0 || s.ClientTimeout > 0)
	return s.MaxInflight == 0 && b.Queue == 0 && !given
}
