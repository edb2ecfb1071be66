//go:build js

package main

import (
	"strings"

	"minilb/core/sim"
	"minilb/wasm/dom"
	"minilb/wasm/page"
)

// buildControls writes the whole form anew. It happens when the page opens, when a scenario is loaded and when a
// backend comes or goes; moving a slider changes its own row only.
func (a *app) buildControls() {
	var m markup
	a.search(&m)
	for _, g := range a.model.Groups() {
		a.group(&m, g)
	}
	m.element("p", a.t("Point at a control to read what it does."), "id", "hint", "aria-hidden", "true")
	a.controls.SetInnerHTML(m.String())
	a.forgetBadges()
	a.markChanged()
}

func (a *app) group(m *markup, g page.Group) {
	open := g.Open
	if was, known := a.unfolded[g.Name]; known {
		open = was
	}
	m.open("details", "class", "group", "data-group", g.Name, when(open, "open"), "")
	m.open("summary").element("span", a.t(g.Name)).element("span", "", "class", "badge").close("summary")
	m.open("div", "class", "inside")
	if g.Name == "backends" {
		a.cards(m)
	}
	a.rows(m, g.Main, "")
	if len(g.More) > 0 {
		more := g.Name + " more"
		m.open("details", "class", "more", "data-group", more, when(a.unfolded[more], "open"), "")
		m.open("summary").text(a.t("more")).element("span", "", "class", "badge").close("summary")
		a.rows(m, g.More, "")
		m.close("details")
	}
	m.close("div").close("details")
}

func (a *app) cards(m *markup) {
	cards := a.model.Cards()
	for _, c := range cards {
		m.open("div", "class", "card", "role", "group", "aria-label", "backend "+c.Name)
		m.open("div", "class", "top")
		m.element("span", c.Mark.Letter, "class", "letter", "aria-hidden", "true").element("span", "", "class", swatch(c.Mark))
		m.open("input", "type", "text", "class", "name", "value", c.Name, "data-name", number(c.Index), "maxlength", "32",
			"spellcheck", "false", "aria-label", a.model.Words().Say("name of backend {letter}", sim.Named("letter", c.Mark.Letter)))
		remove := a.model.Words().Say("Remove {backend}", sim.Named("backend", c.Name))
		m.element("button", "×", "type", "button", "class", "icon", "data-remove", number(c.Index),
			"aria-label", remove, "title", remove, when(!a.model.CanRemove(), "disabled"), "")
		m.close("div")
		m.element("p", "", "class", "error", "id", "name-"+number(c.Index)+"-error", "hidden", "")
		a.rows(m, c.Controls, c.Name)
		a.moreOf(m, c)
		m.close("div")
	}
	m.open("div", "class", "foot")
	m.element("button", a.t("Add a backend"), "type", "button", "data-do", "add", when(!a.model.CanAdd(), "disabled"), "")
	m.element("button", a.t("Reset everything"), "type", "button", "data-do", "reset-all")
	m.close("div")
}

// moreOf is how a backend serves and what happens to it, folded away.
func (a *app) moreOf(m *markup, c page.Card) {
	name := "card " + c.Name
	m.open("details", "class", "more", "data-group", name, when(a.unfolded[name], "open"), "")
	m.open("summary").text(a.t("service, queue, faults")).element("span", a.model.Words().Changed(c.Changed), "class", "badge", "id", "card-"+number(c.Index)+"-badge").close("summary")
	a.rows(m, c.More, c.Name)
	m.close("details")
}

// search is the field over all parameters.
func (a *app) search(m *markup) {
	m.open("div", "class", "search")
	m.element("label", a.t("Search"), "for", "search")
	m.open("input", "type", "search", "id", "search", "placeholder", a.t("parameters, such as retries"), "spellcheck", "false", "autocapitalize", "off")
	m.element("output", "", "id", "found", "aria-live", "polite")
	m.element("button", a.t("Close"), "type", "button", "class", "phone", "data-do", "sheet")
	m.close("div")
}

// find shows the rows that are searched for and hides the others; an empty field shows all of them again.
func (a *app) find(query string) {
	found := 0
	match := map[string]bool{}
	for _, k := range a.model.Everything() {
		match[k.ID+"-row"] = k.Matches(query)
		if match[k.ID+"-row"] {
			found++
		}
	}
	for _, row := range a.controls.QuerySelectorAll(".row, .checkrow") {
		row.Underlying().Set("hidden", !match[row.Underlying().Get("id").String()])
	}
	toggleClass(a.controls, "searching", query != "")
	for _, fold := range a.controls.QuerySelectorAll("details") {
		empty := fold.QuerySelector(".row:not([hidden]), .checkrow:not([hidden])") == nil
		fold.Underlying().Set("hidden", query != "" && empty)
		if query != "" && !empty {
			fold.Underlying().Set("open", true)
		}
	}
	text := ""
	if query != "" {
		text = a.model.Words().Say("{n?# found|# found}", sim.Counted("n", found))
	}
	a.setText("found", text)
}

