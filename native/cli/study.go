package cli

import (
	"fmt"
	"slices"
	"strings"

	"minilb/core/sim"
)

// A label is a figure of core/sim and what a table for people calls it.
type label struct{ figure, words string }

// labels are the figures of a whole run, in the order of the table.
var labels = []label{
	{"latency_mean_ms", "mean ms"}, {"latency_p50_ms", "p50 ms"}, {"latency_p95_ms", "p95 ms"},
	{"latency_p99_ms", "p99 ms"}, {"latency_max_ms", "max ms"},
	{"requests", "requests"}, {"completed_requests", "completed"}, {"errors_requests", "errors"},
	{"dropped_requests", "dropped"}, {"errors_5xx_requests", "5xx"}, {"errors_timeout_requests", "timeouts"},
	{"errors_refused_requests", "refused"}, {"errors_broken_requests", "broken"},
	{"errors_no_backend_requests", "no backend"}, {"errors_queue_full_requests", "queue full"},
	{"unanswered_requests", "never answered"}, {"attempts", "attempts"},
	{"amplification_attempts_per_request", "attempts/request"},
	{"retries", "retries"}, {"retries_skipped_budget", "not retried: budget"},
	{"retries_skipped_no_other_backend", "not retried: no other"},
	{"retries_skipped_not_idempotent", "not retried: POST"}, {"client_retries", "client retries"},
	{"duplicates", "duplicates"}, {"away_from_home_requests", "away from home"},
	{"cut_by_drain_requests", "cut by a drain"}, {"ejections", "ejections"},
	{"ejections_refused", "ejections refused"},
}

// backendLabels are the figures of one backend, whose name stands for NAME.
var backendLabels = []label{
	{"share_NAME_fraction", "share"}, {"latency_p50_NAME_ms", "p50 ms"}, {"latency_p99_NAME_ms", "p99 ms"},
	{"in_flight_max_NAME_requests", "in flight max"}, {"queue_max_NAME_requests", "queue max"},
	{"detection_NAME_s", "detection s"}, {"restoration_NAME_s", "restoration s"},
}

// maxBackendsShown bounds the tables by backend; files have them all.
const maxBackendsShown = 12

// study shows what the seeds say: the whole run's figures, then each
// backend's.
func (p *page) study(s sim.Study) {
	if s.Seeds == 0 {
		p.section(noResults)
		return
	}
	first := s.Scenario.Seed
	p.paragraph(fmt.Sprintf("seeds %d to %d: each figure's mean ± its 95%% interval", first, first+uint64(s.Seeds)-1))
	t := figureTable(s.Results)
	backends := s.Scenario.Backends
	if len(backends) <= maxBackendsShown {
		for _, b := range backends {
			t = t.backend(b.Name, s.Results)
		}
	}
	p.tables(t)
	if len(backends) > maxBackendsShown {
		p.section(fmt.Sprintf("%d backends: the figures of each are in --csv and --json", len(backends)))
	}
}

func labelsOf(backend string) []label {
	list := slices.Clone(backendLabels)
	for i := range list {
		list[i].figure = strings.Replace(list[i].figure, "NAME", backend, 1)
		list[i].words = "  " + list[i].words
	}
	return list
}

// figureTable has a line for each figure of the whole run that says something
// and a column for each policy.
func figureTable(results []sim.Estimates) table {
	head := []string{""}
	for _, r := range results {
		head = append(head, r.Algorithm)
	}
	return append(table{head}, figureRows(results, labels)...)
}

// backend adds the figures of one backend, under its name.
func (t table) backend(name string, results []sim.Estimates) table {
	empty := make([]string, len(t[0]))
	named := slices.Clone(empty)
	named[0] = name
	return append(append(t, empty, named), figureRows(results, labelsOf(name))...)
}

func figureRows(results []sim.Estimates, list []label) [][]string {
	var rows [][]string
	for _, l := range list {
		if row := estimates(results, l.figure); tells(row) && !repeats(results, l.figure) {
			rows = append(rows, append([]string{l.words}, texts(row)...))
		}
	}
	return rows
}

// estimates is one figure of every policy.
func estimates(results []sim.Estimates, figure string) []sim.Estimate {
	var row []sim.Estimate
	for _, r := range results {
		for _, e := range r.Figures {
			if e.Figure == figure {
				row = append(row, e)
			}
		}
	}
	return row
}

// tells says whether a figure is other than zero in any run of any policy.
func tells(row []sim.Estimate) bool {
	return slices.ContainsFunc(row, func(e sim.Estimate) bool { return e.Mean > 0 })
}

// repeats says whether a figure is what another in the table says already.
func repeats(results []sim.Estimates, figure string) bool {
	switch figure {
	case "completed_requests", "attempts":
		return slices.Equal(texts(estimates(results, figure)), texts(estimates(results, "requests")))
	case "errors_5xx_requests":
		return slices.Equal(texts(estimates(results, figure)), texts(estimates(results, "errors_requests")))
	case "amplification_attempts_per_request":
		return !slices.ContainsFunc(estimates(results, figure), func(e sim.Estimate) bool { return e.Mean != 1 })
	}
	return false
}

func texts(row []sim.Estimate) []string {
	list := make([]string, len(row))
	for i, e := range row {
		list[i] = e.String()
	}
	return list
}

// sweptLabels are the figures of a sweep, a table for each.
var sweptLabels = []string{
	"latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "errors_requests", "errors_timeout_requests",
	"errors_refused_requests", "dropped_requests", "unanswered_requests", "amplification_attempts_per_request", "ejections",
	"ejections_refused",
}

// swept shows a table for each figure: a line for each value of the parameter,
// a column for each policy.
func (p *page) swept(s sim.Swept) {
	if len(s.Points) == 0 {
		p.section(noResults)
		return
	}
	p.paragraph(sweptTitle(s))
	for _, l := range labels {
		if slices.Contains(sweptLabels, l.figure) {
			if t := sweptTable(s, l); len(t) > 1 {
				p.tables(t)
			}
		}
	}
}

func sweptTitle(s sim.Swept) string {
	from, to := s.Points[0].Text, s.Points[len(s.Points)-1].Text
	title := fmt.Sprintf("%s from %s to %s", s.Sweep.Param, from, to)
	if s.Sweep.Unit != "" && s.Sweep.Unit != s.Sweep.Param {
		title += " " + s.Sweep.Unit
	}
	if s.Seeds > 1 {
		title += fmt.Sprintf(", %d seeds each: means ± 95%% intervals", s.Seeds)
	}
	return title
}

func sweptTable(s sim.Swept, l label) table {
	t, told := table{{s.Sweep.Param}}, false
	for _, r := range s.Points[0].Study.Results {
		t[0] = append(t[0], r.Algorithm)
	}
	for _, point := range s.Points {
		row := estimates(point.Study.Results, l.figure)
		told = told || tells(row) && !repeats(point.Study.Results, l.figure)
		t = append(t, append([]string{point.Text}, texts(row)...))
	}
	if !told {
		return nil
	}
	t[0][0] = l.words + " by " + t[0][0]
	return t
}
