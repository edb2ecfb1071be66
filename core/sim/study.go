package sim

import (
	"encoding/json"
	"math"
	"strconv"

	"minilb/core/param"
	"minilb/core/scenario"
	"minilb/core/stat"
)

// A Study is one scenario under many seeds: each figure with the interval that
// holds its true mean, so that a difference between two policies can be told
// from luck.
type Study struct {
	Scenario  scenario.Scenario // with the first seed
	Seeds     int               // that were played to the end; the figures are of these
	Results   []Estimates       // one per algorithm
	Cancelled bool              // it ended early
	Truncated string            // why it did; empty for a whole one
}

// Estimates is what the seeds say of one policy.
type Estimates struct {
	Algorithm string     `json:"algorithm"`
	Figures   []Estimate `json:"figures"`
}

// An Estimate is a figure's mean over the seeds and its 95% confidence
// interval, in the unit that ends the figure's name.
type Estimate struct {
	Figure    string
	Mean      float64 // NaN when no run had the figure
	Low, High float64 // infinite when one run had it

	sum stat.Welford
}

// maxSeeds keeps a slip of the keyboard from becoming a day's work.
const maxSeeds = 10_000

// Seeds plays n seeds, the scenario's own and those that follow it. A seed
// that was not played to the end, because Progress said stop, does not count:
// half a run has other figures than a whole one.
func Seeds(s scenario.Scenario, n int, o Options) (Study, error) {
	study := Study{Scenario: s}
	if !(1 <= n && n <= maxSeeds) {
		return study, &param.Error{Name: "seeds", Value: strconv.Itoa(n), Problem: "outside 1 to " + strconv.Itoa(maxSeeds) + " seeds"}
	}
	for i := range n {
		tell := part(o.Progress, i, n)
		if tell != nil && !tell(0) { // a short run never asks
			study.Cancelled, study.Truncated = true, stoppedEarly
			break
		}
		r, err := Run(s, Options{Progress: tell, limits: o.limits})
		if r.Cancelled {
			study.Cancelled, study.Truncated = true, r.Truncated
		}
		if err != nil {
			study.settle()
			return study, err
		}
		if r.Cancelled {
			break
		}
		study.add(r)
		s.Seed++
	}
	study.settle()
	return study, nil
}

// part is the progress of the i-th of n equal parts of a whole.
func part(tell func(float64) bool, i, n int) func(float64) bool {
	if tell == nil {
		return nil
	}
	return func(done float64) bool { return tell((float64(i) + done) / float64(n)) }
}

// add takes in one seed's report.
func (s *Study) add(r Report) {
	s.Seeds++
	for i, result := range r.Results {
		if i == len(s.Results) {
			s.Results = append(s.Results, Estimates{Algorithm: result.Algorithm})
		}
		s.Results[i].add(figuresOf(result))
	}
}

func (e *Estimates) add(figures []Figure) {
	for i, f := range figures {
		if i == len(e.Figures) {
			e.Figures = append(e.Figures, Estimate{Figure: f.Name})
		}
		if f.Value == f.Value {
			e.Figures[i].sum.Add(f.Value)
		}
	}
}

// settle turns what was summed up into means and intervals.
func (s *Study) settle() {
	for i := range s.Results {
		for j := range s.Results[i].Figures {
			e := &s.Results[i].Figures[j]
			e.Mean = e.sum.Mean()
			e.Low, e.High = e.sum.Interval95()
			if e.sum.N() == 0 {
				e.Mean = math.NaN()
			}
		}
	}
}

// A Figure is one number of a result under a name that ends in its unit.
type Figure struct {
	Name  string
	Value float64
}

// figuresOf is every number of a result, in the order in which tables and files
// have them. What a run does not have (the detection of a fault that nobody
// detected) is NaN.
func figuresOf(r Result) []Figure {
	figures := []Figure{
		{"latency_mean_ms", r.Latency.Mean},
		{"latency_p50_ms", r.Latency.P50},
		{"latency_p95_ms", r.Latency.P95},
		{"latency_p99_ms", r.Latency.P99},
		{"latency_max_ms", r.Latency.Max},
		{"requests", float64(r.Requests)},
		{"completed_requests", float64(r.Completed)},
		{"errors_requests", float64(r.Errors)},
		{"dropped_requests", float64(r.Dropped)},
		{"unanswered_requests", float64(r.Unanswered)},
		{"attempts", float64(r.Attempts)},
		{"retries", float64(r.Retries)},
		{"client_retries", float64(r.ClientRetries)},
		{"amplification_attempts_per_request", r.Amplification},
		{"duplicates", float64(r.Duplicates)},
		{"away_from_home_requests", float64(r.AwayFromHome)},
		{"cut_by_drain_requests", float64(r.CutByDrain)},
		{"ejections", float64(r.Ejections)},
		{"ejections_refused", float64(r.EjectionsRefused)},
	}
	figures = append(figures, r.Kinds.figures()...)
	figures = append(figures, r.RetriesSkipped.figures()...)
	for _, share := range r.Share {
		figures = append(figures, Figure{"share_" + share.Backend + "_fraction", share.Fraction})
	}
	for _, b := range r.Backends {
		figures = append(figures, b.figures()...)
	}
	return figures
}

