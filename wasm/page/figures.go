package page

import (
	"encoding/json"
	"fmt"

	"minilb/core/scenario"
	"minilb/core/sim"
)

// Figures are one policy's results as the page read them from the JSON that it shows, so that the table can say nothing
// else than that JSON does.
type Figures struct {
	Algorithm        string             `json:"algorithm"`
	Requests         int                `json:"requests"`
	Completed        int                `json:"completed"`
	Errors           int                `json:"errors"`
	Dropped          int                `json:"dropped"`
	Attempts         int                `json:"attempts"`
	Latency          sim.Latency        `json:"latency_ms"`
	Share            map[string]float64 `json:"share"`
	Ejections        int                `json:"ejections"`
	EjectionsRefused int                `json:"ejections_refused"`

	Kinds          sim.Kinds           `json:"errors_by_kind"`
	Retries        int                 `json:"retries"`
	RetriesSkipped sim.Skipped         `json:"retries_skipped"`
	ClientRetries  int                 `json:"client_retries"`
	Amplification  float64             `json:"amplification"`
	AwayFromHome   int                 `json:"away_from_home"`
	Unanswered     int                 `json:"unanswered"`
	Backends       []sim.BackendResult `json:"backends"`
}

// Failed is the share of requests that were dropped or answered with an error.
func (f Figures) Failed() float64 {
	if f.Requests == 0 {
		return 0
	}
	return float64(f.Errors+f.Dropped) / float64(f.Requests)
}

// An Outcome is a run that is over: what was asked and what it gave.
type Outcome struct {
	Scenario scenario.Scenario
	Results  []Figures
	Verdicts []sim.Verdict
	Words    Words // in which it is spoken of
}

// ReadOutcome reads the JSON of `minilb simulate --json`, and what core says of it.
func ReadOutcome(s scenario.Scenario, text []byte, verdicts []sim.Verdict) (Outcome, error) {
	var report struct{ Results []Figures }
	if err := json.Unmarshal(text, &report); err != nil {
		return Outcome{}, fmt.Errorf("page: results: %w", err)
	}
	return Outcome{Scenario: s, Results: report.Results, Verdicts: verdicts}, nil
}

// Of is one policy's figures; ok is false when it did not run.
func (o Outcome) Of(policy string) (f Figures, ok bool) {
	for _, f := range o.Results {
		if f.Algorithm == policy {
			return f, true
		}
	}
	return Figures{}, false
}

// worst is the policy with the most failed requests, of equals the one with the highest p99; "" when none ran.
func (o Outcome) worst() string {
	var worst Figures
	for i, f := range o.Results {
		if i == 0 || f.Failed() > worst.Failed() || f.Failed() == worst.Failed() && f.Latency.P99 > worst.Latency.P99 {
			worst = f
		}
	}
	return worst.Algorithm
}
