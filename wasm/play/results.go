//go:build js

package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"syscall/js"

	"minilb/core/sim"
	"minilb/wasm/page"
)

// A result is a run on the page, kept so that another policy's charts can be shown without another run.
type result struct {
	asked   page.Asked
	text    string // the JSON that the command line prints
	outcome page.Outcome
	courses []page.Course
	series  js.Value
	digest  string // as links carry it
	steps   steps
}

// done shows a run, its numbers first.
func (a *app) done(asked asked, message js.Value) {
	heard := now()
	r, err := readResult(asked.model, message)
	if err != nil {
		a.failed(err.Error())
		return
	}
	r.outcome.Words = a.model.Words()
	r.steps = stepsOf(asked.since, heard, message)
	a.shown = r
	a.state("running")
	a.render()
	a.setText("ran", page.Ran(r.outcome, message.Get("ms").Float()))
	a.byID("main").SetAttribute("data-link", r.asked.Link)
	r.steps.written = now()
}

func readResult(asked page.Asked, message js.Value) (*result, error) {
	r := &result{asked: asked, text: message.Get("json").String(), series: message.Get("series"), digest: message.Get("mark").String()}
	var digest page.Digest
	if err := json.Unmarshal([]byte(message.Get("digest").String()), &digest); err != nil {
		return nil, err
	}
	var err error
	r.courses = digest.Courses
	r.outcome, err = page.ReadOutcome(asked.Scenario, []byte(r.text), digest.Verdicts)
	return r, err
}

// failed says why there are no results; the last ones stay.
func (a *app) failed(reason string) {
	a.setText("verdict", a.model.Words().Fault(reason))
	a.hide("remedy", true)
	a.state("failed")
}

// render shows the run for the policy that is chosen: the sentence and the figures now, the rest as stages after them.
func (a *app) render() {
	r := a.shown
	policy := a.model.Showing(r.outcome)
	a.say(r.outcome.Sentence(policy))
	a.remedy = page.FindRemedy(r.outcome, policy)
	a.hide("remedy", a.remedy.Label == "")
	a.byID("remedy").QuerySelector("button").SetTextContent(a.remedy.Label)
	a.policies(policy)
	a.compare(policy)
	a.stages.begin()
}

// draw shows the charts in sight; charts.js draws the others when they come into sight.
func (a *app) draw() {
	r := a.shown
	if i := r.place(a.model.Showing(r.outcome)); i >= 0 {
		a.charts.Call("show", r.series, i, string(chartMeta(r, i, a.model.Words())))
	}
}

// complete writes what is read later than the rest, or stands in folds.
func (a *app) complete() {
	r := a.shown
	policy := a.model.Showing(r.outcome)
	if i := r.place(policy); i >= 0 {
		a.transcript(r.courses[i].Transcript)
	}
	a.setText("results-json", r.text)
	a.setText("command", a.model.Command())
	a.instrument(policy)
	a.afterResult()
}

// place is where a policy stands among the results, -1 when it did not run.
func (r *result) place(policy string) int {
	at := slices.IndexFunc(r.outcome.Results, func(f page.Figures) bool { return f.Algorithm == policy })
	if at >= len(r.courses) {
		return -1
	}
	return at
}

// say changes the sentence, and only when it is another one: what is written is read out.
func (a *app) say(sentence string) {
	if verdict := a.byID("verdict"); verdict.Underlying().Get("textContent").String() != sentence {
		verdict.SetTextContent(sentence)
	}
}

