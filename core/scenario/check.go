package scenario

import (
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
	f.add(s.Balancer.Check())
	return f.err()
}

// checkLists reports names that are not names and what is listed twice.
func (s Scenario) checkLists() error {
	var f Faults
	seen := map[string]bool{}
	for _, b := range s.Backends {
		if err := b.LB().Check(); err != nil {
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
