package sim

import (
	"fmt"
	"strings"
	"time"
)

// nothingAnswered speaks when every request was turned away.
func (r reading) nothingAnswered() (text, backend string) {
	if r.Completed > 0 {
		return "", ""
	}
	return fmt.Sprintf("No backend could take any of the %s: all were dropped.", plural(r.Requests, "request")), ""
}

// failingBackend is the incident of Monday 09:10: one backend answers with errors and
// nothing takes it out.
func (r reading) failingBackend() (text, backend string) {
	b := r.failing()
	if b.fails()*b.share == 0 || failed(r.Result) < 0.005 || r.Ejections > 0 && failed(r.Result) < 0.05 {
		return "", ""
	}
	return sentences(
		fmt.Sprintf("%s sends %s of %s to %s, which answers %s of them with errors%s that take it %s%s",
			r.Algorithm, percent(b.share), r.noun(), b.Name, all(b.Errors), during(b.ErrorsAfter, b.RecoverAt), milliseconds(b.errorTakes()), r.attraction(b)),
		r.fail(), r.whyNotEjected(), r.otherShares(b.Name)), b.Name
}

// healthCheckLies is the same with checks that do not notice: they ask whether
// the process runs, not whether requests work.
func (r reading) healthCheckLies() (text, backend string) {
	text, backend = r.failingBackend()
	b := r.failing()
	if text == "" || r.scenario.CheckInterval == 0 || b.result.Detection != nil {
		return "", ""
	}
	switch {
	case b.Health == "process":
		return text + " " + sentences("the health check of "+b.Name+" tests its process, not whether requests work"), backend
	case r.scenario.CheckType == "tcp":
		return text + " " + sentences("the health check only connects, and does not ask whether requests work"), backend
	}
	return "", ""
}

// dependencyDown speaks when what all backends need is away.
func (r reading) dependencyDown() (text, backend string) {
	w := r.scenario.DependencyDown
	if !w.On() || w.From > r.lasts() || failed(r.Result) < 0.005 {
		return "", ""
	}
	return sentences("the dependency that all backends share is down"+during(w.From, w.To), "under "+r.Algorithm+" "+r.consequence()), ""
}

// faultyBackend speaks of what goes wrong with a backend during the run.
func (r reading) faultyBackend() (text, backend string) {
	b, what := r.fault()
	if what == "" {
		return "", ""
	}
	return sentences(what, "under "+r.Algorithm+" "+r.consequence(), b.detected(), r.ejected(), r.tails()), b.Name
}

// fault is the first backend with which something goes wrong, and what.
func (r reading) fault() (b site, what string) {
	for _, b := range r.sites() {
		if what, from := b.fault(); what != "" && from < r.lasts() {
			return b, b.Name + " " + what
		}
	}
	return site{}, ""
}

// fault is the worst that goes wrong with a backend, in words, and when it begins.
func (b site) fault() (what string, from time.Duration) {
	switch {
	case b.CrashAt > 0:
		return "is down" + during(b.CrashAt, b.RecoverAt), b.CrashAt
	case b.HangAt > 0:
		return "accepts requests and does not answer" + during(b.HangAt, b.RecoverAt), b.HangAt
	case b.StallAt > 0:
		return "does not work" + during(b.StallAt, ends(b.StallAt+b.StallFor, b.RecoverAt)), b.StallAt
	case b.SlowFactor > 1:
		return "is " + threeDigits(b.SlowFactor) + " times slower" + during(b.SlowAfter, ends(b.SlowUntil, b.RecoverAt)), b.SlowAfter
	case b.Health == "flag" && b.Errors > 0:
		return "answers its requests, but its health check fails" + during(b.ErrorsAfter, b.RecoverAt), b.ErrorsAfter
	}
	return "", 0
}

// ejected says how often backends were.
func (r reading) ejected() string {
	if r.Ejections == 0 {
		return ""
	}
	return "backends are ejected " + times(r.Ejections)
}

