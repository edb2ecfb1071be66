package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"minilb/core/param"
)

// width is that of a terminal nobody has widened.
const width = 80

// helpEnd is the annotation of a command that holds what comes after its flags.
const helpEnd = "help-end"

// flagsOf are the command's flags that come from a schema, in its order.
func flagsOf(c *cobra.Command) []flagValue {
	var all []flagValue
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(flagValue); ok {
			all = append(all, v)
		}
	})
	return all
}

// printHelp shows a command's flags under the schema's headings, each with
// what it takes, its range and its default.
func printHelp(c *cobra.Command, in *inputs) {
	out := c.OutOrStdout()
	everything, _ := c.Flags().GetBool("all")
	fmt.Fprintf(out, "%s\n\nUsage:\n  %s\n", c.Long, c.UseLine())
	if c.Example != "" {
		fmt.Fprintf(out, "\nExamples:\n%s\n", c.Example)
	}
	hidden := printFlags(out, flagsOf(c), in.column, everything)
	if in.parts != nil && everything {
		printParts(out, in.parts)
	}
	if end := c.Annotations[helpEnd]; end != "" {
		fmt.Fprintf(out, "\n%s\n", end)
	}
	fmt.Fprintf(out, "\nDurations are in seconds (0.2) or such as 200ms.\n")
	if hidden > 0 {
		more := fmt.Sprintf("%d more flags, rarely needed", hidden)
		if in.parts != nil {
			more = fmt.Sprintf("%d more flags and the parts of --backend", hidden)
		}
		fmt.Fprintf(out, "%s: %s --help --all\n", more, c.CommandPath())
	}
}

// printFlags shows the flags heading by heading, in the order in which the
// schema first names each, and returns how many it left out.
func printFlags(out io.Writer, flags []flagValue, column param.Column, everything bool) (hidden int) {
	var headings []string
	under := map[string][]*param.Param{}
	for _, f := range flags {
		if f.p.Advanced && !everything {
			hidden++
			continue
		}
		heading := headingOf(f.p)
		if under[heading] == nil {
			headings = append(headings, heading)
		}
		under[heading] = append(under[heading], f.p)
	}
	for _, heading := range headings {
		fmt.Fprintf(out, "\n%s:\n", heading)
		for _, p := range under[heading] {
			printFlag(out, p, column)
		}
	}
	return hidden
}

// printParts shows what can be said within a value of --backend.
func printParts(out io.Writer, parts *param.Set) {
	fmt.Fprintf(out, "\nParts of --backend, as in --backend slow=100,capacity=2,crash_at=10:\n")
	for _, p := range parts.All() {
		if p.Name != "mean" { // it stands right after the name
			printEntry(out, strings.ReplaceAll(p.Name, "-", "_"), p, param.Scenario)
		}
	}
}

func headingOf(p *param.Param) string {
	if p.Group == "" {
		return "Output"
	}
	return strings.ToUpper(p.Group[:1]) + p.Group[1:]
}

func printFlag(out io.Writer, p *param.Param, column param.Column) {
	printEntry(out, "--"+p.Name, p, column)
}

func printEntry(out io.Writer, name string, p *param.Param, column param.Column) {
	fmt.Fprintf(out, "  %s", name)
	if facts := factsOf(p, column); facts != "" {
		fmt.Fprintf(out, "  (%s)", facts)
	}
	fmt.Fprintln(out)
	words := p.Help
	if p.Choices != nil {
		words += " (" + strings.Join(p.Choices, ", ") + ")"
	}
	for _, line := range wrap(words, width-6) {
		fmt.Fprintf(out, "      %s\n", line)
	}
}

// factsOf is a parameter's range and default: 1 to 100 probes, default 3.
func factsOf(p *param.Param, column param.Column) string {
	var facts []string
	if p.Ranged {
		facts = append(facts, spanOf(p))
	} else if p.Kind != param.Bool && p.Choices == nil && p.Kind != param.Text && p.Kind != param.Custom && !p.List {
		facts = append(facts, strings.Replace(p.Type(), "int", "whole number", 1))
	}
	if value := strings.Join(p.Default(column), " "); value != "" && value != "false" {
		if p.Choices != nil {
			value = strings.Join(p.Default(column), ",")
		}
		if p.Kind == param.Duration {
			value = withUnit(value)
		}
		facts = append(facts, "default "+value)
	}
	return strings.Join(facts, ", ")
}

func spanOf(p *param.Param) string {
	if p.Kind == param.Duration {
		return withUnit(durationText(p.Lo)) + " to " + withUnit(durationText(p.Hi))
	}
	span := param.FormatFloat(p.Lo) + " to " + param.FormatFloat(p.Hi)
	if p.Unit != "" {
		span += " " + p.Unit
	}
	return span
}

// glue keeps what an equals sign joins on one line: 0 = off.
const glue = "\x00=\x00"

// wrap breaks words into lines of at most n characters.
func wrap(words string, n int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(strings.ReplaceAll(words, " = ", glue)) {
		word = strings.ReplaceAll(word, glue, " = ")
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= n:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
