package page

import (
	"slices"
	"strconv"
	"strings"

	"minilb/core/param"
	"minilb/core/scenario"
)

// MaxBackends is how many backends the page offers. A link may hold more; then the page shows them all and adds none.
const MaxBackends = 12

// A Model is the state behind the page: the scenario, the policy whose charts are shown, and what was wrong with the
// last link. Its methods are what a person can do.
type Model struct {
	Notice string // why a link was refused, or what of it this build does not know; empty when all is well

	scenario scenario.Scenario
	params   *param.Set // over scenario, which therefore is only ever assigned to, never replaced
	ticks    tickCache
	link     string // of the scenario; empty when that has changed since it was written
	shown    string
	opened   string // the address that was loaded last
	sent     sent
	words    Words
	whys     []string // of needs, in the page's language
	variants []Variant
}

// Open is the page for the fragment of an address, with or without its #.
func Open(fragment string) *Model {
	m := &Model{scenario: scenario.Default(), ticks: tickCache{}}
	m.params = m.scenario.Params()
	m.Load(fragment)
	return m
}

// Load replaces the scenario by a link's. An empty fragment opens the first incident; a link that cannot be read opens
// the default scenario and says so.
func (m *Model) Load(fragment string) {
	m.opened = fragment
	s, from, notice := m.words.read(fragment)
	m.scenario, m.link, m.Notice, m.shown, m.sent = s, "", notice, "", from
}

// Scenario is a copy that later changes do not touch.
func (m *Model) Scenario() scenario.Scenario {
	s := m.scenario
	s.Algorithms = slices.Clone(s.Algorithms)
	s.Backends = slices.Clone(s.Backends)
	s.Unknown = slices.Clone(s.Unknown)
	return s
}

// Asked is a run as it is asked for: the scenario, and its link as it goes to the worker.
type Asked struct {
	Scenario scenario.Scenario
	Link     string
}

// Ask takes the scenario as it is now.
func (m *Model) Ask() Asked { return Asked{m.Scenario(), m.Link()} }

// Showing is the policy whose charts and sentence the page shows: the one chosen, or until somebody chooses, the one
// that does worst, because that is where there is something to see. It then stays while sliders move.
func (m *Model) Showing(o Outcome) string {
	if _, ok := o.Of(m.shown); !ok {
		m.shown = o.worst()
	}
	return m.shown
}

// Show chooses that policy.
func (m *Model) Show(policy string) { m.shown = policy }

// Controls are all parameters in schema order; the backends have cards of their own.
func (m *Model) Controls() []Control {
	var list []Control
	for _, p := range m.params.All() {
		if !ignored(p) {
			list = append(list, m.control(p))
		}
	}
	return list
}

func (m *Model) control(p *param.Param) Control {
	k := m.words.control(m.ticks.control(p.Name, p.Name, p))
	k.Idle = m.idle(p.Name, nil)
	return k
}

// part is a backend's control.
func (m *Model) part(i int, parts *param.Set, p *param.Param) Control {
	k := m.words.control(m.ticks.control(partID(i, p.Name), "backend."+p.Name, p))
	k.Idle = m.idle("backend."+p.Name, parts)
	return k
}

// Control is one of them, or one of a backend's, by its ID; ok is false when there is none, because a backend is gone.
func (m *Model) Control(id string) (k Control, ok bool) {
	found := m.with(id, func(_ string, p *param.Param) error {
		if i, _, ok := splitID(id); ok {
			k = m.part(i, m.scenario.Backends[i].Parts.Params(), p)
		} else {
			k = m.control(p)
		}
		return nil
	})
	return k, found == nil
}

// Set changes a parameter to the text of its field. The scenario stays as it was when the text is refused.
func (m *Model) Set(id, text string) error {
	return m.change(id, func(_ string, p *param.Param) error { return p.Set(strings.TrimSpace(text)) })
}

// Slide changes a parameter to one of its slider's stops.
func (m *Model) Slide(id string, position int) error {
	return m.change(id, func(key string, p *param.Param) error {
		stops := m.ticks.of(key, p)
		if !(0 <= position && position < len(stops)) {
			return m.words.errorf("{name}: the slider has no position {n}", named("name", p.Name), counted("n", position))
		}
		return p.SetFloat(stops[position])
	})
}

// Toggle adds a choice to a list or takes it away; the list keeps the order of the choices. The last policy cannot be
// taken away: a scenario without one has no results.
func (m *Model) Toggle(id, choice string, on bool) error {
	return m.change(id, func(_ string, p *param.Param) error {
		chosen := p.Texts()
		chosen = slices.DeleteFunc(chosen, func(name string) bool { return name == choice })
		if on {
			chosen = append(chosen, choice)
		}
		if len(chosen) == 0 && id == "algorithm" {
			return m.words.errorf("at least one policy must run")
		}
		slices.SortStableFunc(chosen, func(a, b string) int {
			return slices.Index(p.Choices, a) - slices.Index(p.Choices, b)
		})
		return p.SetTexts(chosen)
	})
}

// Reset gives a parameter its default back.
func (m *Model) Reset(id string) error {
	return m.change(id, func(_ string, p *param.Param) error {
		p.Reset(param.Scenario)
		return nil
	})
}

// ResetAll gives every parameter its default back, the backends among them.
func (m *Model) ResetAll() {
	m.scenario, m.link, m.Notice, m.shown = scenario.Default(), "", "", ""
}

// change is with for whatever may change the scenario.
func (m *Model) change(id string, do func(key string, p *param.Param) error) error {
	m.link = ""
	return m.with(id, do)
}

// with finds a parameter by its ID on the page, lets change work on it, and keeps what it did to a backend.
func (m *Model) with(id string, change func(key string, p *param.Param) error) error {
	if i, part, ok := splitID(id); ok {
		if !(0 <= i && i < len(m.scenario.Backends)) {
			return m.words.errorf("there is no backend {n}", counted("n", i+1))
		}
		return m.withPart(i, part, change)
	}
	p := m.params.Lookup(id)
	if p == nil {
		return m.words.errorf("there is no parameter {name}", named("name", quoted(id)))
	}
	return change(p.Name, p)
}

func (m *Model) withPart(i int, part string, change func(string, *param.Param) error) error {
	p := m.scenario.Backends[i].Parts.Params().Lookup(part)
	if p == nil {
		return m.words.errorf("a backend has no {name}", named("name", quoted(part)))
	}
	return change("backend."+part, p)
}

// partID is the ID of one part of one backend: b0.mean. It holds a position, not a name, so that renaming changes none.
func partID(i int, part string) string { return "b" + strconv.Itoa(i) + "." + part }

func splitID(id string) (i int, part string, ok bool) {
	before, part, found := strings.Cut(id, ".")
	i, err := strconv.Atoi(strings.TrimPrefix(before, "b"))
	return i, part, found && err == nil
}
