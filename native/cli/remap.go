package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"minilb/core/lb"
	"minilb/core/param"
	"minilb/core/pick"
)

type remapInput struct {
	Backends    string   `param:"backends" group:"change" default:"a,b,c,d,e" help:"the backends before: a,b,c"`
	Remove      string   `param:"remove" group:"change" help:"those that leave: c"`
	Add         string   `param:"add" group:"change" help:"those that come: f"`
	Weights     string   `param:"weights" group:"change" help:"weights, 1 for those not named: a=5,f=2"`
	Keys        int      `param:"keys" group:"change" unit:"keys" range:"1,10000000" default:"20000" help:"how many keys, user-0 and so on"`
	Schemes     []string `param:"scheme" group:"change" default:"modulo_hash,ring_hash,maglev,rendezvous" help:"hashing policies to compare"`
	JSON        bool     `param:"json" help:"print JSON, in fractions of 1"`
	pick.Config `group:"policy"`
}

// ParamChoices names the policies that hash.
func (remapInput) ParamChoices(name string) []string {
	if name != "scheme" {
		return nil
	}
	var names []string
	for _, p := range pick.All {
		if p.Hashes {
			names = append(names, p.Name)
		}
	}
	return names
}

func newRemap() *cobra.Command {
	c := &cobra.Command{
		Use:   "remap --backends a,b,c --remove c [flags]",
		Short: "Count the keys that move when backends come or go",
		Long: "Counts the keys that each hashing policy moves when backends come or go, and\n" +
			"among them those that leave a backend which stayed.",
		Example:               "  minilb remap --backends a,b,c,d,e --remove c --keys 20000",
		DisableFlagsInUseLine: true,
	}
	var input remapInput
	in := addFlags(c, param.Of(&input), param.Scenario, "hash-on", "choices", "ewma-decay")
	c.RunE = func(c *cobra.Command, _ []string) error {
		change, faults := input.read(in)
		if err := refuse(append(faults, input.Config.Check())...); err != nil {
			return err
		}
		results := make([]remapped, len(input.Schemes))
		for i, scheme := range input.Schemes {
			results[i] = change.measure(scheme, input.Config, input.Keys)
		}
		return input.print(c.OutOrStdout(), results)
	}
	return c
}

// A change is the backends before and after.
type change struct{ before, after []lb.Backend }

func (i *remapInput) read(in *inputs) (change, []error) {
	faults := in.read()
	names, err := needNames(i.Backends)
	if err != nil {
		return change{}, append(faults, err)
	}
	leaving, err := splitNames("remove", i.Remove)
	faults = append(faults, err)
	coming, err := splitNames("add", i.Add)
	faults = append(faults, err)
	if errors.Join(faults...) == nil { // of names that cannot be read nothing more can be said
		faults = append(faults, checkChange(names, leaving, coming))
	}
	faults = append(faults, checkSchemes(i.Schemes))
	weights, err := splitNumbers("weights", i.Weights, slices.Concat(names, coming), 1, lb.MaxWeight)
	faults = append(faults, err)
	var after []string
	for _, name := range slices.Concat(names, coming) {
		if !slices.Contains(leaving, name) {
			after = append(after, name)
		}
	}
	return change{backendsOf(names, weights), backendsOf(after, weights)}, faults
}

func checkSchemes(schemes []string) error {
	if len(schemes) == 0 {
		return errors.New("--scheme: none given; accepted: one or more of " + strings.Join(remapInput{}.ParamChoices("scheme"), ", "))
	}
	for i, scheme := range schemes {
		if slices.Contains(schemes[:i], scheme) {
			return fmt.Errorf("--scheme %s: listed twice; accepted: each policy once", scheme)
		}
	}
	return nil
}

