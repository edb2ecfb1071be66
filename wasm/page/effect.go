package page

import (
	"slices"
	"strings"

	"minilb/core/param"
)

// A need says when parameters have an effect at all: if one of the wants holds. The page dims the others and says why;
// they stay usable, for a person may prepare them before the one that they wait for.
type need struct {
	names []string // of parameters, as in the schema; a backend's with "backend." before them, all or none
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
	{[]string{"ring-points", "hash-balance-factor"}, []want{{"algorithm", "ring_hash"}}},
	{[]string{"table-size"}, []want{{"algorithm", "maglev"}}},
	{[]string{"choices"}, []want{{"algorithm", "p2c,peak_ewma"}}},
	{[]string{"ewma-decay"}, []want{{"algorithm", "peak_ewma"}}},
	{[]string{"keys", "keys-zipf"}, []want{byKey}},
	{[]string{"stale"}, []want{{"algorithm", "least_conn,p2c,peak_ewma"}}},

	{[]string{"peak"}, []want{{"arrivals", "bursty,ramp,step,daily"}}},
	{[]string{"period"}, []want{{"arrivals", "bursty,daily"}}},
	{[]string{"change-at", "change-for"}, []want{{"arrivals", "ramp,step"}}},
	{[]string{"clients", "think"}, []want{{"arrivals", "closed"}}},
	{[]string{"rate"}, []want{{"arrivals", "poisson,constant,bursty,ramp,step,daily"}}},
	{[]string{"requests"}, []want{{"duration", "0"}}},
	{[]string{"client-backoff"}, []want{{"client-retries", ">0"}}},
	{[]string{"abandon"}, []want{{"client-timeout", ">0"}, {"per-try-timeout", ">0"}, checksOn}},
	{[]string{"users"}, []want{{"sticky-share", ">0"}, {"layer", "l4"}}},
	{[]string{"requests-per-connection", "keepalive-lifetime"}, []want{{"layer", "l4"}}},
	{[]string{"drain-sticky"}, []want{{"sticky-share", ">0"}}},
	{[]string{"drain-sticky"}, []want{{"backend.drain-at", ">0"}}},

	{[]string{"check-timeout", "check-jitter", "check-type", "rise", "fall", "initial", "uneject-on-check", "probe-loss"}, []want{checksOn}},
	{[]string{"outlier-interval", "base-ejection", "max-ejection", "max-ejection-percent", "always-eject-one-host", "ejection-decay", "error-statuses", "uneject-on-check"}, ejectionOn},
	{[]string{"retry-on", "backoff", "backoff-max", "budget-percent", "min-retry-concurrency", "budget-wait"}, []want{retriesOn}},
	{[]string{"backoff-max"}, []want{{"backoff", ">0"}}},
	{[]string{"queue", "queue-timeout"}, []want{{"max-inflight", ">0"}}},
	{[]string{"queue-timeout"}, []want{{"queue", ">0"}}},
	{[]string{"dependency-share"}, []want{{"dependency-down", "set"}}},

	{[]string{"backend.cv"}, []want{{"backend.service", "lognormal,pareto,bimodal"}}},
	{[]string{"backend.errors-after"}, []want{{"backend.errors", ">0"}}},
	{[]string{"backend.error-ms"}, []want{{"backend.errors", ">0"}, {"dependency-down", "set"}}},
	{[]string{"backend.slow-after", "backend.slow-until"}, []want{{"backend.slow-factor", "!1"}}},
	{[]string{"backend.stall-for"}, []want{{"backend.stall-at", ">0"}}},
	{[]string{"backend.drain-for"}, []want{{"backend.drain-at", ">0"}}},
	{[]string{"backend.cold-factor"}, []want{{"backend.cold-for", ">0"}}},
	{[]string{"backend.recover-at"}, []want{{"backend.errors", ">0"}, {"backend.slow-factor", "!1"}, {"backend.crash-at", ">0"}, {"backend.hang-at", ">0"}, {"backend.stall-at", ">0"}}},
}

// idle says why a parameter has no effect now; empty when it has one. Of a backend's parameter, parts are that backend's.
func (m *Model) idle(name string, parts *param.Set) string {
	for i, n := range needs {
		if !slices.Contains(n.names, name) {
			continue
		}
		if why := m.lacks(i, parts); why != "" {
			return why
		}
	}
	return ""
}

// lacks says what a need still wants; empty when it has it. The sentences are kept: they change with the language alone.
func (m *Model) lacks(i int, parts *param.Set) string {
	if slices.ContainsFunc(needs[i].any, func(w want) bool { return m.holds(w, parts) }) {
		return ""
	}
	if m.whys == nil {
		m.whys = make([]string, len(needs))
	}
	if m.whys[i] == "" {
		m.whys[i] = m.words.only(needs[i].any)
	}
	return m.whys[i]
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

// Effects are those of all controls that can be without. It is asked for at each movement of a slider, so it goes through
// the table once and builds no controls.
func (m *Model) Effects() []Effect {
	var list []Effect
	parts := make([]*param.Set, len(m.scenario.Backends))
	for i := range parts {
		parts[i] = m.scenario.Backends[i].Parts.Params()
	}
	for at, n := range needs {
		if !strings.HasPrefix(n.names[0], "backend.") {
			list = put(list, n.names, func(name string) string { return name }, m.lacks(at, nil))
			continue
		}
		for i := range parts {
			id := func(name string) string { return partID(i, strings.TrimPrefix(name, "backend.")) }
			list = put(list, n.names, id, m.lacks(at, parts[i]))
		}
	}
	return list
}

// put adds the controls of one need; of two needs of one control the first that is not met speaks.
func put(list []Effect, names []string, id func(name string) string, why string) []Effect {
	for _, name := range names {
		e := Effect{id(name), why}
		at := slices.IndexFunc(list, func(other Effect) bool { return other.ID == e.ID })
		switch {
		case at < 0:
			list = append(list, e)
		case list[at].Why == "":
			list[at].Why = why
		}
	}
	return list
}
