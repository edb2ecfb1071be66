package page

import (
	"fmt"
	"strings"

	"minilb/core/pick"
	"minilb/core/scenario"
)

// Verdict is one or two sentences that say what is wrong with a run, or that nothing is, each with its number computed
// from the run. It is about one policy; where another one that ran does much better, it says which.
func Verdict(o Outcome, policy string) string {
	f, ok := o.Of(policy)
	if !ok {
		return ""
	}
	r := reading{o.Scenario, f}
	for _, say := range []func(reading) string{
		reading.nothingAnswered, reading.failingFast, reading.ejecting, reading.dropping, reading.overloaded,
	} {
		if text := say(r); text != "" {
			return sentences(text, better(o, f))
		}
	}
	return sentences(r.calm(), better(o, f))
}

// A reading is a scenario and what one policy made of it.
type reading struct {
	scenario.Scenario
	Figures
}

// sentences begins each with a capital, except for a policy's name: that is written as one types it.
func sentences(list ...string) string {
	var said []string
	for _, s := range list {
		first, _, _ := strings.Cut(s, " ")
		if _, name := pick.Find(first); s != "" && !name {
			s = strings.ToUpper(s[:1]) + s[1:]
		}
		if s != "" {
			said = append(said, s+".")
		}
	}
	return strings.Join(said, " ")
}

func (r reading) nothingAnswered() string {
	if r.Completed > 0 {
		return ""
	}
	return fmt.Sprintf("no request was answered: all %d were dropped, because no backend could take them", r.Requests)
}

// failingFast is the incident of Monday 09:10: one backend answers with errors and nobody takes it out.
func (r reading) failingFast() string {
	b, share := r.worst()
	if b.Errors == 0 || share == 0 || r.Failed() < 0.005 || r.Ejections > 0 && r.Failed() < 0.05 {
		return ""
	}
	return fmt.Sprintf("%s sends %s of the requests to %s, which answers %s of them with errors: %d of %d requests fail%s",
		r.Algorithm, wholePercent(share), b.Name, all(b.Errors), r.Errors+r.Dropped, r.Requests, r.whyNotEjected())
}

// worst is the backend that causes the most errors.
func (r reading) worst() (worst scenario.Backend, share float64) {
	for _, b := range r.Backends {
		if s := r.Share[b.Name]; s*b.Errors > share*worst.Errors {
			worst, share = b, s
		}
	}
	return worst, share
}

func all(share float64) string {
	if share == 1 {
		return "all"
	}
	return wholePercent(share)
}

func (r reading) whyNotEjected() string {
	switch {
	case r.EjectionsRefused > 0 && r.Ejections == 0:
		return fmt.Sprintf("; the cap of %g%% lets none of %d backends be ejected", r.MaxEjectionPercent, len(r.Backends))
	case r.EjectionsRefused > 0:
		return fmt.Sprintf("; the cap of %g%% refused %s", r.MaxEjectionPercent, plural(r.EjectionsRefused, "ejection"))
	}
	return ""
}

// ejecting is the incident fixed.
func (r reading) ejecting() string {
	b, share := r.worst()
	if r.Ejections == 0 || b.Errors == 0 {
		return ""
	}
	return fmt.Sprintf("ejection takes %s out %s: it gets %s of the requests, and %d of %d fail",
		b.Name, countOf(r.Ejections), wholePercent(share), r.Errors+r.Dropped, r.Requests)
}

func countOf(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

func (r reading) dropping() string {
	if r.Dropped*100 < r.Requests {
		return ""
	}
	return fmt.Sprintf("%d of %d requests are dropped: no backend could take them", r.Dropped, r.Requests)
}

// overloaded compares the work that a backend is sent with what its workers can do.
func (r reading) overloaded() string {
	b, load := r.busiest()
	if load < 0.95 {
		return ""
	}
	return fmt.Sprintf("%s sends %s of the requests to %s, which is work for %s of its %s: p99 is %s",
		r.Algorithm, wholePercent(r.Share[b.Name]), b.Name, wholePercent(load), plural(b.Capacity, "worker"),
		Milliseconds(r.Latency.P99))
}

// busiest is the backend with the highest load, and that load: work that arrives, in seconds per second and worker.
func (r reading) busiest() (busiest scenario.Backend, load float64) {
	for _, b := range r.Backends {
		attempts := r.Rate * r.Share[b.Name] * float64(r.Attempts) / float64(max(1, r.Requests))
		if l := attempts * b.Mean / 1000 / float64(b.Capacity); l > load {
			busiest, load = b, l
		}
	}
	return busiest, load
}

func (r reading) calm() string {
	b, load := r.busiest()
	failed := "none fails"
	if n := r.Errors + r.Dropped; n > 0 {
		failed = fmt.Sprintf("%d of %d fail", n, r.Requests)
	}
	return fmt.Sprintf("%s answers %s of requests within %s and %s; the busiest backend, %s, is %s occupied",
		r.Algorithm, "99%", Milliseconds(r.Latency.P99), failed, b.Name, wholePercent(load))
}

// better says what another policy of the same run makes of it, when that is a difference worth a sentence.
func better(o Outcome, f Figures) string {
	best := bestOf(o, f)
	switch {
	case best.Algorithm == f.Algorithm:
		return ""
	case best.Errors+best.Dropped < f.Errors+f.Dropped && f.Failed() > 0.01:
		return fmt.Sprintf("with %s %d fail", best.Algorithm, best.Errors+best.Dropped)
	}
	return fmt.Sprintf("with %s p99 is %s, %s lower", best.Algorithm, Milliseconds(best.Latency.P99), times(f.Latency.P99/best.Latency.P99))
}

// bestOf is the policy that improves most on these figures, or they themselves.
func bestOf(o Outcome, f Figures) Figures {
	best := f
	for _, other := range o.Results {
		if improves(other, best) {
			best = other
		}
	}
	return best
}

// improves is true of clearly fewer failed requests, or of as few and a p99 that is at least twice as low: less than
// that is not worth changing a policy for.
func improves(a, b Figures) bool {
	if a.Completed == 0 {
		return false
	}
	if b.Failed() > 0.01 && a.Failed() < b.Failed()/1.25 {
		return true
	}
	return a.Failed() <= b.Failed()*1.02 && a.Latency.P99 < b.Latency.P99/2
}
