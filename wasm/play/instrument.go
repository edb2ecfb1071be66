//go:build js

package main

import (
	"strconv"
	"strings"
	"syscall/js"

	"minilb/core/scenario"
	"minilb/wasm/dom"
	"minilb/wasm/page"
)

// instrument shows what stands below the charts: runs that were kept, intervals over seeds, the rules of thumb and
// where keys go.
func (a *app) instrument(policy string) {
	a.variants(policy)
	a.showStudy()
	a.calculators(policy)
	a.showKeys(policy)
	views().Call("show")
}

// views is views.js: the drawings that are no charts over time.
func views() js.Value { return js.Global().Get("minilbViews") }

// listenInstrument hears what its fields are told.
func (a *app) listenInstrument() {
	a.document.AddEventListener("input", false, func(e dom.Event) {
		if what, ok := data(e.Target(), "ask"); ok {
			a.ask(what, value(e.Target()))
		}
	})
	keys := a.byID("keyview")
	keys.AddEventListener("pointerover", false, a.onKey)
	keys.AddEventListener("focusin", false, a.onKey)
	keys.AddEventListener("keydown", false, a.onKeyMove)
}

// ask is a field of the instrument that is typed into.
func (a *app) ask(what, text string) {
	if a.shown == nil {
		return
	}
	policy := a.model.Showing(a.shown.outcome)
	switch what {
	case "draws":
		if n, err := strconv.Atoi(text); err == nil && 1 <= n && n <= 64 {
			a.draws = n
			a.calculators(policy)
		}
	case "removed":
		a.removed, _ = strconv.Atoi(text)
		a.showKeys(policy)
	case "key":
		a.key = text[:min(len(text), 200)]
		a.sayKey()
	}
}

// compareMore is the buttons of the comparison.
func (a *app) compareMore(do string, e dom.Event) {
	if a.shown == nil {
		return
	}
	policy := a.model.Showing(a.shown.outcome)
	switch do {
	case "keep":
		if err := a.model.Keep(a.shown.outcome, policy); err != nil {
			a.setText("variants-note", err.Error())
			return
		}
		kept := a.model.Variants()[len(a.model.Variants())-1]
		views().Call("keep", kept.Letter, kept.Letter+" "+kept.Policy)
	case "drop":
		letter, _ := data(e.Target().Closest("button"), "letter")
		a.model.Drop(letter)
		views().Call("drop", letter)
	case "study":
		a.since, a.seeds = now(), page.Seeds
		_, step := a.queue.Submit(now())
		a.do(step)
		return
	}
	a.variants(policy)
}

// variants is the table of what was kept, with the changes since in words.
func (a *app) variants(policy string) {
	o := a.shown.outcome
	var m markup
	for _, v := range a.model.Variants() {
		m.open("li").element("strong", v.Letter+" "+v.Policy).text(" → " + a.t("now") + ": " + v.Changes(o, policy) + " ")
		m.element("button", a.t("Drop")+" "+v.Letter, "type", "button", "data-do", "drop", "data-letter", v.Letter).close("li")
	}
	a.replace("variants-list", m.String())
	a.setText("variants-note", "")
	t := a.model.VariantTable(o, policy)
	a.hide("variants-table", len(t.Lines) == 0)
	if len(t.Lines) > 0 {
		a.replace("variants-table", tableOf(t, page.NowColumn(a.model.Words(), policy)))
	}
}

// studied shows a study that has come in.
func (a *app) studied(text string) {
	study, err := page.ReadStudy([]byte(text))
	if err != nil {
		a.failed(err.Error())
		return
	}
	study.Words = a.model.Words()
	a.study, a.seeds = study, 0
	a.showStudy()
}

// showStudy shows the newest study as long as it is of the scenario on the page.
func (a *app) showStudy() {
	fits := a.study.Seeds > 0 && a.shown != nil && a.study.Link == a.shown.asked.Link
	a.hide("study-table", !fits)
	if !fits {
		a.setText("study-words", "")
		return
	}
	a.setText("study-words", a.study.Summary())
	a.replace("study-table", tableOf(a.study.Table(), ""))
}

// calculators are built once, so that the field in them keeps its focus, and then only their words change.
func (a *app) calculators(policy string) {
	list := a.shown.outcome.Calculators(policy, a.draws)
	if a.written["calculators"] == "" {
		a.written["calculators"] = "built"
		var m markup
		for _, c := range list {
			m.open("div", "class", "calculator").element("h3", c.Title).element("p", "", "class", "unit", "id", "calc-"+c.Name+"-rule")
			if c.Name == "sample" {
				m.open("p").element("label", a.t("Draws")+" ", "for", "draws").open("input", "type", "text", "inputmode", "numeric", "id", "draws", "data-ask", "draws",
					"value", number(a.draws)).close("p")
			}
			m.element("p", "", "class", "sum", "id", "calc-"+c.Name).element("p", "", "class", "measured", "id", "calc-"+c.Name+"-measured").close("div")
		}
		a.byID("calculators").QuerySelector(".three").SetInnerHTML(m.String())
	}
	for _, c := range list {
		a.setText("calc-"+c.Name+"-rule", c.Rule)
		a.setText("calc-"+c.Name, c.Sum)
		a.setText("calc-"+c.Name+"-measured", a.t("Simulated:")+" "+c.Measured)
	}
}

