package page

import (
	"fmt"
	"slices"
	"strings"

	"minilb/core/lb"
	"minilb/core/param"
	"minilb/core/scenario"
)

// A Card is one backend with its controls. Its letter, colour and hatching stand for it on every chart.
type Card struct {
	Index    int
	Name     string
	Mark     Mark
	Controls []Control // what most experiments move
	More     []Control // what folds away: how it serves, and what happens to it
	Changed  int       // of those that fold away
}

// Cards are the backends in the scenario's order.
func (m *Model) Cards() []Card {
	cards := make([]Card, len(m.scenario.Backends))
	for i := range m.scenario.Backends {
		b := &m.scenario.Backends[i]
		card := Card{Index: i, Name: b.Name, Mark: MarkOf(i)}
		parts := b.Parts.Params()
		for _, p := range parts.All() {
			k := m.part(i, parts, p)
			if !k.Advanced {
				card.Controls = append(card.Controls, k)
				continue
			}
			card.More = append(card.More, k)
			if k.Changed {
				card.Changed++
			}
		}
		cards[i] = card
	}
	return cards
}

// CanAdd and CanRemove say which buttons work.
func (m *Model) CanAdd() bool    { return len(m.scenario.Backends) < MaxBackends }
func (m *Model) CanRemove() bool { return len(m.scenario.Backends) > 1 }

// AddBackend adds a copy of the last backend under the first free name: what a person wants most often is one more of
// the same.
func (m *Model) AddBackend() error {
	if !m.CanAdd() {
		return m.words.errorf("the page has room for {n} backends; a link may hold more", counted("n", MaxBackends))
	}
	var fresh scenario.Backend
	if err := fresh.UnmarshalText([]byte(m.freeName() + "=20")); err != nil {
		return err
	}
	if n := len(m.scenario.Backends); n > 0 {
		fresh.Parts = m.scenario.Backends[n-1].Parts
	}
	m.scenario.Backends, m.link = append(slices.Clip(m.scenario.Backends), fresh), ""
	return nil
}

// freeName is the first of b1, b2, … that no backend has.
func (m *Model) freeName() string {
	for i := 1; ; i++ {
		name := fmt.Sprintf("b%d", i)
		if m.indexOf(name) < 0 {
			return name
		}
	}
}

func (m *Model) indexOf(name string) int {
	return slices.IndexFunc(m.scenario.Backends, func(b scenario.Backend) bool { return b.Name == name })
}

// RemoveBackend takes one away.
func (m *Model) RemoveBackend(i int) error {
	if !m.CanRemove() {
		return m.words.errorf("a pool keeps at least one backend")
	}
	if !(0 <= i && i < len(m.scenario.Backends)) {
		return m.words.errorf("there is no backend {n}", counted("n", i+1))
	}
	m.scenario.Backends, m.link = slices.Delete(slices.Clone(m.scenario.Backends), i, i+1), ""
	return nil
}

// Rename gives a backend another name, if a pool would take it.
func (m *Model) Rename(i int, name string) error {
	name = strings.TrimSpace(name)
	if !(0 <= i && i < len(m.scenario.Backends)) {
		return m.words.errorf("there is no backend {n}", counted("n", i+1))
	}
	if j := m.indexOf(name); j >= 0 && j != i {
		return m.words.errorf("{name} is another backend's name", named("name", name))
	}
	b := m.scenario.Backends[i]
	b.Name = name
	if err := (lb.Backend{Name: name, Weight: b.Weight}).Check(); err != nil {
		return err
	}
	m.scenario.Backends, m.link = slices.Clone(m.scenario.Backends), ""
	m.scenario.Backends[i] = b
	return nil
}

// A Mark is how a backend looks wherever it appears: a letter first, a colour, and hatching for the second six. Nothing
// on the page is said by colour alone.
type Mark struct {
	Letter  string
	Place   int // of the colour among the six, for style sheets
	Colour  string
	Hatched bool
}

// Before is a backend's name with its letter before it, unless the letter is the name.
func (k Mark) Before(name string) string {
	if name == k.Letter {
		return name
	}
	return k.Letter + " " + name
}

// colours keep 3:1 on white and on #12161c, and stay apart for people who do not see red, green or blue.
var colours = [...]string{"#5a5dab", "#8a9c2a", "#b43f66", "#6987ff", "#636c00", "#a28199"}

// MarkOf is the mark of the backend at that place.
func MarkOf(i int) Mark {
	return Mark{
		Letter:  string(rune('a' + i%26)),
		Place:   i % len(colours),
		Colour:  colours[i%len(colours)],
		Hatched: i/len(colours)%2 == 1,
	}
}

// CardOf is the place of the backend that a parameter's ID belongs to.
func CardOf(id string) (i int, ok bool) {
	i, _, ok = splitID(id)
	return i, ok
}

// CardChanges counts what has changed of what folds away in a card.
func (m *Model) CardChanges(i int) int {
	n := 0
	if !(0 <= i && i < len(m.scenario.Backends)) {
		return 0
	}
	for _, p := range m.scenario.Backends[i].Parts.Params().All() {
		if p.Advanced && p.Changed(param.Scenario) {
			n++
		}
	}
	return n
}

// Everything is all controls of the page, those of the backends among them, for the search.
func (m *Model) Everything() []Control {
	list := m.Controls()
	for _, c := range m.Cards() {
		list = append(append(list, c.Controls...), c.More...)
	}
	return list
}
