//go:build js

package main

import (
	"syscall/js"

	"minilb/wasm/dom"
	"minilb/wasm/page"
)

// exports is export.js: files, pictures and the QR code.
func exports() js.Value { return js.Global().Get("minilbExport") }

// listenShare attaches what leaves the page and what comes in as a file; it has listeners of its own, on the document.
func (a *app) listenShare() {
	a.document.AddEventListener("click", false, func(e dom.Event) {
		if target := e.Target(); target != nil {
			button := target.Closest("[data-share]")
			if what, ok := data(button, "share"); ok {
				a.share(what, button)
			}
		}
	})
	a.document.AddEventListener("change", false, func(e dom.Event) {
		if what, ok := data(e.Target(), "share"); ok && what == "file" {
			exports().Call("take", e.Target().Underlying().Get("files").Index(0))
			e.Target().Underlying().Set("value", "")
		}
	})
	a.document.AddEventListener("keydown", false, a.onShareKey)
	exports().Set("onFile", js.FuncOf(func(_ js.Value, args []js.Value) any {
		a.openFile(args[0].String(), args[1].String())
		return nil
	}))
}

// onShareKey leaves the presentation by Escape.
func (a *app) onShareKey(e dom.Event) {
	if e.Underlying().Get("key").String() == "Escape" && a.view() == "present" {
		a.present(false)
	}
}

// share does what a button of the dialog, or one that opens it, says.
func (a *app) share(what string, button dom.Element) {
	s := a.model.Share(location("href"), a.digestNow())
	switch what {
	case "open":
		a.openShare(s)
	case "close":
		a.byID("share-dialog").Underlying().Call("close")
	case "link":
		a.copy(s.Link, a.t("Link copied"))
	case "embed":
		a.copy(s.Embed, a.t("Snippet copied"))
	case "command":
		a.copy(s.Command, a.t("Command copied"))
	case "json":
		exports().Call("save", s.Name+".json", a.model.JSON(), "application/json")
	case "yaml":
		exports().Call("save", s.Name+".yaml", a.model.YAML(), "application/yaml")
	case "results":
		exports().Call("save", "minilb-results.json", a.byID("results-json").Underlying().Get("textContent").String(), "application/json")
	case "csv", "series":
		a.runner.export(what, a.shown.asked.Link)
	case "table":
		exports().Call("table", button.Closest("figure").Underlying())
	case "png", "svg":
		exports().Call("chart", button.Closest("figure").Underlying(), what)
	case "present":
		a.present(a.view() != "present")
	}
}

func location(part string) string { return js.Global().Get("location").Get(part).String() }

// digestNow is the digest of the results on the page, if they are those of the scenario on the page.
func (a *app) digestNow() string {
	if a.shown == nil || a.shown.asked.Link != a.model.Link() {
		return ""
	}
	return a.shown.digest
}

// openShare fills the dialog and shows it.
func (a *app) openShare(s page.Share) {
	var m markup
	m.open("div", "class", "head").element("h2", a.t("Share this scenario"), "id", "share-title")
	m.element("button", "×", "type", "button", "class", "icon", "data-share", "close", "aria-label", a.t("Close")).close("div")
	if s.Note != "" {
		m.element("p", s.Note, "class", "note", "role", "status")
	}
	a.shareRow(&m, "link", a.t("Link"), s.Link)
	a.shareRow(&m, "embed", a.t("For another page"), s.Embed)
	a.shareRow(&m, "command", a.t("Command line"), s.Command)
	m.open("div", "class", "files", "role", "group", "aria-label", a.t("Files"))
	for _, f := range [][2]string{{"json", "Scenario as JSON"}, {"yaml", "Scenario as YAML"}, {"results", "Results as JSON"}, {"csv", "Results as CSV"}, {"series", "Charts as CSV"}} {
		m.element("button", a.t(f[1]), "type", "button", "data-share", f[0])
	}
	m.open("label", "class", "file").text(a.t("Open a file")).open("input", "type", "file", "data-share", "file", "accept", ".json,.yaml,.yml,.txt").close("label")
	m.close("div")
	m.element("p", a.t("A link carries numbers and the backends' names, nothing else; it stays in browser histories and chat logs. A file can also be dropped on the page."), "class", "unit")
	m.element("div", "", "id", "qr")
	dialog := a.byID("share-dialog")
	a.byID("share-body").SetInnerHTML(m.String())
	a.setText("copied", "")
	dialog.Underlying().Call("showModal")
	if s.Link != "" && s.Embed != "" {
		exports().Call("qr", a.byID("qr").Underlying(), s.Link, a.t("QR code of the link"))
	}
}

