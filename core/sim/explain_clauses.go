package sim

import "time"

// during says when something is so, if it is not always.
func during(from, to time.Duration) Part {
	start, end := Measured("from", AsInstant, from.Seconds()), Measured("to", AsInstant, to.Seconds())
	switch {
	case from > 0 && to > 0:
		return inner("during", finding(fromTo, start, end))
	case from > 0:
		return inner("during", finding(fromOn, start))
	case to > 0:
		return inner("during", finding(until, end))
	}
	return Part{Place: "during"}
}

// ends is the earlier of two ends, of which 0 is none.
func ends(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// whole says a share, and of the whole that it is all.
func whole(place string, share float64, all, some Kind) Part {
	if share == 1 {
		return inner(place, finding(all))
	}
	return inner(place, finding(some, Measured("share", AsShare, share)))
}

// failures are how many requests came to nothing.
func (r reading) failures() []Part {
	return []Part{Counted("failed", r.Errors+r.Dropped), Counted("n", r.Requests)}
}

// consequence is what clients notice.
func (r reading) consequence() Finding {
	p99 := Measured("p99", AsMillis, r.Latency.P99)
	if r.Errors+r.Dropped > 0 {
		return finding(failAndTail, append(r.failures(), p99)...)
	}
	return finding(onlyTail, p99)
}

func (r reading) under(what Finding) Finding {
	return finding(underPolicy, Named("policy", r.Algorithm), inner("what", what))
}

// noun is what shares are of: without retries an attempt is a request.
func (r reading) noun() Part {
	if r.Attempts > r.Requests {
		return inner("noun", finding(ofAttempts))
	}
	return inner("noun", finding(ofRequests))
}

// attraction says why a policy that looks at load prefers a backend that fails fast.
func (r reading) attraction(b site) Part {
	none := Part{Place: "why"}
	for _, other := range r.scenario.Backends {
		if other.Name != b.Name && other.Mean <= b.errorTakes() {
			return none
		}
	}
	if b.share < 1.1*r.fair(b.Backend) {
		return none
	}
	switch r.Algorithm {
	case "least_conn", "p2c":
		return inner("why", finding(looksIdle))
	case "peak_ewma":
		return inner("why", finding(looksFast))
	}
	return none
}

func (r reading) whyNotEjected() Finding {
	s, n := r.scenario, len(r.scenario.Backends)
	refused := Counted("n", r.EjectionsRefused)
	switch {
	case !s.OutlierConfig.On():
		return finding(ejectionOff)
	case r.EjectionsRefused == 0 && r.Ejections == 0:
		return finding(ejectedNobody)
	case r.EjectionsRefused == 0:
		return finding(didNotKeepOut, Counted("n", r.Ejections))
	case r.Ejections == 0 && 100 > s.MaxEjectionPercent*float64(n):
		limit, one := apart(s.MaxEjectionPercent, 100/float64(n))
		return finding(theCapRefusedOne, Measured("cap", AsPercent, limit), refused, Counted("backends", n), Measured("one", AsPercent, one))
	}
	return finding(theCapRefused, Measured("cap", AsPercent, s.MaxEjectionPercent), refused)
}

// mostOthers keeps the paragraph short when every policy was run.
const mostOthers = 3

// others is one sentence of what each other policy does; nothing without others.
func (r reading) othersSay(k Kind, say func(i int, o Result) Finding) []Finding {
	var list []Finding
	for i, o := range r.others[:min(len(r.others), mostOthers)] {
		list = append(list, say(i, o))
	}
	if list == nil {
		return nil
	}
	return []Finding{finding(k, inner("list", list...))}
}

// otherShares says what the other policies send to a backend.
func (r reading) otherShares(name string) []Finding {
	return r.othersSay(otherShares, func(i int, o Result) Finding {
		k := sendsItToo
		if i == 0 {
			k = sendsIt
		}
		return finding(k, Named("policy", o.Algorithm), Measured("share", AsShare, shareOf(o, name)))
	})
}

// otherTails says what the other policies send to a backend, and their p99.
func (r reading) otherTails(name string) []Finding {
	return r.othersSay(otherTails, func(_ int, o Result) Finding {
		return finding(sendsItTail, Named("policy", o.Algorithm), Measured("share", AsShare, shareOf(o, name)), Measured("p99", AsMillis, o.Latency.P99))
	})
}

// tails is the other policies' p99.
func (r reading) tails() []Finding {
	return r.othersSay(theTails, func(_ int, o Result) Finding {
		return finding(hasTail, Named("policy", o.Algorithm), Measured("p99", AsMillis, o.Latency.P99))
	})
}
