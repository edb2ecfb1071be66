package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"minilb/core/param"
)

// A TraceRow is one request of a recorded trace.
type TraceRow struct {
	At      time.Duration // since the run began
	Key     string        // empty: one is drawn
	Method  string        // empty: GET, or POST by post-share
	Service time.Duration // the time it takes to serve on a backend that is well; 0: one is drawn
}

// maxTrace bounds a trace: some 100 MB.
const maxTrace = 2_000_000

// ParseTrace reads a trace from CSV: one request a line, as
// seconds[,key[,method[,service ms]]], in any order. Empty lines, lines that
// begin with # and a first line of headings are passed over, but headings that
// name other columns are refused: what they head would be taken for something
// else. The error names the line.
func ParseTrace(text string) ([]TraceRow, error) {
	var rows []TraceRow
	first := true
	for number, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if first && isHeading(line) {
			if err := checkHeading(line); err != nil {
				return nil, fmt.Errorf("trace, line %d: %w", number+1, err)
			}
			first = false
			continue
		}
		first = false
		row, err := parseRow(line)
		if err != nil {
			return nil, fmt.Errorf("trace, line %d: %w", number+1, err)
		}
		if rows = append(rows, row); len(rows) > maxTrace {
			return nil, fmt.Errorf("trace: more than %d requests; accepted: at most that", maxTrace)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("trace: no requests; accepted: one a line, as seconds,key,method,service ms")
	}
	slices.SortStableFunc(rows, func(a, b TraceRow) int { return cmp.Compare(a.At, b.At) })
	return rows, nil
}

// isHeading says whether a line begins with a word that is no number, which
// NaN and Inf are.
func isHeading(line string) bool {
	name, _, _ := strings.Cut(line, ",")
	_, err := strconv.ParseFloat(name, 64)
	c := line[0] | 0x20
	return err != nil && ('a' <= c && c <= 'z' || c == '"')
}

// columnNames is what the heading of each column but the first must have in
// it, any of these; the first has any name that is not another's.
var columnNames = [...][]string{nil, {"key"}, {"method"}, {"service", "ms"}}

// heads says whether a heading is that of a column.
func heads(heading string, column int) bool {
	return slices.ContainsFunc(columnNames[column], func(name string) bool { return strings.Contains(heading, name) })
}

// checkHeading says whether the columns are where they should be.
func checkHeading(line string) error {
	names := strings.Split(strings.ToLower(line), ",")
	if len(names) > len(columnNames) {
		return tooManyFields(line, len(names))
	}
	for i, name := range names {
		if i == 0 && (heads(name, 1) || heads(name, 2)) || i > 0 && !heads(name, i) {
			return fmt.Errorf("column %d is headed %.40q; accepted: seconds,key,method,service ms in this order, or no heading", i+1, strings.Trim(name, ` "`))
		}
	}
	return nil
}

func tooManyFields(line string, n int) error {
	return fmt.Errorf("%.60q has %d fields; accepted: seconds,key,method,service ms", line, n)
}

func parseRow(line string) (row TraceRow, err error) {
	fields := strings.Split(line, ",")
	if len(fields) > 4 {
		return row, tooManyFields(line, len(fields))
	}
	for i := range fields {
		fields[i] = strings.Trim(strings.TrimSpace(fields[i]), `"`)
	}
	fields = append(fields, "", "", "")
	if row.At, err = param.ParseDuration(fields[0]); err != nil || row.At < 0 || row.At > maxWindow {
		hint := ""
		if strings.ContainsAny(fields[0], ";\t|") {
			hint = ", and commas between the fields"
		}
		return row, fmt.Errorf("time %.40q; accepted: seconds since the trace began, 0 or more%s", fields[0], hint)
	}
	row.Key, row.Method = fields[1], strings.ToUpper(fields[2])
	if fields[3] != "" {
		ms, err := strconv.ParseFloat(fields[3], 64)
		if err != nil || !(0 <= ms && ms <= 3_600_000) {
			return row, fmt.Errorf("service time %.40q; accepted: 0 to 3600000 ms", fields[3])
		}
		row.Service = time.Duration(ms * 1e6)
	}
	return row, nil
}
