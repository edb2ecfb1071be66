package page

import (
	"fmt"
	"slices"
	"strings"

	"minilb/core/scenario"
)

// MaxVariants is how many runs can be kept beside the one on the page.
const MaxVariants = 3

// A Variant is a run that was kept, to be compared with what comes after it.
type Variant struct {
	Letter   string // A, B, C
	Policy   string
	Figures  Figures
	Scenario scenario.Scenario
}

// Keep keeps a run's figures for one policy.
func (m *Model) Keep(o Outcome, policy string) error {
	f, ran := o.Of(policy)
	switch {
	case !ran:
		return m.words.errorf("there is nothing to keep yet")
	case len(m.variants) >= MaxVariants:
		return m.words.errorf("at most {n} runs are kept; drop one first", counted("n", MaxVariants))
	}
	letter := "A"
	for slices.ContainsFunc(m.variants, func(v Variant) bool { return v.Letter == letter }) {
		letter = string(letter[0] + 1)
	}
	m.variants = append(m.variants, Variant{letter, policy, f, o.Scenario})
	return nil
}

// Drop forgets one that was kept.
func (m *Model) Drop(letter string) {
	m.variants = slices.DeleteFunc(m.variants, func(v Variant) bool { return v.Letter == letter })
}

// Variants are those that are kept.
func (m *Model) Variants() []Variant { return m.variants }

// VariantTable compares what was kept with the run on the page; it has no lines when nothing was kept.
func (m *Model) VariantTable(o Outcome, policy string) Table {
	f, ran := o.Of(policy)
	if !ran || len(m.variants) == 0 {
		return Table{}
	}
	all := Outcome{Scenario: o.Scenario, Words: o.Words}
	for _, v := range m.variants {
		kept := v.Figures
		kept.Algorithm = v.Letter + " " + v.Policy
		all.Results = append(all.Results, kept)
	}
	f.Algorithm = NowColumn(o.Words, policy)
	all.Results = append(all.Results, f)
	return all.Table(all.Results[0].Algorithm)
}

// NowColumn heads the run on the page beside those that were kept.
func NowColumn(w Words, policy string) string { return w.Say("now {policy}", named("policy", policy)) }

// Changes says how the scenario on the page differs from a kept one: "consecutive-5xx 0 → 5". What changes arrivals is
// said to, for then a difference may be chance.
func (v Variant) Changes(now Outcome, policy string) string {
	var said []string
	w := now.Words
	if v.Policy != policy {
		said = append(said, v.Policy+" → "+policy)
	}
	s := now.Scenario
	was, is := v.Scenario.Params(), s.Params()
	other := false
	for _, p := range is.All() {
		before := was.Lookup(p.Name)
		if p.Name == "algorithm" || before == nil || slices.Equal(before.Texts(), p.Texts()) {
			continue
		}
		other = other || slices.Contains(arrivalGroups, p.Group)
		if p.Name == "backend" {
			said = append(said, w.backendChanges(v.Scenario.Backends, s.Backends))
			continue
		}
		said = append(said, fmt.Sprintf("%s %s → %s", p.Name, w.orNone(before.String()), w.orNone(p.String())))
	}
	switch {
	case len(said) == 0:
		return w.T("the same scenario")
	case other:
		return w.Say("{changes} (other arrivals: a small difference may be chance)", named("changes", strings.Join(said, ", ")))
	}
	return strings.Join(said, ", ")
}

// arrivalGroups are the parameters that change what arrives.
var arrivalGroups = []string{"traffic"}

func (w Words) orNone(text string) string {
	if text == "" {
		return w.T("none")
	}
	return text
}

// backendChanges names the backends that are new, gone or different, and what of them is.
func (w Words) backendChanges(was, now []scenario.Backend) string {
	var said []string
	for _, b := range now {
		i := slices.IndexFunc(was, func(other scenario.Backend) bool { return other.Name == b.Name })
		if i < 0 {
			said = append(said, w.Say("with {backend}", named("backend", b.Name)))
			continue
		}
		before, after := was[i].Parts.Params(), b.Parts.Params()
		for _, p := range after.All() {
			if old := before.Lookup(p.Name).String(); old != p.String() {
				said = append(said, fmt.Sprintf("%s %s %s → %s", b.Name, p.Name, old, p.String()))
			}
		}
	}
	for _, b := range was {
		if !slices.ContainsFunc(now, func(other scenario.Backend) bool { return other.Name == b.Name }) {
			said = append(said, w.Say("without {backend}", named("backend", b.Name)))
		}
	}
	if said == nil {
		return w.T("backends in another order")
	}
	return strings.Join(said, ", ")
}
