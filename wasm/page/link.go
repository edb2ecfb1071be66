package page

import (
	"fmt"
	"strconv"
	"strings"

	"minilb/core/scenario"
)

// firstSight is the preset that an address without a scenario opens: something is wrong in it, and one button fixes it.
const firstSight = "monday"

// maxShownLink is how much of a link is looked at; the codec has a limit of its own, far below this one.
const maxShownLink = 1 << 20

// read turns the fragment of an address into a scenario, and says what the person must know about it.
func read(fragment string) (s scenario.Scenario, from sent, notice string) {
	fragment = strings.TrimPrefix(fragment, "#")
	if fragment == "" {
		return opening(), sent{}, ""
	}
	s, stamp, err := scenario.DecodeStamped(unescape(fragment[:min(len(fragment), maxShownLink)]))
	if err != nil {
		return scenario.Default(), sent{}, "This link cannot be read, so the page shows the default scenario: " + err.Error()
	}
	if err := s.Check(); err != nil {
		return scenario.Default(), sent{}, "This link is no scenario that can run, so the page shows the default one: " + err.Error()
	}
	return s, sent{scenario.Encode(s), stamp}, unknown(s)
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

func unknown(s scenario.Scenario) string {
	if len(s.Unknown) == 0 {
		return ""
	}
	var pairs []string
	for _, u := range s.Unknown {
		pairs = append(pairs, u.Key+"="+u.Value)
	}
	return fmt.Sprintf("This build does not know %s of this link, and passes it on unchanged: %s",
		plural(len(pairs), "setting"), strings.Join(pairs, ", "))
}

// Link is the scenario in the form of links, beginning with #.
func (m *Model) Link() string { return scenario.Encode(m.scenario) }

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
