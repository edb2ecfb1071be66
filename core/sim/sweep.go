package sim

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"minilb/core/param"
	"minilb/core/scenario"
	"minilb/core/stat"
)

// A Sweep is a parameter and the values it takes, one run for each: where does
// the pool break, and which policy breaks last?
type Sweep struct {
	Param  string
	Unit   string    // as the schema has it; "s" for durations
	Values []float64 // durations in seconds
	Texts  []string  // the same as one types them
}

// Swept is what a sweep gave.
type Swept struct {
	Sweep     Sweep
	Scenario  scenario.Scenario // before the parameter was set
	Seeds     int               // played at each value
	Points    []Point           // those that were played to the end
	Cancelled bool              // it ended early
	Truncated string            // why it did; empty for a whole one
}

// A Point is what the scenario gave at one value.
type Point struct {
	Value float64
	Text  string
	Study Study
}

const (
	maxPoints   = 200 // more is a curve that nobody can tell from one of 200
	aboutPoints = 10  // without a step
)

// sweepForm is what a sweep looks like, for messages.
const sweepForm = "PARAM=A..B or PARAM=A..B:STEP, such as rate=50..500 or fall=1..10:1"

// ParseSweep reads PARAM=A..B[:STEP]. Without a step there are about ten
// values: round ones at equal distances, or in equal ratios where the
// parameter's scale is logarithmic. A and B are always among them.
func ParseSweep(text string) (Sweep, error) {
	name, span, found := strings.Cut(text, "=")
	if !found || name == "" {
		return Sweep{}, sweepFault(text, "no parameter and its span", sweepForm)
	}
	s := scenario.Default()
	p, err := sweptParam(&s, text, name)
	if err != nil {
		return Sweep{}, err
	}
	span, step, stepped := strings.Cut(span, ":")
	from, to, found := strings.Cut(span, "..")
	if !found {
		return Sweep{}, sweepFault(text, span+" is not a span", sweepForm)
	}
	g := grid{text: text, param: p}
	if err := g.read(from, to, step, stepped); err != nil {
		return Sweep{}, err
	}
	return g.sweep()
}

func sweepFault(text, problem, accepted string) *param.Error {
	return &param.Error{Name: "sweep", Value: text, Problem: problem, Accepted: accepted}
}

// sweptParam finds a parameter that numbers can be given to.
func sweptParam(s *scenario.Scenario, text, name string) (*param.Param, error) {
	set := s.Params()
	p := set.Lookup(name)
	if p == nil {
		fault := sweepFault(text, "unknown parameter "+name, "a number or duration of the scenario")
		fault.Near = set.Nearest(name)
		return nil, fault
	}
	switch p.Kind {
	case param.Int, param.Uint, param.Number, param.Duration:
		if !p.List {
			return p, nil
		}
	}
	return nil, sweepFault(text, name+" is not a number or a duration", "a parameter such as rate, requests or base-ejection")
}

// A grid is a sweep that is being read.
type grid struct {
	text     string
	param    *param.Param
	from, to float64
	step     float64 // 0: choose
}

// read reads the ends by the parameter's own rules, so that an end outside its
// range is refused in its own words.
func (g *grid) read(from, to, step string, stepped bool) (err error) {
	if g.from, err = g.number(from); err != nil {
		return err
	}
	if g.to, err = g.number(to); err != nil {
		return err
	}
	if !(g.from <= g.to) {
		return sweepFault(g.text, "upside down: "+from+" is more than "+to, "the smaller value first")
	}
	if !stepped {
		return nil
	}
	return g.readStep(step)
}

func (g *grid) number(text string) (float64, error) {
	if err := g.param.Set(text); err != nil {
		return 0, err
	}
	return g.param.Float(), nil
}

// readStep reads a distance, which need not be a value of the parameter.
func (g *grid) readStep(text string) (err error) {
	if g.param.Kind == param.Duration {
		d, err := param.ParseDuration(text)
		if g.step = d.Seconds(); err == nil && g.step > 0 {
			return nil
		}
	} else if g.step, err = strconv.ParseFloat(text, 64); err == nil && 0 < g.step && g.step <= math.MaxFloat64 {
		return nil
	}
	return sweepFault(g.text, "the step "+text+" is not a positive "+g.param.Type(), sweepForm)
}

// sweep lists the values as the parameter holds them: whole numbers for whole
// kinds, each once.
func (g *grid) sweep() (Sweep, error) {
	w := Sweep{Param: g.param.Name, Unit: g.unit()}
	if n := math.Floor((g.to-g.from)/g.step) + 1; g.step > 0 && n > maxPoints {
		return w, g.tooMany(n)
	}
	for _, v := range g.points() {
		if err := g.param.SetFloat(v); err != nil {
			return w, err
		}
		if v = g.param.Float(); !slices.Contains(w.Values, v) {
			w.Values, w.Texts = append(w.Values, v), append(w.Texts, g.param.String())
		}
	}
	return w, nil
}

func (g *grid) tooMany(n float64) error {
	many := "over a million values"
	if n <= 1e6 {
		many = fmt.Sprintf("%.0f values", n)
	}
	least := digits((g.to-g.from)/(maxPoints-1), 3)
	return sweepFault(g.text, many, fmt.Sprintf("at most %d: a step of %s or more", maxPoints, least))
}

func (g *grid) unit() string {
	if g.param.Kind == param.Duration {
		return "s"
	}
	return g.param.Unit
}