// detected says how long the backend went on getting requests.
func (b site) detected() string {
	if b.result.Detection == nil {
		return ""
	}
	return fmt.Sprintf("%s got requests for another %s s", b.Name, threeDigits(*b.result.Detection))
}

// fail is how many requests came to nothing.
func (r reading) fail() string {
	n, verb := r.Errors+r.Dropped, "fail"
	if n == 1 {
		verb = "fails"
	}
	return fmt.Sprintf("%d of %s %s", n, plural(r.Requests, "request"), verb)
}

// noun is what shares are of, in words: without retries an attempt is a request.
func (r reading) noun() string {
	if r.Attempts > r.Requests {
		return "attempts"
	}
	return "requests"
}

// attraction says why a policy that looks at load prefers a backend that fails fast.
func (r reading) attraction(b site) string {
	for _, other := range r.scenario.Backends {
		if other.Name != b.Name && other.Mean <= b.errorTakes() {
			return ""
		}
	}
	if b.share < 1.1*r.fair(b.Backend) {
		return ""
	}
	switch r.Algorithm {
	case "least_conn", "p2c":
		return ": it looks the least busy"
	case "peak_ewma":
		return ": it looks the fastest"
	}
	return ""
}

func (r reading) whyNotEjected() string {
	s, n := r.scenario, len(r.scenario.Backends)
	switch {
	case !s.OutlierConfig.On():
		return "ejection is off"
	case r.EjectionsRefused == 0 && r.Ejections == 0:
		return "ejection is on and ejected nobody"
	case r.EjectionsRefused == 0:
		return fmt.Sprintf("%s did not keep it out", plural(r.Ejections, "ejection"))
	case r.Ejections == 0 && 100 > s.MaxEjectionPercent*float64(n):
		limit, one := apart(s.MaxEjectionPercent, 100/float64(n))
		return fmt.Sprintf("the cap of %s refused %s: one of %s would be %s", limit,
			plural(r.EjectionsRefused, "ejection"), plural(n, "backend"), one)
	}
	return fmt.Sprintf("the cap of %g%% refused %s", s.MaxEjectionPercent, plural(r.EjectionsRefused, "ejection"))
}

// otherShares says what the other policies send to a backend.
func (r reading) otherShares(name string) string {
	var said []string
	for i, o := range r.others[:min(len(r.others), mostOthers)] {
		verb := ""
		if i == 0 {
			verb = " sends it"
		}
		said = append(said, o.Algorithm+verb+" "+percent(shareOf(o, name)))
	}
	return strings.Join(said, ", ")
}

// mostOthers keeps the paragraph short when every policy was run.
const mostOthers = 3

// ejectionWorked is the incident mended.
func (r reading) ejectionWorked() (text, backend string) {
	if r.Ejections == 0 {
		return "", ""
	}
	b := r.failing()
	if b.fails() == 0 || !r.onlyFailing() {
		return sentences(fmt.Sprintf("under %s backends are ejected %s: %s", r.Algorithm, times(r.Ejections), r.consequence())), ""
	}
	return sentences(fmt.Sprintf("under %s %s is ejected %s: it gets %s of %s, and %s",
		r.Algorithm, b.Name, times(r.Ejections), percent(b.share), r.noun(), r.fail())), b.Name
}

// retriesAmplify speaks when retries multiply the load.
func (r reading) retriesAmplify() (text, backend string) {
	if r.perRequest() < 1.5 {
		return "", ""
	}
	if !r.steady() {
		_, fault := r.fault()
		return sentences(fault, fmt.Sprintf("retries make %s attempts of each request under %s", digits(r.perRequest(), 2), r.Algorithm), r.consequence()), ""
	}
	burden := ""
	if r.attempted() > r.poolServes() {
		burden = fmt.Sprintf(", more than the %s that the pool can serve", perSecond(r.poolServes()))
	}
	return sentences(fmt.Sprintf("retries turn %s into %s under %s: %s attempts for each request%s",
		perSecond(r.scenario.Rate), perSecond(r.attempted()), r.Algorithm, digits(r.perRequest(), 2), burden), r.consequence()), ""
}