func (a *app) shareRow(m *markup, what, label, text string) {
	if text == "" {
		return
	}
	id := "share-" + what
	m.open("div", "class", "sharerow").element("label", label, "for", id)
	m.open("input", "type", "text", "readonly", "", "id", id, "value", text)
	m.element("button", a.t("Copy"), "type", "button", "data-share", what, "aria-label", a.t("Copy")+": "+label).close("div")
}

// openFile is a file that was chosen or dropped.
func (a *app) openFile(name, text string) {
	if dialog := a.byID("share-dialog"); dialog.Underlying().Get("open").Bool() {
		dialog.Underlying().Call("close")
	}
	if a.model.LoadFile(name, []byte(text)) {
		a.loaded()
	} else {
		a.notice(a.model.Notice)
	}
}

// exported saves what the worker has made for a file.
func (a *app) exported(what, text string) {
	exports().Call("save", map[string]string{"csv": "minilb-results.csv", "series": "minilb-charts.csv"}[what], text, "text/csv")
}

// view is how the page is shown: whole (""), "embed" inside another page, "present" on a projector.
func (a *app) view() string {
	v := a.document.Underlying().Get("documentElement").Get("dataset").Get("view")
	if v.IsUndefined() {
		return ""
	}
	return v.String()
}

// present shows the sentence and the charts alone, large, for a room.
func (a *app) present(on bool) {
	root := a.document.Underlying().Get("documentElement")
	if on {
		root.Get("dataset").Set("view", "present")
	} else {
		root.Get("dataset").Delete("view")
	}
	a.hide("leave", !on)
	if leave := a.byID("leave"); on && leave != nil {
		leave.Underlying().Call("focus")
	}
}

// afterResult shows what the link's sender saw and where an embedded page can be changed, and adds the charts' buttons.
func (a *app) afterResult() {
	a.setText("sender", a.t(a.model.Sender(a.digestNow())))
	a.translateIn(a.byID("shown"))
	if a.view() == "embed" {
		a.byID("whole").SetAttribute("href", a.model.WholePage(location("href")))
	}
	a.chartButtons()
	if a.written["offline"] == "" {
		a.written["offline"] = "asked"
		js.Global().Get("minilb").Call("keepOffline")
	}
}

// chartButtons gives every chart that has none its row of files.
func (a *app) chartButtons() {
	figures := exports().Call("charts")
	for i := range figures.Length() {
		figure := dom.Wrap(figures.Index(i))
		if figure.QuerySelector(".save") != nil {
			continue
		}
		title := figure.QuerySelector("h2, h3").Underlying().Get("textContent").String()
		var m markup
		m.open("span", "class", "save", "role", "group", "aria-label", a.t("Save")+": "+title)
		csv := "series" // a chart over time comes from the simulator, to the last digit
		if figure.QuerySelector(".drawing") != nil {
			csv = "table"
		}
		for _, f := range [][2]string{{"png", "PNG"}, {"svg", "SVG"}, {csv, "CSV"}} {
			m.element("button", f[1], "type", "button", "data-share", f[0], "aria-label", a.t("Save")+": "+title+", "+f[1])
		}
		m.close("span")
		figure.QuerySelector("figcaption").Underlying().Call("insertAdjacentHTML", "beforeend", m.String())
	}
}