// swatch is the classes of a backend's mark; the colours behind them are in the style sheet.
func swatch(k page.Mark) string {
	return strings.TrimSpace("swatch " + markClass(k))
}

func markClass(k page.Mark) string {
	class := "m" + number(k.Place)
	if k.Hatched {
		class += " hatched"
	}
	return class
}

// rows writes one row for each control; the backend it belongs to, if any, completes the names that a screen reader says.
func (a *app) rows(m *markup, controls []page.Control, owner string) {
	for _, k := range controls {
		class := "row"
		if k.Changed {
			class += " changed"
		}
		if k.Idle != "" {
			class += " idle"
		}
		if k.Look == page.Checks {
			a.checks(m, k, class)
			continue
		}
		if k.Look != page.Slider {
			class += " wide"
		}
		m.open("div", "class", class, "id", k.ID+"-row", "data-help", k.Label+": "+k.Help)
		m.open("label", "for", k.ID).text(k.Label).text(" ").element("span", k.Unit, "class", "unit").close("label")
		a.field(m, k, owner)
		a.reset(m, k, owner)
		why(m, k)
		m.element("p", k.Help, "class", "quiet", "id", k.ID+"-help")
		m.element("p", "", "class", "error", "id", k.ID+"-error", "aria-live", "polite", "hidden", "")
		m.close("div")
	}
}

// why is the line that says why a control has no effect now.
func why(m *markup, k page.Control) {
	m.element("p", k.Idle, "class", "why", "id", k.ID+"-idle", when(k.Idle == "", "hidden"), "")
}

func (a *app) reset(m *markup, k page.Control, owner string) {
	title := a.model.Words().Say("Reset {name} to {value}", sim.Named("name", a.whose(k.Label, owner)), sim.Named("value", k.Default))
	m.element("button", "↺", "type", "button", "class", "icon reset", "data-reset", k.ID, "title", title, "aria-label", title)
}

// spoken is what a screen reader calls a control: its name, whose it is, its unit.
func (a *app) spoken(k page.Control, owner string) string {
	name := a.whose(k.Label, owner)
	if k.Unit == "" {
		return name
	}
	return a.model.Words().Say("{name}, in {unit}", sim.Named("name", name), sim.Named("unit", k.Unit))
}

// whose is a name with the backend that it belongs to, if any.
func (a *app) whose(name, owner string) string {
	if owner == "" {
		return name
	}
	return a.model.Words().Say("{name} of {backend}", sim.Named("name", name), sim.Named("backend", owner))
}

func (a *app) field(m *markup, k page.Control, owner string) {
	described := []string{"aria-label", a.spoken(k, owner), "aria-describedby", k.ID + "-help " + k.ID + "-idle " + k.ID + "-error"}
	switch k.Look {
	case page.Menu:
		m.open("select", append(described, "id", k.ID, "data-set", k.ID)...)
		for _, c := range k.Choices {
			m.element("option", c.Name, when(c.Chosen, "selected"), "")
		}
		m.close("select")
	case page.Switch:
		m.open("span").open("input", append(described, "type", "checkbox", "id", k.ID, "data-switch", k.ID, when(k.Text == "true", "checked"), "")...).close("span")
	case page.Slider:
		m.open("input", "type", "range", "id", k.ID+"-slider", "data-slide", k.ID, "min", "0", "max", number(k.Stops-1),
			"value", number(k.Position), "aria-label", a.whose(k.Label, owner)+", "+a.t("slider"), "aria-valuetext", k.Spoken, "aria-describedby", k.ID+"-help")
		text(m, k, described)
	default:
		text(m, k, described)
	}
}

func text(m *markup, k page.Control, described []string) {
	m.open("input", append(described, "type", "text", "id", k.ID, "data-set", k.ID, "value", k.Text, when(k.Look == page.Slider, "inputmode"), "decimal",
		"spellcheck", "false", "autocapitalize", "off")...)
}

