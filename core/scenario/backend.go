package scenario

import (
	"errors"
	"strings"

	"minilb/core/lb"
	"minilb/core/param"
)

// A Backend is one simulated backend. Its text is NAME=MEAN_MS and parts that
// differ from their defaults: slow=100,capacity=2,errors=0.1.
type Backend struct {
	Name string
	Parts
}

// backendForm is what a backend looks like, for messages.
const backendForm = "NAME=MEAN_MS and parts such as errors=0.1"

// UnmarshalText reads NAME=MEAN_MS,PART=VALUE…; ':' may stand for '='. Its
// error is a [param.Error] whose Problem names the part: weight=0: outside …
func (b *Backend) UnmarshalText(text []byte) error {
	fresh := Backend{}
	set := fresh.Parts.Params()
	set.Reset(column)
	given := map[string]bool{}
	for i, part := range strings.Split(string(text), ",") {
		name, value, found := cut(part)
		if i == 0 {
			fresh.Name, name = name, "mean"
		}
		if !found {
			return backendFault(text, clip(part)+" has no value", backendForm)
		}
		p := set.Lookup(strings.ReplaceAll(name, "_", "-"))
		if p == nil {
			return unknownPart(text, name, set)
		}
		if given[p.Name] {
			return backendFault(text, underscored(p.Name)+" is given twice", "each part once; the mean comes right after the name")
		}
		given[p.Name] = true
		if err := p.Set(value); err != nil {
			return partFault(text, err)
		}
	}
	if err := (lb.Backend{Name: fresh.Name, Weight: fresh.Weight}).Check(); err != nil {
		return backendFault(text, err.Error(), "")
	}
	*b = fresh
	return nil
}

func backendFault(text []byte, problem, accepted string) *param.Error {
	return &param.Error{Name: "backend", Value: string(text), Problem: problem, Accepted: accepted}
}

func unknownPart(text []byte, name string, set *param.Set) error {
	fault := backendFault(text, clip(name)+" is not a part of a backend", partNames(set))
	fault.Near = underscored(set.Nearest(name))
	return fault
}

// partFault is a part's fault as the backend's.
func partFault(text []byte, err error) error {
	fault := backendFault(text, err.Error(), "")
	var part *param.Error
	if errors.As(err, &part) {
		fault.Problem = underscored(part.Name) + "=" + clip(part.Value) + ": " + part.Problem
		fault.Accepted, fault.Near = part.Accepted, part.Near
	}
	return fault
}

// clip keeps a quotation in a message recognisable and short.
func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}

func cut(part string) (name, value string, found bool) {
	if at := strings.IndexAny(part, "=:"); at >= 0 {
		return part[:at], part[at+1:], true
	}
	return part, "", false
}

func partNames(set *param.Set) string {
	var names []string
	for _, p := range set.All() {
		if p.Name != "mean" {
			names = append(names, underscored(p.Name))
		}
	}
	return strings.Join(names, ", ")
}

func underscored(name string) string { return strings.ReplaceAll(name, "-", "_") }

// MarshalText writes what UnmarshalText reads, with only the parts that differ
// from their defaults.
func (b Backend) MarshalText() ([]byte, error) { return []byte(b.text()), nil }

// plain is what a backend is when nothing is said of it. Reading the schema
// takes a while, so the texts of backends like that do without.
var plain = func() (p Parts) {
	p.Params().Reset(column)
	return p
}()

func (b Backend) text() string {
	if like := plain; b.Mean > 0 {
		if like.Mean = b.Mean; like == b.Parts {
			return b.Name + "=" + param.FormatFloat(b.Mean)
		}
	}
	set := b.Parts.Params()
	text := b.Name + "=" + set.Lookup("mean").String()
	for _, p := range set.All() {
		if p.Name != "mean" && p.Changed(column) {
			text += "," + underscored(p.Name) + "=" + p.String()
		}
	}
	return text
}

// LB is the backend as a pool knows it.
func (b Backend) LB() lb.Backend {
	return lb.Backend{Name: b.Name, Weight: b.Weight}
}