func (g *grid) points() []float64 {
	switch {
	case g.from == g.to:
		return []float64{g.from}
	case g.step > 0:
		return g.steps(g.step)
	case g.param.Scale == "log" && g.from > 0 && g.to >= 4*g.from:
		return g.ratios()
	}
	return g.round(niceStep((g.to - g.from) / aboutPoints))
}

// round is A, the multiples of a step above it, and B.
func (g *grid) round(step float64) []float64 {
	points := []float64{g.from}
	for i := math.Floor(g.from/step) + 1; ; i++ {
		v := rounded(i*step, 12)
		if v >= g.to {
			return append(points, g.to)
		}
		points = append(points, v)
	}
}

// steps is A, A+step and so on, and B. Each is computed afresh, so that errors do not
// add up, and rounded to what a person would have typed.
func (g *grid) steps(step float64) []float64 {
	var points []float64
	for i := 0; ; i++ {
		v := rounded(g.from+float64(float64(i)*step), 12)
		if v >= g.to {
			return append(points, g.to)
		}
		points = append(points, v)
	}
}

// ratios is about ten values, each the same multiple of the one before, rounded to
// two digits.
func (g *grid) ratios() []float64 {
	points := []float64{g.from}
	whole := stat.Log(g.to / g.from)
	for i := 1; i < aboutPoints-1; i++ {
		v := rounded(float64(g.from*stat.Exp(float64(whole*float64(i)/(aboutPoints-1)))), 2)
		points = append(points, min(max(v, g.from), g.to))
	}
	return append(points, g.to)
}

func rounded(v float64, digits int) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v
	}
	return short
}

// niceStep is the next 1, 2 or 5 times a power of ten.
func niceStep(least float64) float64 {
	size := 1.0
	for size > least {
		size /= 10
	}
	for size*10 <= least {
		size *= 10
	}
	for _, factor := range [...]float64{1, 2, 5} {
		if size*factor >= least {
			return size * factor
		}
	}
	return size * 10
}

// column names the parameter's column with its unit.
func (w Sweep) column() string {
	unit := strings.NewReplacer("/", "_per_", "%", "percent").Replace(w.Unit)
	if unit == "" || unit == w.Param {
		return w.Param
	}
	return w.Param + "_" + unit
}

// Run plays the scenario with each value, n seeds for each. All values and
// policies see the same seeds, so a curve's steps are the parameter's and not
// chance's.
func (w Sweep) Run(s scenario.Scenario, n int, o Options) (Swept, error) {
	out := Swept{Sweep: w, Scenario: s, Seeds: n}
	for i, text := range w.Texts {
		if err := s.Params().Lookup(w.Param).Set(text); err != nil {
			return out, err
		}
		study, err := Seeds(s, n, Options{Progress: part(o.Progress, i, len(w.Texts)), limits: o.limits})
		if err != nil {
			err = fmt.Errorf("at %s %s: %w", w.Param, text, err)
		}
		if study.Cancelled {
			out.cut(study, err)
		}
		if err != nil || study.Cancelled {
			return out, err
		}
		out.Points = append(out.Points, Point{Value: w.Values[i], Text: text, Study: study})
	}
	return out, nil
}

// cut notes why the sweep ends with a study that was not whole.
func (s *Swept) cut(study Study, err error) {
	s.Cancelled, s.Truncated = true, study.Truncated
	if err != nil {
		s.Truncated = err.Error()
	}
}

// JSON is the sweep as one indented object with a newline at its end.
func (s Swept) JSON() []byte {
	type point struct {
		Value   float64     `json:"value"`
		Results []Estimates `json:"results"`
	}
	points := []point{}
	for _, p := range s.Points {
		points = append(points, point{p.Value, p.Study.Results})
	}
	return indented(struct {
		Seed      uint64  `json:"seed"`
		Seeds     int     `json:"seeds"`
		Link      string  `json:"link"`
		Param     string  `json:"param"`
		Unit      string  `json:"unit"`
		Cancelled bool    `json:"cancelled"`
		Truncated string  `json:"truncated,omitempty"`
		Points    []point `json:"points"`
	}{s.Scenario.Seed, s.Seeds, scenario.Encode(s.Scenario), s.Sweep.Param, s.Sweep.Unit, s.Cancelled, s.Truncated, points})
}

// shown are the figures of a sweep's table, and what its head calls them.
var shown = [...][2]string{
	{"latency_p50_ms", "p50 ms"}, {"latency_p95_ms", "p95 ms"}, {"latency_p99_ms", "p99 ms"},
	{"errors_requests", "errors"}, {"dropped_requests", "dropped"}, {"ejections", "ejections"},
}

// Rows is the sweep as a table: for each policy, a line per value.
func (s Swept) Rows() [][]string {
	head := []string{"algorithm", s.Sweep.head()}
	for _, f := range shown {
		head = append(head, f[1])
	}
	rows := [][]string{head}
	for i, algorithm := range s.Scenario.Algorithms {
		for _, p := range s.Points {
			rows = append(rows, append([]string{algorithm, p.Text}, p.Study.Results[i].columns()...))
		}
	}
	return rows
}

func (w Sweep) head() string {
	if w.Unit == "" || w.Unit == w.Param {
		return w.Param
	}
	return w.Param + " " + w.Unit
}

func (e Estimates) columns() []string {
	var texts []string
	for _, f := range shown {
		i := slices.IndexFunc(e.Figures, func(have Estimate) bool { return have.Figure == f[0] })
		texts = append(texts, e.Figures[i].String())
	}
	return texts
}
