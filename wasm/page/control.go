package page

import (
	"strings"

	"minilb/core/param"
	"minilb/core/pick"
)

// A Look is the kind of form element that shows a parameter.
type Look string

// The looks. A Slider always has a number field beside it.
const (
	Slider Look = "slider"
	Field  Look = "field"
	Switch Look = "switch"
	Menu   Look = "menu"
	Checks Look = "checks" // several of a few
)

// A Control is one parameter as the page shows it now. It is generated from the schema, never written by hand.
type Control struct {
	ID, Label, Unit, Help, Group string

	Look     Look
	Text     string // the value as the number field, the menu or the switch shows it
	Spoken   string // the value with its unit, for a screen reader on the slider
	Default  string
	Stops    int // of the slider: positions 0 to Stops-1
	Position int
	Choices  []Choice
	Changed  bool
	Advanced bool
	Idle     string // why it has no effect now; empty when it has
}

// A Choice is one entry of a menu or of a row of check boxes.
type Choice struct {
	Name, Help string
	Chosen     bool
}

// control describes a parameter; id is unique on the page, key is the same for parameters that share a slider's scale.
func (c tickCache) control(id, key string, p *param.Param) Control {
	k := Control{
		ID: id, Label: label(p.Name), Unit: p.Unit, Help: p.Help, Group: p.Group,
		Look: Field, Text: p.String(), Spoken: strings.TrimSpace(p.String() + " " + p.Unit),
		Default: strings.Join(p.Default(param.Scenario), ", "),
		Changed: p.Changed(param.Scenario), Advanced: p.Advanced,
	}
	if k.Unit == k.Label {
		k.Unit = "" // "requests" says it
	}
	stops := c.of(key, p)
	switch {
	case p.Choices != nil:
		k.Look, k.Choices = Menu, choices(p)
		if p.List {
			k.Look = Checks
		}
	case p.Kind == param.Bool:
		k.Look = Switch
	case stops != nil:
		k.Look, k.Stops, k.Position = Slider, len(stops), nearestTick(stops, p.Float())
	}
	return k
}

// label is a parameter's name in words. The name itself is the flag and the key, so it stays recognisable.
func label(name string) string { return strings.ReplaceAll(name, "-", " ") }

func choices(p *param.Param) []Choice {
	chosen := map[string]bool{}
	for _, text := range p.Texts() {
		chosen[text] = true
	}
	var list []Choice
	for _, name := range p.Choices {
		if p.Name == "arrivals" && name == "trace" && !chosen[name] {
			continue // it needs a file, which a link does not hold
		}
		c := Choice{Name: name, Chosen: chosen[name]}
		if policy, ok := pick.Find(name); ok && p.Name == "algorithm" {
			c.Help = policy.Summary + ". For when " + policy.When
		}
		list = append(list, c)
	}
	return list
}

// Matches says whether a control is meant by what a person typed into the search field: all words of it are in its name,
// its unit or its help.
func (k Control) Matches(query string) bool {
	text := strings.ToLower(k.Label + " " + k.ID + " " + k.Unit + " " + k.Group + " " + k.Help)
	for _, word := range strings.Fields(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