// chartMeta is what the charts and the flow need beside the numbers, for the policy at that place.
func chartMeta(r *result, at int, w page.Words) []byte {
	type backend struct {
		Name     string `json:"name"`
		Letter   string `json:"letter"`
		Mark     string `json:"mark"`
		Colour   string `json:"colour"`
		Hatched  bool   `json:"hatched"`
		Capacity int    `json:"capacity"`
	}
	s := r.outcome.Scenario
	meta := struct {
		Backends  []backend        `json:"backends"`
		Events    []page.ChartMark `json:"events"`
		Spans     []page.Span      `json:"spans"`
		Troubles  []page.Span      `json:"troubles"`
		Curves    [][][2]float64   `json:"curves"`
		Policies  []string         `json:"policies"`
		Shown     string           `json:"shown"`
		Balancers int              `json:"balancers"`
	}{Events: r.courses[at].Transcript.Moments(s, w), Spans: r.courses[at].Spans, Troubles: page.Troubles(s, w), Balancers: max(1, s.BalancerCount)}
	for i, b := range s.Backends {
		k := page.MarkOf(i)
		meta.Backends = append(meta.Backends, backend{b.Name, k.Letter, markClass(k), k.Colour, k.Hatched, b.Capacity})
	}
	for i, f := range r.outcome.Results {
		meta.Policies = append(meta.Policies, f.Algorithm)
		meta.Curves = append(meta.Curves, r.courses[i].Curve)
	}
	meta.Shown = meta.Policies[at]
	text, err := json.Marshal(meta)
	if err != nil {
		panic("play: " + err.Error()) // names, letters and times
	}
	return text
}

// policies are the choice of whose charts are shown.
func (a *app) policies(chosen string) {
	var m markup
	m.element("legend", a.t("Charts show"))
	for _, f := range a.shown.outcome.Results {
		m.open("label").open("input", "type", "radio", "name", "shown", "value", f.Algorithm, "data-show", f.Algorithm,
			when(f.Algorithm == chosen, "checked"), "").text(f.Algorithm).close("label")
	}
	if _, ran := a.shown.outcome.Of(page.Reference); !ran {
		m.element("button", a.model.Words().Say("Compare with {policy}", sim.Named("policy", page.Reference)), "type", "button", "data-do", "compare")
	}
	a.replace("shown", m.String())
}

// replace writes HTML unless it is there already, so that the focus inside stays where it is.
func (a *app) replace(id, text string) {
	if a.written[id] != text {
		a.written[id] = text
		a.byID(id).SetInnerHTML(text)
	}
}

// compare is the table: a line for each figure, a column for each policy.
func (a *app) compare(chosen string) {
	a.byID("compare").QuerySelector(":scope > .scroll").SetInnerHTML(tableOf(a.shown.outcome.Table(chosen), chosen))
}

// tableOf writes a table with the column of the chosen policy marked.
func tableOf(t page.Table, chosen string) string {
	var m markup
	m.open("table").open("thead").open("tr").open("td").close("td")
	for _, policy := range t.Policies {
		m.element("th", policy, "scope", "col", when(policy == chosen, "class"), "shown")
	}
	m.close("tr").close("thead").open("tbody")
	for _, line := range t.Lines {
		m.open("tr", when(line.First, "class"), "first")
		m.open("th", "scope", "row")
		if line.Mark != nil {
			m.element("span", "", "class", swatch(*line.Mark))
		}
		m.text(line.Head).close("th")
		for i, c := range line.Cells {
			m.element("td", c.Text, "class", cellClass(c, t.Policies[i] == chosen), when(c.Exact != "", "data-value"), c.Exact,
				when(line.Key != "", "data-figure"), line.Key)
		}
		m.close("tr")
	}
	m.close("tbody").close("table")
	return m.String()
}

func cellClass(c page.Cell, shown bool) string {
	class := ""
	if c.Best {
		class = "best"
	}
	if shown {
		class += " shown"
	}
	if c.Words {
		class += " words"
	}
	return class
}

func (a *app) transcript(t page.Transcript) {
	a.setText("transcript-note", t.Note(a.model.Words()))
	if text := transcriptOf(t); a.written["transcript"] != text {
		a.written["transcript"] = text
		a.byID("transcript").QuerySelector("ol").SetInnerHTML(text)
		a.charts.Call("lines")
	}
}

func transcriptOf(t page.Transcript) string {
	var m markup
	for _, line := range t.Lines {
		m.open("li", "class", line.Class())
		m.element("button", line.Text, "type", "button", "data-at", strconv.FormatFloat(line.At, 'f', -1, 64))
		m.close("li")
	}
	return m.String()
}