func (k Kinds) figures() []Figure {
	return []Figure{
		{"errors_5xx_requests", float64(k.ServerError)},
		{"errors_timeout_requests", float64(k.Timeout)},
		{"errors_refused_requests", float64(k.Refused)},
		{"errors_broken_requests", float64(k.Broken)},
		{"errors_no_backend_requests", float64(k.NoBackend)},
		{"errors_queue_full_requests", float64(k.QueueFull)},
	}
}

func (s Skipped) figures() []Figure {
	return []Figure{
		{"retries_skipped_budget", float64(s.Budget)},
		{"retries_skipped_no_other_backend", float64(s.NoOther)},
		{"retries_skipped_not_idempotent", float64(s.NotIdempotent)},
	}
}

func (b BackendResult) figures() []Figure {
	return []Figure{
		{"attempts_" + b.Backend, float64(b.Attempts)},
		{"latency_p50_" + b.Backend + "_ms", b.Latency.P50},
		{"latency_p99_" + b.Backend + "_ms", b.Latency.P99},
		{"in_flight_max_" + b.Backend + "_requests", float64(b.InFlightMax)},
		{"queue_max_" + b.Backend + "_requests", float64(b.QueueMax)},
		{"detection_" + b.Backend + "_s", orNaN(b.Detection)},
		{"restoration_" + b.Backend + "_s", orNaN(b.Restoration)},
	}
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// MarshalJSON writes what nobody knows as null: JSON has neither infinity nor
// NaN.
func (e Estimate) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Figure string   `json:"figure"`
		Mean   *float64 `json:"mean"`
		Low    *float64 `json:"low"`
		High   *float64 `json:"high"`
	}{e.Figure, finite(e.Mean), finite(e.Low), finite(e.High)})
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// JSON is the study as one indented object with a newline at its end.
func (s Study) JSON() []byte {
	return indented(struct {
		Seed      uint64      `json:"seed"`
		Seeds     int         `json:"seeds"`
		Link      string      `json:"link"`
		Cancelled bool        `json:"cancelled"`
		Truncated string      `json:"truncated,omitempty"`
		Results   []Estimates `json:"results"`
	}{s.Scenario.Seed, s.Seeds, scenario.Encode(s.Scenario), s.Cancelled, s.Truncated, listed(s.Results)})
}

// listed is a list that JSON writes as [] and not as null when it is empty.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func indented(v any) []byte {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic("sim: " + err.Error()) // figures are finite and names are plain
	}
	return append(text, '\n')
}

// Rows is the study as a table: a line per figure, a column per policy, each
// cell a mean and how far its interval reaches. What is zero in every run of
// every policy is left out.
func (s Study) Rows() [][]string {
	head := []string{"figure"}
	for _, r := range s.Results {
		head = append(head, r.Algorithm)
	}
	rows := [][]string{head}
	for i := range s.figures() {
		row, zero := []string{s.Results[0].Figures[i].Figure}, true
		for _, r := range s.Results {
			row = append(row, r.Figures[i].String())
			zero = zero && r.Figures[i].zero()
		}
		if !zero {
			rows = append(rows, row)
		}
	}
	return rows
}

// figures is how many each policy has.
func (s Study) figures() int {
	if len(s.Results) == 0 {
		return 0
	}
	return len(s.Results[0].Figures)
}

// zero says whether no run had anything to say of the figure; no figure is negative.
func (e Estimate) zero() bool { return !(e.Mean > 0) }

// String is the mean and how far the interval reaches to either side: 62.1 ±1.4.
func (e Estimate) String() string {
	if e.sum.N() == 0 {
		return "–"
	}
	mean, reach := shortNumber(e.Mean), e.High-e.Mean
	if finite(reach) == nil || reach == 0 {
		return mean
	}
	return mean + " ±" + twoDigits(reach)
}

// shortNumber is a number as a table shows it: whole ones and large ones
// without decimals, others with three digits.
func shortNumber(v float64) string {
	if v == math.Trunc(v) || math.Abs(v) >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return digits(v, 3)
}

func twoDigits(v float64) string {
	if math.Abs(v) >= 10 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return digits(v, 2)
}

// digits writes v with n digits that count, and no exponent.
func digits(v float64, n int) string {
	decimals := n - 1
	for size := math.Abs(v); 0 < size && size < 1 && decimals < 12; size *= 10 {
		decimals++
	}
	for size := math.Abs(v); size >= 10 && decimals > 0; size /= 10 {
		decimals--
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
