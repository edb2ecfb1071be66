package page

import (
	"slices"
	"strings"

	"minilb/core/param"
)

// A need says when parameters have an effect at all: if one of the wants holds. The page dims the others and says why;
// they stay usable, for a person may prepare them before the one that they wait for.
type need struct {
	names string // of parameters, as in the schema; a backend's with "backend." before them
	any   []want
}

// A want is a parameter and the values that it must have: some by name, ">0", "!1" (any other than 1) or "set". Of a
// backend's parameter it is asked of the same backend, and of all parameters beside them of any backend.
type want struct{ name, value string }

var (
	byKey      = want{"algorithm", "modulo_hash,ring_hash,maglev,rendezvous"}
	checksOn   = want{"check-interval", ">0"}
	retriesOn  = want{"retries", ">0"}
	ejectionOn = []want{{"consecutive-5xx", ">0"}, {"consecutive-gateway", ">0"}, {"success-rate-stdev", ">0"}, {"failure-percentage", ">0"}}
)

// needs is the whole table. A parameter that stands in several lines needs all of them.
var needs = []need{
	{"ring-points hash-balance-factor", []want{{"algorithm", "ring_hash"}}},
	{"table-size", []want{{"algorithm", "maglev"}}},
	{"choices", []want{{"algorithm", "p2c,peak_ewma"}}},
	{"ewma-decay", []want{{"algorithm", "peak_ewma"}}},
	{"keys keys-zipf", []want{byKey}},
	{"stale", []want{{"algorithm", "least_conn,p2c,peak_ewma"}}},

	{"peak", []want{{"arrivals", "bursty,ramp,step,daily"}}},
	{"period", []want{{"arrivals", "bursty,daily"}}},
	{"change-at change-for", []want{{"arrivals", "ramp,step"}}},
	{"clients think", []want{{"arrivals", "closed"}}},
	{"rate", []want{{"arrivals", "poisson,constant,bursty,ramp,step,daily"}}},
	{"requests", []want{{"duration", "0"}}},
	{"client-backoff", []want{{"client-retries", ">0"}}},
	{"abandon", []want{{"client-timeout", ">0"}, {"per-try-timeout", ">0"}, checksOn}},
	{"users", []want{{"sticky-share", ">0"}, {"layer", "l4"}}},
	{"requests-per-connection keepalive-lifetime", []want{{"layer", "l4"}}},
	{"drain-sticky", []want{{"sticky-share", ">0"}}},
	{"drain-sticky", []want{{"backend.drain-at", ">0"}}},

	{"check-timeout check-jitter check-type rise fall initial uneject-on-check probe-loss", []want{checksOn}},
	{"outlier-interval base-ejection max-ejection max-ejection-percent always-eject-one-host ejection-decay error-statuses uneject-on-check", ejectionOn},
	{"retry-on backoff backoff-max budget-percent min-retry-concurrency budget-wait", []want{retriesOn}},
	{"backoff-max", []want{{"backoff", ">0"}}},
	{"queue queue-timeout", []want{{"max-inflight", ">0"}}},
	{"queue-timeout", []want{{"queue", ">0"}}},
	{"dependency-share", []want{{"dependency-down", "set"}}},

	{"backend.cv", []want{{"backend.service", "lognormal,pareto,bimodal"}}},
	{"backend.errors-after", []want{{"backend.errors", ">0"}}},
	{"backend.error-ms", []want{{"backend.errors", ">0"}, {"dependency-down", "set"}}},
	{"backend.slow-after backend.slow-until", []want{{"backend.slow-factor", "!1"}}},
	{"backend.stall-for", []want{{"backend.stall-at", ">0"}}},
	{"backend.drain-for", []want{{"backend.drain-at", ">0"}}},
	{"backend.cold-factor", []want{{"backend.cold-for", ">0"}}},
	{"backend.recover-at", []want{{"backend.errors", ">0"}, {"backend.slow-factor", "!1"}, {"backend.crash-at", ">0"}, {"backend.hang-at", ">0"}, {"backend.stall-at", ">0"}}},
}

// idle says why a parameter has no effect now; empty when it has one. Of a backend's parameter, parts are that backend's.
func (m *Model) idle(name string, parts *param.Set) string {
	for _, n := range needs {
		if !slices.Contains(strings.Fields(n.names), name) {
			continue
		}
		if !slices.ContainsFunc(n.any, func(w want) bool { return m.holds(w, parts) }) {
			return m.words.only(n.any)
		}
	}
	return ""
}

func (m *Model) holds(w want, parts *param.Set) bool {
	part, ofBackend := strings.CutPrefix(w.name, "backend.")
	switch {
	case !ofBackend:
		return w.holds(m.params.Lookup(w.name))
	case parts != nil:
		return w.holds(parts.Lookup(part))
	}
	for i := range m.scenario.Backends {
		if w.holds(m.scenario.Backends[i].Parts.Params().Lookup(part)) {
			return true
		}
	}
	return false
}

func (w want) holds(p *param.Param) bool {
	other, not := strings.CutPrefix(w.value, "!")
	switch {
	case w.value == ">0":
		return p.Float() > 0
	case w.value == "set":
		return p.String() != ""
	case not:
		return p.String() != other
	}
	return slices.ContainsFunc(p.Texts(), func(text string) bool { return slices.Contains(strings.Split(w.value, ","), text) })
}

// only says which of several things would give a parameter an effect; what must be above 0 is said in one.
func (w Words) only(any []want) string {
	var list []string
	for i, one := range any {
		text := one.said()
		if one.value == ">0" && (i+1 == len(any) || any[i+1].value != one.value) {
			text = w.Say("{name} above 0", named("name", text))
		}
		if other, not := strings.CutPrefix(one.value, "!"); not {
			text = w.Say("{name} other than {value}", named("name", text), named("value", other))
		}
		list = append(list, text)
	}
	last := len(list) - 1
	text := list[last]
	if last > 0 {
		text = strings.Join(list[:last], ", ") + w.T(" or ") + text
	}
	return w.Say("no effect now: only with {list}", named("list", text))
}

// said is a parameter as one types it, with the values that it may have by name.
func (one want) said() string {
	name := "--" + one.name
	if part, ok := strings.CutPrefix(one.name, "backend."); ok {
		name = strings.ReplaceAll(part, "-", "_") // as in --backend
	}
	if strings.ContainsAny(one.value[:1], ">!") || one.value == "set" {
		return name
	}
	return name + " " + strings.ReplaceAll(one.value, ",", ", ")
}

// An Effect is whether a control has one now: Why says why not, and is empty when it has.
type Effect struct{ ID, Why string }

// Effects are those of all controls that can be without. It is asked for at each movement of a slider, so it looks at
// the table and builds no controls.
func (m *Model) Effects() []Effect {
	var list []Effect
	parts := make([]*param.Set, len(m.scenario.Backends)) // made once: reading a schema costs more than all the rest
	for i := range parts {
		parts[i] = m.scenario.Backends[i].Parts.Params()
	}
	seen := map[string]bool{}
	for _, n := range needs {
		for _, name := range strings.Fields(n.names) {
			if seen[name] {
				continue
			}
			seen[name] = true
			part, ofBackend := strings.CutPrefix(name, "backend.")
			if !ofBackend {
				list = append(list, Effect{name, m.idle(name, nil)})
				continue
			}
			for i := range parts {
				list = append(list, Effect{partID(i, part), m.idle(name, parts[i])})
			}
		}
	}
	return list
}
