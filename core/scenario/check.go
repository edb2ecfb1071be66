package scenario

import (
	"cmp"
	"fmt"
	"strings"

	"minilb/core/lb"
	"minilb/core/param"
	"minilb/core/pick"
)

// Check reports everything that no single value can say: how many backends
// there are and whether their names differ, what to run, and what the parts of
// the balancer make of their values together. The error is Faults.
func (s Scenario) Check() error {
	var f Faults
	if n := len(s.Backends); !(1 <= n && n <= lb.MaxBackends) {
		f.say("backend", s.Params().Lookup("backend").String(), fmt.Sprintf("%d backends", n), fmt.Sprintf("1 to %d", lb.MaxBackends))
	}
	if len(s.Algorithms) == 0 {
		f.say("algorithm", "", "nothing to run", "one or more of "+strings.Join(pick.Names(), ", "))
	}
	f.add(s.checkLists())
	f.add(s.checkTraffic())
	f.add(s.Balancer.Check())
	return f.err()
}

// checkLists reports names that are not names and what is listed twice.
func (s Scenario) checkLists() error {
	var f Faults
	seen := map[string]bool{}
	for _, b := range s.Backends {
		if err := cmp.Or(b.LB().Check(), b.check()); err != nil {
			f.say("backend", b.text(), err.Error(), "")
		} else if seen[b.Name] {
			f.say("backend", b.text(), "a second backend of that name", "a name of its own for each")
		}
		seen[b.Name] = true
	}
	chosen := map[string]bool{}
	for _, name := range s.Algorithms {
		if _, ok := pick.Find(name); !ok {
			f.add(unknownAlgorithm(name))
		} else if chosen[name] {
			f.say("algorithm", name, "listed twice", "each policy once")
		}
		chosen[name] = true
	}
	return f.err()
}

func unknownAlgorithm(name string) error {
	return &param.Error{Name: "algorithm", Value: name, Problem: "unknown", Accepted: strings.Join(pick.Names(), ", ")}
}

// maxRequests is how many requests one run may have.
const maxRequests = 100_000_000

// checkTraffic reports what only makes sense together.
func (s Scenario) checkTraffic() error {
	var f Faults
	if s.Arrivals == "trace" && len(s.Trace) == 0 {
		f.say("arrivals", s.Arrivals, "without a trace, which a link does not hold", "--trace FILE, or other arrivals")
	}
	if n := s.Rate * s.Peak * s.Duration.Seconds(); s.Arrivals != "trace" && !(n <= maxRequests) {
		f.say("duration", param.FormatDuration(s.Duration), fmt.Sprintf("up to %.3g requests at this rate", n), fmt.Sprintf("at most %d", maxRequests))
	}
	if s.Warmup > 0 && s.Duration > 0 && s.Warmup >= s.Duration {
		f.say("warmup", param.FormatDuration(s.Warmup), "leaves nothing of the duration", "less than "+param.FormatDuration(s.Duration))
	}
	return f.err()
}
