//go:build js

package main

import (
	"encoding/json"
	"fmt"
	"syscall/js"

	"minilb/wasm/page"
)

// A result is a run on the page, kept so that another policy's charts can be shown without another run.
type result struct {
	asked       page.Asked
	outcome     page.Outcome
	transcripts []page.Transcript
	series      js.Value
}

// done shows a run: figures, sentence, charts, events, and how long it took from the movement of the hand.
func (a *app) done(message js.Value) {
	text := message.Get("json").String()
	outcome, err := page.ReadOutcome(a.asked.model.Scenario, []byte(text))
	r := &result{asked: a.asked.model, outcome: outcome, series: message.Get("series")}
	if err == nil {
		err = json.Unmarshal([]byte(message.Get("transcripts").String()), &r.transcripts)
	}
	if err != nil {
		a.failed(err.Error())
		return
	}
	a.shown = r
	a.setText("results-json", text)
	a.state("running")
	a.render()
	a.setText("ran", page.Ran(outcome, message.Get("ms").Float()))
	a.measure()
}

// measure notes the time from the input to the numbers, for people in the developer tools and for the tests.
func (a *app) measure() {
	end := now()
	main := a.byID("main")
	main.SetAttribute("data-last-ms", fmt.Sprintf("%.1f", end-a.asked.since))
	main.SetAttribute("data-link", a.shown.asked.Link)
	options := map[string]any{"start": a.asked.since, "end": end}
	js.Global().Get("performance").Call("measure", "minilb: change to numbers", options)
}

// failed says why there are no results; the last ones stay.
func (a *app) failed(reason string) {
	a.setText("verdict", reason)
	a.hide("remedy", true)
	a.state("failed")
}

// render shows the run for the policy that is chosen.
func (a *app) render() {
	r := a.shown
	policy := a.model.Showing(r.outcome)
	a.setText("verdict", page.Verdict(r.outcome, policy))
	a.remedy = page.FindRemedy(r.outcome, policy)
	a.hide("remedy", a.remedy.Label == "")
	a.byID("remedy").QuerySelector("button").SetTextContent(a.remedy.Label)
	a.policies(policy)
	a.compare(policy)
	for i, f := range r.outcome.Results {
		if f.Algorithm == policy && i < len(r.transcripts) {
			a.transcript(r.transcripts[i])
			a.charts.Call("show", r.series, i, string(chartMeta(r.outcome, r.transcripts[i])))
		}
	}
}

// chartMeta is what charts.js needs beside the numbers.
func chartMeta(o page.Outcome, t page.Transcript) []byte {
	type backend struct {
		Name    string `json:"name"`
		Letter  string `json:"letter"`
		Mark    string `json:"mark"`
		Colour  string `json:"colour"`
		Hatched bool   `json:"hatched"`
	}
	meta := struct {
		Backends []backend        `json:"backends"`
		Events   []page.ChartMark `json:"events"`
	}{Events: t.Marks(o.Scenario)}
	for i, b := range o.Scenario.Backends {
		k := page.MarkOf(i)
		meta.Backends = append(meta.Backends, backend{b.Name, k.Letter, markClass(k), k.Colour, k.Hatched})
	}
	text, err := json.Marshal(meta)
	if err != nil {
		panic("play: " + err.Error()) // names, letters and times
	}
	return text
}

// policies are the choice of whose charts are shown.
func (a *app) policies(chosen string) {
	var m markup
	m.element("legend", "Charts show")
	for _, f := range a.shown.outcome.Results {
		m.open("label").open("input", "type", "radio", "name", "shown", "value", f.Algorithm, "data-show", f.Algorithm,
			when(f.Algorithm == chosen, "checked"), "").text(f.Algorithm).close("label")
	}
	if _, ran := a.shown.outcome.Of(page.Reference); !ran {
		m.element("button", "Compare with "+page.Reference, "type", "button", "data-do", "compare")
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
	o := a.shown.outcome
	t := o.Table(chosen)
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
			class := ""
			if c.Best {
				class = "best"
			}
			if t.Policies[i] == chosen {
				class += " shown"
			}
			if c.Words {
				class += " words"
			}
			m.element("td", c.Text, "class", class, when(c.Exact != "", "data-value"), c.Exact, when(line.Key != "", "data-figure"), line.Key)
		}
		m.close("tr")
	}
	m.close("tbody").close("table")
	a.byID("compare").QuerySelector(".scroll").SetInnerHTML(m.String())
}

func (a *app) transcript(t page.Transcript) {
	a.setText("transcript-note", t.Note())
	var m markup
	for _, line := range t.Lines {
		m.element("li", line.Text, "class", line.Class())
	}
	a.byID("transcript").QuerySelector("ol").SetInnerHTML(m.String())
}