// checks is a list of which several may be chosen.
func (a *app) checks(m *markup, k page.Control, class string) {
	m.open("div", "id", k.ID+"-row", "data-help", k.Label+": "+k.Help, "class", strings.Replace(class, "row", "checkrow", 1))
	m.open("div", "class", "checkhead").element("span", k.Label, "id", k.ID+"-label", "class", "label")
	a.reset(m, k, "")
	m.close("div")
	m.open("div", "class", "checks", "role", "group", "aria-labelledby", k.ID+"-label")
	for _, c := range k.Choices {
		help := c.Name + ": " + c.Help
		m.open("label", "title", c.Help, "data-help", help)
		m.open("input", "type", "checkbox", "data-toggle", k.ID, "value", c.Name, when(c.Chosen, "checked"), "")
		m.text(c.Name).close("label")
	}
	m.close("div")
	why(m, k)
	m.element("p", "", "class", "error", "id", k.ID+"-error", "aria-live", "polite", "hidden", "")
	m.close("div")
}

// sync brings one control's row up to date, except for the element that the person is using.
func (a *app) sync(id string, using dom.Element) {
	k, ok := a.model.Control(id)
	if !ok {
		return
	}
	if row := a.byID(id + "-row"); row != nil {
		toggleClass(row, "changed", k.Changed)
	}
	a.syncCard(id)
	set := func(id string, change func(dom.Element)) {
		if e := a.byID(id); e != nil && (using == nil || !e.Underlying().Equal(using.Underlying())) {
			change(e)
		}
	}
	switch k.Look {
	case page.Slider:
		set(id+"-slider", func(e dom.Element) { e.Underlying().Set("value", k.Position) })
		if e := a.byID(id + "-slider"); e != nil {
			e.SetAttribute("aria-valuetext", k.Spoken)
		}
		set(id, func(e dom.Element) { e.Underlying().Set("value", k.Text) })
	case page.Switch:
		set(id, func(e dom.Element) { e.Underlying().Set("checked", k.Text == "true") })
	case page.Checks:
		a.syncChecks(k)
	default:
		set(id, func(e dom.Element) { e.Underlying().Set("value", k.Text) })
	}
}

// syncCard counts what has changed of what folds away in a backend's card.
func (a *app) syncCard(id string) {
	i, ok := page.CardOf(id)
	if !ok {
		return
	}
	if badge := a.byID("card-" + number(i) + "-badge"); badge != nil {
		badge.SetTextContent(a.model.Words().Changed(a.model.CardChanges(i)))
	}
}

func (a *app) syncChecks(k page.Control) {
	for _, e := range a.controls.QuerySelectorAll(`input[data-toggle="` + k.ID + `"]`) {
		for _, c := range k.Choices {
			if e.Underlying().Get("value").String() == c.Name {
				e.Underlying().Set("checked", c.Chosen)
			}
		}
	}
}

// complain shows what was wrong with an input under it, or takes the complaint away.
func (a *app) complain(id string, err error) {
	line := a.byID(id + "-error")
	if line == nil {
		return
	}
	if field := a.byID(id); field != nil {
		if err != nil {
			field.SetAttribute("aria-invalid", "true")
		} else {
			field.RemoveAttribute("aria-invalid")
		}
	}
	if err == nil {
		line.SetTextContent("")
		line.SetAttribute("hidden", "")
		return
	}
	line.SetTextContent(a.model.Words().Error(err))
	line.RemoveAttribute("hidden")
}

// markChanged counts the changed parameters on each section's heading.
func (a *app) markChanged() {
	for _, b := range a.model.Badges() {
		place := "badge " + b.Section
		if a.written[place] == b.Text {
			continue
		}
		a.written[place] = b.Text
		if e := a.controls.QuerySelector(`details[data-group="` + b.Section + `"] > summary > .badge`); e != nil {
			e.SetTextContent(b.Text)
		}
	}
	a.dim()
}

// dim marks the controls that have no effect now, each with the reason.
func (a *app) dim() {
	for _, e := range a.model.Effects() {
		place := "idle " + e.ID
		if a.written[place] == e.Why {
			continue
		}
		a.written[place] = e.Why
		if line := a.byID(e.ID + "-idle"); line != nil {
			line.SetTextContent(e.Why)
			a.hide(e.ID+"-idle", e.Why == "")
			toggleClass(a.byID(e.ID+"-row"), "idle", e.Why != "")
		}
	}
}

// forgetBadges is for when the form is new: its headings are empty, its rows dimmed as they should be.
func (a *app) forgetBadges() {
	for _, b := range a.model.Badges() {
		delete(a.written, "badge "+b.Section)
	}
	for _, e := range a.model.Effects() {
		a.written["idle "+e.ID] = e.Why // as the rows have just been built
	}
}

func toggleClass(e dom.Element, name string, on bool) {
	e.Underlying().Get("classList").Call("toggle", name, on)
}
