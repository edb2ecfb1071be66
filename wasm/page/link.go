package page

import (
	"strconv"
	"strings"

	"minilb/core/scenario"
)

// firstSight is the preset that an address without a scenario opens: something is wrong in it, and one button fixes it.
const firstSight = "monday"

// maxShownLink is how much of a link is looked at; the codec has a limit of its own, far below this one.
const maxShownLink = 1 << 20

// read turns the fragment of an address into a scenario, and says what the person must know about it.
func (w Words) read(fragment string) (s scenario.Scenario, from sent, notice string) {
	fragment = strings.TrimPrefix(fragment, "#")
	if fragment == "" {
		return opening(), sent{}, ""
	}
	s, stamp, err := scenario.DecodeStamped(unescape(fragment[:min(len(fragment), maxShownLink)]))
	if err != nil {
		return scenario.Default(), sent{}, w.Say("This link cannot be read, so the page shows the default scenario: {why}", named("why", w.Error(err)))
	}
	if err := s.Check(); err != nil {
		return scenario.Default(), sent{}, w.Say("This link is no scenario that can run, so the page shows the default one: {why}", named("why", w.Error(err)))
	}
	return s, sent{scenario.Encode(s), stamp}, w.unknown(s)
}

// unescape undoes what some programs do to the links they pass on: %3B for a semicolon. A link itself has no percent
// sign, so nothing else is lost.
func unescape(fragment string) string {
	if !strings.Contains(fragment, "%") {
		return fragment
	}
	var b strings.Builder
	for i := 0; i < len(fragment); i++ {
		if fragment[i] == '%' && i+2 < len(fragment) {
			if code, err := strconv.ParseUint(fragment[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(code))
				i += 2
				continue
			}
		}
		b.WriteByte(fragment[i])
	}
	return b.String()
}

func opening() scenario.Scenario {
	p, ok := scenario.FindPreset(firstSight)
	if !ok {
		return scenario.Default()
	}
	s, err := scenario.Decode(p.Link)
	if err != nil {
		return scenario.Default()
	}
	return s
}

func (w Words) unknown(s scenario.Scenario) string {
	if len(s.Unknown) == 0 {
		return ""
	}
	var pairs []string
	for _, u := range s.Unknown {
		pairs = append(pairs, u.Key+"="+u.Value)
	}
	return w.Say("This build does not know {n?# setting|# settings} of this link, and passes it on unchanged: {pairs}",
		counted("n", len(pairs)), named("pairs", strings.Join(pairs, ", ")))
}

// Link is the scenario in the form of links, beginning with #. It is asked for many times between two changes and takes
// milliseconds to write, so it is kept.
func (m *Model) Link() string {
	if m.link == "" {
		m.link = scenario.Encode(m.scenario)
	}
	return m.link
}

// Command is the command line that prints the results the page shows.
func (m *Model) Command() string { return m.scenario.Command() }

// Incident is a preset as a button; Active when it is the scenario on the page.
type Incident struct {
	scenario.Preset
	Active bool
}

// Incidents are all presets.
func (m *Model) Incidents() []Incident {
	link := m.Link()
	list := make([]Incident, len(scenario.Presets))
	for i, p := range scenario.Presets {
		p.Title, p.Sentence = m.words.T(p.Title), m.words.T(p.Sentence)
		list[i] = Incident{p, p.Link == link}
	}
	return list
}
