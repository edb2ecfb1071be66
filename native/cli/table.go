package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"minilb/core/sim"
)

// A table is rows of cells under a heading; the first and last columns are
// words, those between are numbers.
type table [][]string

// plusMinus parts a mean from how far its interval reaches.
const plusMinus = " ±"

// aligned pads the reach of every interval of a column to the longest, so that
// means stand under means.
func (t table) aligned() table {
	out := make(table, len(t))
	for r, row := range t {
		out[r] = append([]string(nil), row...)
	}
	for c := 1; c < len(t[0]); c++ {
		longest := 0
		for _, row := range t[1:] {
			longest = max(longest, reach(row[c]))
		}
		for _, row := range out[1:] {
			row[c] += strings.Repeat(" ", longest-reach(row[c]))
		}
	}
	return out
}

// reach is the length of a cell from its ± on.
func reach(cell string) int {
	mean, _, found := strings.Cut(cell, plusMinus)
	if !found {
		return 0
	}
	return utf8.RuneCountInString(cell) - utf8.RuneCountInString(mean)
}

func (t table) widths() []int {
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// lines aligns words to the left and numbers to the right.
func (t table) lines() []string {
	t = t.aligned()
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

// numeric says whether a cell is one number, perhaps with a unit or an
// interval.
func numeric(cell string) bool {
	mean, _, _ := strings.Cut(strings.TrimRight(cell, " "), plusMinus)
	return mean != "" && !strings.ContainsAny(mean, "/= ")
}

func (t table) print(out io.Writer) error {
	_, err := fmt.Fprintln(out, strings.Join(t.lines(), "\n"))
	return err
}

func (t table) fits() bool {
	for _, line := range t.lines() {
		if utf8.RuneCountInString(line) > width {
			return false
		}
	}
	return true
}

// parts is the table, cut between columns into as few as fit the width; each
// begins with the first column.
func (t table) parts() []table {
	var all []table
	for from := 1; from < len(t[0]); {
		to := from + 1
		for to < len(t[0]) && t.columns(from, to+1).fits() {
			to++
		}
		all = append(all, t.columns(from, to))
		from = to
	}
	return all
}

// columns is the first column and those from one up to another.
func (t table) columns(from, to int) table {
	part := make(table, len(t))
	for r, row := range t {
		part[r] = append([]string{row[0]}, row[from:to]...)
	}
	return part
}

// A column of the results is shown when it is always, or in any line other
// than zero.
type column struct {
	head   string
	always bool
	text   func(sim.Result) string
}

var resultColumns = []column{
	{"p50", true, func(r sim.Result) string { return milliseconds(r.Latency.P50) }},
	{"p95", true, func(r sim.Result) string { return milliseconds(r.Latency.P95) }},
	{"p99", true, func(r sim.Result) string { return milliseconds(r.Latency.P99) }},
	{"max", true, func(r sim.Result) string { return milliseconds(r.Latency.Max) }},
	{"errors", true, func(r sim.Result) string { return strconv.Itoa(r.Errors) }},
	{"timeouts", false, func(r sim.Result) string { return strconv.Itoa(r.Kinds.Timeout) }},
	{"refused", false, func(r sim.Result) string { return strconv.Itoa(r.Kinds.Refused) }},
	{"broken", false, func(r sim.Result) string { return strconv.Itoa(r.Kinds.Broken) }},
	{"dropped", false, func(r sim.Result) string { return strconv.Itoa(r.Dropped) }},
}

func resultTable(r sim.Report, shares bool) table {
	t := table{{"algorithm"}}
	for _, result := range r.Results {
		t = append(t, []string{result.Algorithm})
	}
	for _, c := range resultColumns {
		t.add(c, r.Results)
	}
	if shares {
		t[0] = append(t[0], "share "+joinShares(r.Results[0].Share, func(s sim.Share) string { return s.Backend }))
		for i, result := range r.Results {
			t[i+1] = append(t[i+1], joinShares(result.Share, func(s sim.Share) string { return percent(s.Fraction, 0) }))
		}
	}
	return t
}

func (t table) add(c column, results []sim.Result) {
	texts, shown := make([]string, len(results)), c.always
	for i, r := range results {
		texts[i] = c.text(r)
		shown = shown || texts[i] != "0"
	}
	if !shown {
		return
	}
	t[0] = append(t[0], c.head)
	for i, text := range texts {
		t[i+1] = append(t[i+1], text)
	}
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
