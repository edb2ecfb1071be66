package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"minilb/core/sim"
)

// A table is rows of cells under a heading; the first and last columns are
// words, those between are numbers.
type table [][]string

func (t table) widths() []int {
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	return widths
}

// lines aligns words to the left and numbers to the right.
func (t table) lines() []string {
	widths := t.widths()
	lines := make([]string, len(t))
	for r, row := range t {
		var b strings.Builder
		for i, cell := range row {
			switch {
			case i == 0:
				fmt.Fprintf(&b, "%-*s", widths[i], cell)
			case i == len(row)-1 && !numeric(t[len(t)-1][i]):
				fmt.Fprintf(&b, "  %s", cell)
			default:
				fmt.Fprintf(&b, "  %*s", widths[i], cell)
			}
		}
		lines[r] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// numeric says whether a cell is one number, perhaps with a unit.
func numeric(cell string) bool {
	return cell != "" && !strings.ContainsAny(cell, "/= ")
}

func (t table) print(out io.Writer) error {
	_, err := fmt.Fprintln(out, strings.Join(t.lines(), "\n"))
	return err
}

func (t table) fits() bool {
	for _, line := range t.lines() {
		if len(line) > width {
			return false
		}
	}
	return true
}

// printReport shows a simulation's results: the table, what the cap on
// ejections refused, and the command that plays the scenario again.
func printReport(out io.Writer, r sim.Report) error {
	if len(r.Results) == 0 {
		_, err := fmt.Fprintln(out, "no results")
		return err
	}
	results := resultTable(r, true)
	if results.fits() {
		if err := results.print(out); err != nil {
			return err
		}
	} else if err := printApart(out, r); err != nil {
		return err
	}
	if line := refusedLine(r); line != "" {
		fmt.Fprintln(out, line)
	}
	_, err := fmt.Fprintf(out, "\n%s\n", r.Scenario.Command())
	return err
}

// printApart is for pools too large to have their shares in the line.
func printApart(out io.Writer, r sim.Report) error {
	if err := resultTable(r, false).print(out); err != nil {
		return err
	}
	fmt.Fprintln(out)
	return shareTable(r).print(out)
}

func resultTable(r sim.Report, shares bool) table {
	dropped := false
	for _, result := range r.Results {
		dropped = dropped || result.Dropped > 0
	}
	head := []string{"algorithm", "p50", "p95", "p99", "max", "errors"}
	if dropped {
		head = append(head, "dropped")
	}
	if shares {
		head = append(head, "share "+joinShares(r.Results[0].Share, func(s sim.Share) string { return s.Backend }))
	}
	t := table{head}
	for _, result := range r.Results {
		t = append(t, resultRow(result, dropped, shares))
	}
	return t
}

func resultRow(r sim.Result, dropped, shares bool) []string {
	l := r.Latency
	row := []string{r.Algorithm, milliseconds(l.P50), milliseconds(l.P95), milliseconds(l.P99), milliseconds(l.Max), strconv.Itoa(r.Errors)}
	if dropped {
		row = append(row, strconv.Itoa(r.Dropped))
	}
	if shares {
		row = append(row, joinShares(r.Share, func(s sim.Share) string { return percent(s.Fraction, 0) }))
	}
	return row
}

func joinShares(shares sim.Shares, text func(sim.Share) string) string {
	parts := make([]string, len(shares))
	for i, s := range shares {
		parts[i] = text(s)
	}
	return strings.Join(parts, "/")
}

// shareTable has a line for each backend and a column for each algorithm.
func shareTable(r sim.Report) table {
	head := []string{"share"}
	for _, result := range r.Results {
		head = append(head, result.Algorithm)
	}
	t := table{head}
	for i, s := range r.Results[0].Share {
		row := []string{s.Backend}
		for _, result := range r.Results {
			row = append(row, percent(result.Share[i].Fraction, 1))
		}
		t = append(t, row)
	}
	return t
}

func refusedLine(r sim.Report) string {
	var parts []string
	for _, result := range r.Results {
		if result.EjectionsRefused > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", result.Algorithm, result.EjectionsRefused))
		}
	}
	if parts == nil {
		return ""
	}
	return "ejections refused by the cap: " + strings.Join(parts, ", ")
}