// consequence is what clients notice.
func (r reading) consequence() string {
	if r.Errors+r.Dropped > 0 {
		return r.fail() + ", and p99 is " + milliseconds(r.Latency.P99)
	}
	return "p99 is " + milliseconds(r.Latency.P99)
}

// A load is called overload from overloadFrom on: nearer to 1, the length of a run
// decides what becomes of the queues. From limitFrom on it is worth a word.
const (
	limitFrom    = 0.95
	overloadFrom = 1.01
)

// poolOverloaded speaks when no policy could help.
func (r reading) poolOverloaded() (text, backend string) {
	can, gets := r.poolServes(), r.attempted()
	switch load := gets / can; {
	case load < limitFrom || !r.steady():
		return "", ""
	case load < overloadFrom:
		return sentences(fmt.Sprintf("the pool gets %s of the %s that it can serve", percent(load), perSecond(can)),
			"under "+r.Algorithm+" "+r.consequence(), r.tails()), ""
	}
	return sentences(fmt.Sprintf("the pool can serve %s and gets %s: no policy mends that", perSecond(can), perSecond(gets)),
		"under "+r.Algorithm+" "+r.consequence(), r.tails()), ""
}

// backendOverloaded speaks when the policy sends one backend more than it can do
// while the others have room.
func (r reading) backendOverloaded() (text, backend string) {
	b := r.busiest()
	said := fmt.Sprintf("%s can serve %s and gets %s under %s", b.Name, perSecond(b.serves), perSecond(b.gets), r.Algorithm)
	switch load := b.load(); {
	case load < limitFrom || !r.steady():
		return "", ""
	case load < overloadFrom:
		said = fmt.Sprintf("%s gets %s of the %s that it can serve under %s", b.Name, percent(load), perSecond(b.serves), r.Algorithm)
	case r.queues(b):
		said += ": its queue grows as long as requests arrive"
	}
	return sentences(said, r.consequence(), r.otherTails(b.Name)), b.Name
}

// otherTails says what the other policies send to a backend, and their p99.
func (r reading) otherTails(name string) string {
	var said []string
	for _, o := range r.others[:min(len(r.others), mostOthers)] {
		said = append(said, fmt.Sprintf("%s sends it %s and has a p99 of %s", o.Algorithm, percent(shareOf(o, name)), milliseconds(o.Latency.P99)))
	}
	return strings.Join(said, "; ")
}

// requestsDropped speaks when a limit turns requests away.
func (r reading) requestsDropped() (text, backend string) {
	if r.Dropped*100 < r.Requests {
		return "", ""
	}
	return sentences(fmt.Sprintf("%d of %s are dropped under %s: no backend could take them", r.Dropped, plural(r.Requests, "request"), r.Algorithm)), ""
}

// nothingWrong says the figure that matters.
func (r reading) nothingWrong() (text, backend string) {
	fail := "none fails"
	if r.Errors+r.Dropped > 0 {
		fail = r.fail()
	}
	said := fmt.Sprintf("%s answers 99%% of requests within %s and %s", r.Algorithm, milliseconds(r.Latency.P99), fail)
	if !r.steady() {
		return sentences(said, r.tails()), ""
	}
	b := r.busiest()
	return sentences(said, fmt.Sprintf("the busiest backend, %s, gets %s of what it can serve", b.Name, percent(b.load())), r.tails()), b.Name
}

// tails is the other policies' p99.
func (r reading) tails() string {
	var said []string
	for _, o := range r.others[:min(len(r.others), mostOthers)] {
		said = append(said, o.Algorithm+" has a p99 of "+milliseconds(o.Latency.P99))
	}
	return strings.Join(said, "; ")
}