func checkChange(names, leaving, coming []string) error {
	for _, name := range leaving {
		if !slices.Contains(names, name) {
			return fmt.Errorf("--remove %s: not one of the backends; accepted: %s", name, strings.Join(names, ", "))
		}
	}
	for _, name := range coming {
		if slices.Contains(names, name) {
			return fmt.Errorf("--add %s: there already; accepted: a new name", name)
		}
	}
	switch {
	case len(leaving)+len(coming) == 0:
		return errors.New("--remove: nothing changes; accepted: --remove NAME or --add NAME")
	case len(leaving) == len(names)+len(coming):
		return errors.New("--remove: nobody stays; accepted: fewer than all")
	}
	return nil
}

// A remapped is what a change does to the keys under one policy.
type remapped struct {
	scheme string
	moved  int // keys that have another backend
	stayed int // of those: their old backend is still there
	keys   int
	after  []lb.Backend
	share  []int // keys by backend, after
}

func (c change) measure(scheme string, config pick.Config, keys int) remapped {
	r := remapped{scheme: scheme, keys: keys, after: c.after, share: make([]int, len(c.after))}
	old, now := lb.NewSet(c.before, new(lb.Loads)), lb.NewSet(c.after, new(lb.Loads))
	was, _ := newPicker(scheme, config, old) // the configuration has been checked
	is, _ := newPicker(scheme, config, now)
	stays := map[string]bool{}
	for _, b := range c.after {
		stays[b.Name] = true
	}
	for i := range keys {
		q := lb.Query{Hash: pick.Hash("user-" + strconv.Itoa(i)), HasKey: true}
		from, at := old.Backend(was.Pick(q)).Name, is.Pick(q)
		r.share[at]++
		if from != now.Backend(at).Name {
			r.moved++
			if stays[from] {
				r.stayed++
			}
		}
	}
	return r
}

func (r remapped) fraction(n int) float64 { return float64(n) / float64(r.keys) }

func (i *remapInput) print(out io.Writer, results []remapped) error {
	if i.JSON {
		text, err := json.MarshalIndent(map[string][]remapped{"results": results}, "", "  ")
		if err == nil {
			_, err = fmt.Fprintf(out, "%s\n", text)
		}
		return err
	}
	t := remapTable(results, true)
	if t.fits() {
		return t.print(out)
	}
	if err := remapTable(results, false).print(out); err != nil {
		return err
	}
	fmt.Fprintln(out)
	return afterTable(results).print(out)
}

// remapTable has its longest heading on two lines, to leave room for shares.
func remapTable(results []remapped, shares bool) table {
	t := table{
		{"", "", "moved from a backend", ""},
		{"scheme", "moved", "that stayed", "share after"},
	}
	for _, r := range results {
		t = append(t, []string{r.scheme, percent(r.fraction(r.moved), 1), percent(r.fraction(r.stayed), 1), r.shares()})
	}
	if !shares {
		for i := range t {
			t[i] = t[i][:3]
		}
	}
	return t
}

// afterTable has a line for each backend and a column for each scheme.
func afterTable(results []remapped) table {
	t := table{{"share after"}}
	for _, r := range results {
		t[0] = append(t[0], r.scheme)
	}
	for i, b := range results[0].after {
		row := []string{b.Name}
		for _, r := range results {
			row = append(row, percent(r.fraction(r.share[i]), 1))
		}
		t = append(t, row)
	}
	return t
}

func (r remapped) shares() string {
	parts := make([]string, len(r.after))
	for i, b := range r.after {
		parts[i] = b.Name + "=" + percent(r.fraction(r.share[i]), 1)
	}
	return strings.Join(parts, " ")
}

// MarshalJSON keeps the backends in their order.
func (r remapped) MarshalJSON() ([]byte, error) {
	var share bytes.Buffer
	for i, b := range r.after {
		if i > 0 {
			share.WriteByte(',')
		}
		fmt.Fprintf(&share, "%q:%v", b.Name, r.fraction(r.share[i]))
	}
	return fmt.Appendf(nil, `{"scheme":%q,"moved":%v,"moved_from_stayed":%v,"share":{%s}}`,
		r.scheme, r.fraction(r.moved), r.fraction(r.stayed), share.String()), nil
}
