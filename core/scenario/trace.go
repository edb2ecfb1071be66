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
// begin with # and a first line of headings are passed over. The error names
// the line.
func ParseTrace(text string) ([]TraceRow, error) {
	var rows []TraceRow
	for number, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || len(rows) == 0 && isHeading(line) {
			continue
		}
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

// isHeading says whether a line begins with a word.
func isHeading(line string) bool {
	c := line[0] | 0x20
	return 'a' <= c && c <= 'z' || c == '"'
}

func parseRow(line string) (row TraceRow, err error) {
	fields := strings.Split(line, ",")
	if len(fields) > 4 {
		return row, fmt.Errorf("%.60q has %d fields; accepted: seconds,key,method,service ms", line, len(fields))
	}
	for i := range fields {
		fields[i] = strings.Trim(strings.TrimSpace(fields[i]), `"`)
	}
	fields = append(fields, "", "", "")
	if row.At, err = param.ParseDuration(fields[0]); err != nil || row.At < 0 || row.At > maxWindow {
		return row, fmt.Errorf("time %.40q; accepted: seconds since the trace began, 0 or more", fields[0])
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
