package cli

import (
	"bytes"
	"fmt"
	"strings"

	"minilb/core/scenario"
	"minilb/core/sim"
)

// A page is what is printed for people: sections with an empty line between
// them, as wide as a terminal.
type page struct{ bytes.Buffer }

// section begins with an empty line unless it is the first.
func (p *page) section(lines ...string) {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	p.lines(lines)
}

func (p *page) lines(lines []string) {
	for _, line := range lines {
		p.WriteString(line)
		p.WriteByte('\n')
	}
}

func (p *page) paragraph(words string) { p.section(wrap(words, width)...) }

// tables shows a table, in as many parts as the width makes of it.
func (p *page) tables(t table) {
	for _, part := range t.parts() {
		p.section(part.lines()...)
	}
}

func (p *page) preset(preset scenario.Preset) {
	if preset.Name != "" {
		p.paragraph(preset.Title + ": " + preset.Sentence)
	}
}

const noResults = "no results"

// report shows one run: the table, and under it what not every run has.
func (p *page) report(r sim.Report) {
	if len(r.Results) == 0 {
		p.section(noResults)
		return
	}
	if whole := resultTable(r, true); whole.fits() {
		p.section(whole.lines()...)
	} else {
		p.tables(resultTable(r, false))
		p.tables(shareTable(r))
	}
	for _, n := range notes {
		p.lines(n.lines(r.Results))
	}
}

// A note is a figure that most runs do not have, for the policies whose run
// has it.
type note struct {
	words string
	text  func(sim.Result) string // empty: nothing to say
}

var notes = []note{
	{"ejections", func(r sim.Result) string { return unlessZero(r.Ejections) }},
	{"ejections refused by the cap", func(r sim.Result) string { return unlessZero(r.EjectionsRefused) }},
	{"attempts per request", amplification},
	{"retries not made for the budget", func(r sim.Result) string { return unlessZero(r.RetriesSkipped.Budget) }},
	{"POSTs executed twice", func(r sim.Result) string { return unlessZero(r.Duplicates) }},
	{"cut off by a drain", func(r sim.Result) string { return unlessZero(r.CutByDrain) }},
	{"never answered", func(r sim.Result) string { return unlessZero(r.Unanswered) }},
}

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// amplification matters when there were retries, or when not all requests
// became attempts.
func amplification(r sim.Result) string {
	if r.Retries == 0 && r.ClientRetries == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", r.Amplification)
}

func (n note) lines(results []sim.Result) []string {
	var parts []string
	for _, r := range results {
		if text := n.text(r); text != "" {
			parts = append(parts, r.Algorithm+" "+text)
		}
	}
	if parts == nil {
		return nil
	}
	return hang(wrap(n.words+": "+strings.Join(parts, ", "), width-2))
}

// hang sets in every line but the first.
func hang(lines []string) []string {
	for i := range lines[1:] {
		lines[i+1] = "  " + lines[i+1]
	}
	return lines
}

// events shows the transcript of each policy.
func (p *page) events(r sim.Report) {
	for _, result := range r.Results {
		lines := []string{"events, " + result.Algorithm + ":"}
		for _, e := range result.Events {
			lines = append(lines, e.String())
		}
		if result.EventsUnkept > 0 {
			lines = append(lines, fmt.Sprintf("and %d more, which were not kept", result.EventsUnkept))
		}
		if len(lines) == 1 {
			lines[0] += " none"
		}
		p.section(lines...)
	}
}