// showKeys is a hashing policy's ring or table: a button for each of some keys, with the letter of its backend.
func (a *app) showKeys(policy string) {
	s := a.shown.outcome.Scenario
	asked := a.shown.asked.Link + " " + policy + " " + number(a.removed)
	if asked == a.keysOf {
		return // filling a table takes longer than all the rest
	}
	a.keysOf, a.keys = asked, page.Keys(s, policy, a.removed, a.model.Words())
	a.hide("keyview", a.keys == nil)
	if a.keys == nil {
		return
	}
	a.setText("keys-note", a.keys.Note)
	a.drawKeys(s)
	var m markup
	for i, b := range s.Backends {
		m.element("option", page.MarkOf(i).Before(b.Name), "value", number(i), when(i == a.keys.Removed, "selected"), "")
	}
	a.replace("keys-removed", m.String())
	m = markup{}
	for i, c := range a.keys.Cells {
		class, label := "", page.MarkOf(c.Now).Letter
		if c.Now >= 0 {
			class = swatch(page.MarkOf(c.Now))
		}
		if c.Moves() {
			class += " moves"
			label += " → " + letterOf(c.After)
		}
		tab := "-1"
		if i == 0 {
			tab = "0"
		}
		m.element("button", letterOf(c.Now), "type", "button", "class", strings.Replace(class, "swatch", "cell", 1), "data-cell", number(i), "tabindex", tab,
			"aria-label", c.Key+": "+label)
	}
	a.replace("keys-grid", m.String())
	a.sayKey()
}

// drawKeys draws the policy's ring or table, and writes the same as a table.
func (a *app) drawKeys(s scenario.Scenario) {
	a.drawing = a.keys.Drawing(s)
	if a.drawing == nil {
		views().Call("keys", "")
		return
	}
	views().Call("keys", a.drawing.JSON())
	heads, rows := a.keys.Table(s)
	var m markup
	m.open("table").open("thead").open("tr")
	for _, head := range heads {
		m.element("th", head, "scope", "col")
	}
	m.close("tr").close("thead").open("tbody")
	for _, row := range rows {
		m.open("tr").element("th", row[0], "scope", "row").element("td", row[1]).element("td", row[2]).close("tr")
	}
	m.close("tbody").close("table")
	a.byID("keyring").QuerySelector("details .scroll").SetInnerHTML(m.String())
}

// mark shows on the drawing where a key lies.
func (a *app) mark(c page.KeyCell) {
	if a.drawing != nil {
		views().Call("key", c.Key, a.drawing.At(c.Hash), c.Now, c.After)
	}
}

func letterOf(backend int) string {
	if backend < 0 {
		return "–"
	}
	return page.MarkOf(backend).Letter
}

// sayKey explains the key that the person typed.
func (a *app) sayKey() {
	if a.keys == nil {
		return
	}
	if a.key == "" {
		a.setText("keys-why", "")
		a.setText("keys-say", a.t("Point at a key, or type one of your own."))
		return
	}
	s := a.shown.outcome.Scenario
	cell, why := a.keys.OfText(s, a.key)
	a.mark(cell)
	a.setText("keys-say", a.keys.Sentence(s, cell))
	a.setText("keys-why", strings.Join(why, "\n"))
}

// onKey explains the key under the pointer or the focus.
func (a *app) onKey(e dom.Event) {
	i, ok := a.cellAt(e)
	if ok {
		a.mark(a.keys.Cells[i])
		a.setText("keys-say", a.keys.Sentence(a.shown.outcome.Scenario, a.keys.Cells[i]))
		a.setText("keys-why", "")
	}
}

func (a *app) cellAt(e dom.Event) (int, bool) {
	text, ok := data(e.Target(), "cell")
	i, err := strconv.Atoi(text)
	return i, ok && err == nil && a.keys != nil && 0 <= i && i < len(a.keys.Cells)
}

// onKeyMove moves the focus from key to key, so that the grid is one stop of the Tab key.
func (a *app) onKeyMove(e dom.Event) {
	i, ok := a.cellAt(e)
	if !ok {
		return
	}
	last := len(a.keys.Cells) - 1
	to, moves := map[string]int{"ArrowRight": i + 1, "ArrowLeft": i - 1, "ArrowDown": i + 12, "ArrowUp": i - 12, "Home": 0, "End": last}[e.Underlying().Get("key").String()]
	if !moves || to < 0 || to > last {
		return
	}
	e.Underlying().Call("preventDefault")
	next := a.byID("keys-grid").QuerySelector(`[data-cell="` + number(to) + `"]`)
	e.Target().SetAttribute("tabindex", "-1")
	next.SetAttribute("tabindex", "0")
	next.Underlying().Call("focus")
}
