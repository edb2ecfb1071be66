package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"minilb/core/param"
	"minilb/native/proxy"
)

// inputs are the flags of one command, made from a schema. It takes the texts
// in and reads them when all are there: so that every fault is reported at
// once, and so that --scenario comes first wherever it stands.
type inputs struct {
	set    *param.Set
	column param.Column
	given  []text
	parts  *param.Set // what can be said within a value of --backend; nil: nothing
}

type text struct{ name, value string }

// addFlags makes a flag of every parameter but those to skip. The set's
// values become the column's defaults.
func addFlags(c *cobra.Command, set *param.Set, column param.Column, skip ...string) *inputs {
	set.Reset(column)
	in := &inputs{set: set, column: column}
	for _, p := range set.All() {
		if slices.Contains(skip, p.Name) {
			continue
		}
		flag := c.Flags().VarPF(flagValue{in, p}, p.Name, "", p.Help)
		if p.Kind == param.Bool {
			flag.NoOptDefVal = "true"
		}
	}
	c.Args = noWords
	c.Flags().SortFlags = false
	c.Flags().Bool("all", false, "with --help: every flag, the rarely used ones too")
	_ = c.Flags().MarkHidden("all") // it exists: the line above
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { printHelp(c, in) })
	return in
}

// apply reads what was given into a schema and returns every fault.
func (in *inputs) apply(set *param.Set) []error {
	var faults []error
	for _, t := range in.given {
		if p := set.Lookup(t.name); p != nil {
			if err := p.Set(t.value); err != nil {
				faults = append(faults, err)
			}
		}
	}
	return faults
}

// read is apply for the command's own schema.
func (in *inputs) read() []error { return in.apply(in.set) }

// flags is what was given, for whoever reads it again later.
func (in *inputs) flags() []proxy.Flag {
	var all []proxy.Flag
	for _, t := range in.given {
		all = append(all, proxy.Flag{Name: t.name, Value: t.value})
	}
	return all
}

// has says whether a flag was given.
func (in *inputs) has(name string) bool {
	return slices.ContainsFunc(in.given, func(t text) bool { return t.name == name })
}

// A flagValue is one parameter as a pflag.Value.
type flagValue struct {
	in *inputs
	p  *param.Param
}

func (v flagValue) String() string { return v.p.String() }
func (v flagValue) Type() string   { return v.p.Type() }

func (v flagValue) Set(value string) error {
	v.in.given = append(v.in.given, text{v.p.Name, value})
	return nil
}

// nearestFlag is the flag closest to a mistyped one.
func nearestFlag(c *cobra.Command, name string) string {
	if in, ok := inputsOf(c); ok {
		if near := in.set.Nearest(name); near != "" {
			return near
		}
	}
	if strings.HasPrefix("help", name) || name == "halp" || name == "hlep" {
		return "help"
	}
	return ""
}

// inputsOf finds the schema behind a command's flags.
func inputsOf(c *cobra.Command) (*inputs, bool) {
	for _, p := range flagsOf(c) {
		return p.in, true
	}
	return nil, false
}
