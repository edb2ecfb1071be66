package page

import (
	"slices"

	"minilb/core/param"
)

// A Group is a section of the controls: the schema's own groups in the schema's order. Main are the parameters that
// most experiments move, More fold away.
type Group struct {
	Name       string
	Open       bool // unfolded when the page opens
	Main, More []Control
}

// openAtFirst are the sections of the incident the page opens with. The rest is one press away.
var openAtFirst = []string{"policy", "traffic", "backends", "ejection"}

// Groups sorts the controls into sections, "backends" among them in its place: its cards are the caller's.
func (m *Model) Groups() []Group {
	var groups []Group
	for _, p := range m.params.All() {
		if ignored(p) && p.Name != "backend" {
			continue
		}
		i := slices.IndexFunc(groups, func(g Group) bool { return g.Name == p.Group })
		if i < 0 {
			i = len(groups)
			groups = append(groups, Group{Name: p.Group, Open: slices.Contains(openAtFirst, p.Group)})
		}
		if p.Name == "backend" {
			continue
		}
		k := m.control(p)
		if p.Advanced {
			groups[i].More = append(groups[i].More, k)
		} else {
			groups[i].Main = append(groups[i].Main, k)
		}
	}
	return groups
}

// unused are parameters of the proxy that a simulation has no use for: it has no paths, headers or cookies.
var unused = []string{"sticky-cookie", "hash-on", "check-path", "check-expect"}

// ignored says whether a parameter is not among the controls: the simulation does not look at it, or, for the backends,
// it has cards of its own.
func ignored(p *param.Param) bool { return p.Name == "backend" || slices.Contains(unused, p.Name) }

// A Badge is what a section's heading says about changed parameters inside, so that a folded section shows that
// something in it is not as usual. Text is empty when all is.
type Badge struct{ Section, Text string }

// Badges are those of all sections and of what folds away in them: "traffic", "traffic more". It is asked for at each
// movement of a slider, so it looks at the parameters and builds no controls.
func (m *Model) Badges() []Badge {
	var names []string
	changed, more := map[string]int{}, map[string]int{}
	for _, p := range m.params.All() {
		if !slices.Contains(names, p.Group) {
			names = append(names, p.Group)
		}
		if p.Changed(param.Scenario) && (!ignored(p) || p.Name == "backend") {
			changed[p.Group]++
			if p.Advanced {
				more[p.Group]++
			}
		}
	}
	var badges []Badge
	for _, name := range names {
		badges = append(badges, Badge{name, m.words.Changed(changed[name])}, Badge{name + " more", m.words.Changed(more[name])})
	}
	return badges
}

// Changed is a badge's text: how many of the parameters below it are not as usual.
func (w Words) Changed(n int) string {
	if n == 0 {
		return ""
	}
	return w.Say("{n?# changed|# changed}", counted("n", n))
}
