package sim

import (
	"math"
	"strconv"
	"strings"
)

// A sheet is rows of cells in the form of RFC 4180: commas, CRLF, and quotes
// around what holds one of these. Its first row names the columns, each with
// its unit.
type sheet struct{ strings.Builder }

func (s *sheet) row(cells ...string) {
	for i, cell := range cells {
		if i > 0 {
			s.WriteByte(',')
		}
		s.WriteString(quoted(cell))
	}
	s.WriteString("\r\n")
}

func quoted(cell string) string {
	if !strings.ContainsAny(cell, ",\"\r\n") {
		return cell
	}
	return `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
}

// cell is the shortest text that reads back to the same number; what does not
// exist (the latency of a window without an answer) is an empty cell.
func cell(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func cells(values ...float64) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = cell(v)
	}
	return texts
}

// CSV is the results as a table for a spreadsheet, one row per algorithm.
func (r Report) CSV() []byte {
	var s sheet
	for i, result := range r.Results {
		names, row := []string{"algorithm"}, []string{result.Algorithm}
		for _, f := range figuresOf(result) {
			names, row = append(names, f.Name), append(row, cell(f.Value))
		}
		if i == 0 {
			s.row(names...)
		}
		s.row(row...)
	}
	return []byte(s.String())
}

// SeriesCSV is what happened over time, one row per algorithm and window. It
// has no rows unless the run was asked for a series.
func (r Report) SeriesCSV() []byte {
	var s sheet
	names := []string{"algorithm", "start_s", "latency_p50_ms", "latency_p95_ms", "latency_p99_ms",
		"answered_requests", "errors_requests", "dropped_requests"}
	for _, b := range r.Scenario.Backends {
		names = append(names, "share_"+b.Name+"_fraction", "in_flight_"+b.Name+"_requests")
	}
	s.row(names...)
	for _, result := range r.Results {
		for i := range result.Series.Start {
			s.row(append([]string{result.Algorithm}, cells(result.Series.window(i)...)...)...)
		}
	}
	return []byte(s.String())
}

// window is the figures of one window, in the order of the columns.
func (s Series) window(i int) []float64 {
	values := []float64{s.Start[i], s.P50[i], s.P95[i], s.P99[i],
		float64(s.Answered[i]), float64(s.Errors[i]), float64(s.Dropped[i])}
	for b := range s.Share {
		values = append(values, s.Share[b][i], s.InFlight[b][i])
	}
	return values
}

// CSV is the study as a table for a spreadsheet, one row per algorithm and figure.
func (s Study) CSV() []byte {
	var out sheet
	out.row("algorithm", "figure", "mean", "low_95", "high_95", "seeds")
	for _, r := range s.Results {
		for _, e := range r.Figures {
			out.row(r.Algorithm, e.Figure, cell(e.Mean), cell(e.Low), cell(e.High), strconv.Itoa(s.Seeds))
		}
	}
	return []byte(out.String())
}

// CSV is the sweep as a table for a spreadsheet, one row per value and
// algorithm. With several seeds each figure is a mean and has its interval
// beside it.
func (s Swept) CSV() []byte {
	var out sheet
	for i, p := range s.Points {
		for j, r := range p.Study.Results {
			names, row := []string{s.Sweep.column(), "algorithm"}, []string{cell(p.Value), r.Algorithm}
			for _, e := range r.Figures {
				names, row = append(names, e.Figure), append(row, cell(e.Mean))
				if s.Seeds > 1 {
					names = append(names, e.Figure+"_low_95", e.Figure+"_high_95")
					row = append(row, cell(e.Low), cell(e.High))
				}
			}
			if i == 0 && j == 0 {
				out.row(names...)
			}
			out.row(row...)
		}
	}
	return []byte(out.String())
}
