//go:build js

package main

import (
	"strconv"
	"strings"
	"syscall/js"

	"minilb/wasm/dom"

	"minilb/wasm/page"
)

// listen attaches one listener for each kind of event; what an element does stands in its data attributes.
func (a *app) listen() {
	on := func(e dom.Element, kind string, do func(dom.Event)) { e.AddEventListener(kind, false, do) }
	on(a.controls, "input", a.onInput)
	on(a.controls, "change", a.onChange)
	on(a.controls, "submit", func(e dom.Event) { e.PreventDefault() })
	on(a.controls, "focusin", a.onHint)
	on(a.controls, "pointerover", a.onHint)
	on(a.byID("shown"), "change", a.onShow)
	a.listenInstrument()
	a.document.AddEventListener("click", false, a.onClick)
	a.document.AddEventListener("toggle", true, a.onToggle)
	// The event's own address, not the window's: a write of ours that was under way may have replaced that meanwhile.
	a.onWindow("hashchange", func(e js.Value) { a.reopen(fragmentOf(e.Get("newURL").String())) })
	a.onWindow("pagehide", func(js.Value) { a.flushAddress() })
}

func (a *app) onWindow(kind string, do func(event js.Value)) {
	js.Global().Call("addEventListener", kind, js.FuncOf(func(_ js.Value, args []js.Value) any {
		do(args[0])
		return nil
	}))
}

// fragmentOf is an address from its # on, or nothing.
func fragmentOf(address string) string {
	if at := strings.IndexByte(address, '#'); at >= 0 {
		return address[at:]
	}
	return ""
}

// data is a data attribute of an element, and whether it has it.
func data(e dom.Element, name string) (string, bool) {
	if e == nil {
		return "", false
	}
	v := e.Underlying().Get("dataset").Get(name)
	if v.IsUndefined() {
		return "", false
	}
	return v.String(), true
}

func value(e dom.Element) string { return e.Underlying().Get("value").String() }
func checked(e dom.Element) bool { return e.Underlying().Get("checked").Bool() }
func since(e dom.Event) float64  { return e.Underlying().Get("timeStamp").Float() }

// onInput is a slider that moves, or a field that is typed into.
func (a *app) onInput(e dom.Event) {
	target := e.Target()
	if _, ok := data(target, "search"); ok || target.Underlying().Get("id").String() == "search" {
		a.find(value(target))
	} else if id, ok := data(target, "slide"); ok {
		position, _ := strconv.Atoi(value(target))
		a.set(id, a.model.Slide(id, position), target, e)
	} else if id, ok := data(target, "set"); ok {
		a.set(id, a.model.Set(id, value(target)), target, e)
	}
}

// onChange is a box that is ticked, a name that is given, or a field that is left: then the field shows the value as
// links write it.
func (a *app) onChange(e dom.Event) {
	target := e.Target()
	if id, ok := data(target, "toggle"); ok {
		a.set(id, a.model.Toggle(id, value(target), checked(target)), nil, e)
	} else if id, ok := data(target, "switch"); ok {
		a.set(id, a.model.Set(id, strconv.FormatBool(checked(target))), target, e)
	} else if id, ok := data(target, "set"); ok {
		a.leave(id, value(target))
	} else if i, ok := data(target, "name"); ok {
		a.rename(i, target, e)
	}
}

// leave tidies a field: a value that counts is written as links write it, one that was refused stays to be corrected.
func (a *app) leave(id, text string) {
	err := a.model.Set(id, text)
	a.complain(id, err)
	if err == nil {
		a.sync(id, nil)
	}
}

// set follows a change of one parameter.
func (a *app) set(id string, err error, using dom.Element, e dom.Event) {
	a.complain(id, err)
	if err != nil {
		if using == nil {
			a.sync(id, nil)
		}
		return
	}
	a.sync(id, using)
	a.changed(since(e))
}

func (a *app) rename(index string, target dom.Element, e dom.Event) {
	i, _ := strconv.Atoi(index)
	err := a.model.Rename(i, value(target))
	a.complain("name-"+index, err)
	if err == nil {
		a.rebuild(e, `[data-name="`+index+`"]`)
	}
}

// rebuild follows a change of the form itself, and gives the focus back to where it was.
func (a *app) rebuild(e dom.Event, focus string) {
	a.buildControls()
	if again := a.controls.QuerySelector(focus); again != nil {
		again.Underlying().Call("focus")
	}
	a.changed(since(e))
}

func (a *app) onShow(e dom.Event) {
	if policy, ok := data(e.Target(), "show"); ok && a.shown != nil {
		a.model.Show(policy)
		a.render()
	}
}

func (a *app) onClick(e dom.Event) {
	target := e.Target()
	if target == nil {
		return
	}
	button := target.Closest("button")
	if id, ok := data(button, "reset"); ok {
		a.resetOne(id, e)
	} else if i, ok := data(button, "remove"); ok {
		index, _ := strconv.Atoi(i)
		if a.model.RemoveBackend(index) == nil {
			a.rebuild(e, `[data-do="add"]`)
		}
	} else if name, ok := data(button, "incident"); ok {
		a.model.Load(name)
		a.loaded()
	} else if do, ok := data(button, "do"); ok {
		a.press(do, e)
	}
}

func (a *app) resetOne(id string, e dom.Event) {
	if a.model.Reset(id) != nil {
		return
	}
	a.complain(id, nil)
	a.sync(id, nil)
	if field := a.byID(id); field != nil {
		field.Underlying().Call("focus") // the button that was pressed is gone
	}
	a.changed(since(e))
}

// press does what a button says.
func (a *app) press(do string, e dom.Event) {
	switch do {
	case "add":
		if a.model.AddBackend() == nil {
			a.rebuild(e, `[data-do="add"]`)
		}
	case "reset-all":
		a.model.ResetAll()
		a.loaded()
	case "remedy":
		a.applyRemedy(e)
	case "compare":
		a.set("algorithm", a.model.Toggle("algorithm", page.Reference, true), nil, e)
	case "keep", "drop", "study":
		a.compareMore(do, e)
	case "stop":
		a.do(a.queue.Stop(now()))
	case "dismiss":
		a.notice("")
	case "jump":
		a.controls.Underlying().Call("focus")
	case "copy-link":
		a.flushAddress()
		address, _, _ := strings.Cut(js.Global().Get("location").Get("href").String(), "#")
		a.copy(address+a.model.Link(), "Link copied")
	case "copy-command":
		a.copy(a.model.Command(), "Command copied")
	}
}

func (a *app) applyRemedy(e dom.Event) {
	r := a.remedy
	if a.model.Apply(r) != nil {
		return
	}
	for _, s := range r.Sets {
		a.sync(s.ID, nil)
	}
	_, ran := a.shown.outcome.Of(r.Show)
	switch {
	case r.Add:
		a.rebuild(e, `[data-do="add"]`)
	case len(r.Sets) > 0 || !ran:
		a.sync("algorithm", nil)
		a.changed(since(e))
	default:
		a.render()
	}
}

// copy writes to the clipboard; where that is not allowed, it shows the text, selected.
func (a *app) copy(text, done string) {
	clipboard := js.Global().Get("navigator").Get("clipboard")
	if clipboard.IsUndefined() {
		a.offer(text)
		return
	}
	var copied, refused js.Func
	release := func() { copied.Release(); refused.Release() }
	copied = js.FuncOf(func(js.Value, []js.Value) any {
		a.setText("copied", done)
		release()
		return nil
	})
	refused = js.FuncOf(func(js.Value, []js.Value) any {
		a.offer(text)
		release()
		return nil
	})
	clipboard.Call("writeText", text).Call("then", copied, refused)
}

func (a *app) offer(text string) {
	var m markup
	m.open("input", "type", "text", "readonly", "", "aria-label", a.t("Copy this text"), "value", text)
	box := a.byID("copied")
	box.SetInnerHTML(m.String())
	box.QuerySelector("input").Underlying().Call("select")
}

// onToggle remembers which sections are open, for when the form is built anew.
func (a *app) onToggle(e dom.Event) {
	if name, ok := data(e.Target(), "group"); ok {
		a.unfolded[name] = e.Target().Underlying().Get("open").Bool()
	}
}

// onHint explains the control under the pointer or the focus, in one place that moves nothing.
func (a *app) onHint(e dom.Event) {
	target := e.Target()
	if target == nil {
		return
	}
	if row := target.Closest("[data-help]"); row != nil {
		text, _ := data(row, "help")
		a.setText("hint", text)
	}
}

// buildIncidents are the presets as buttons; the one that is on the page is pressed.
func (a *app) buildIncidents() {
	incidents := a.model.Incidents()
	if a.written["incidents"] == "" {
		a.written["incidents"] = "built"
		var m markup
		for _, p := range incidents {
			m.element("button", p.Title, "type", "button", "data-incident", p.Link, "title", p.Sentence, "aria-pressed", "false")
		}
		a.byID("incidents").SetInnerHTML(m.String())
	}
	for _, p := range incidents {
		pressed, place := strconv.FormatBool(p.Active), "pressed "+p.Link
		if a.written[place] == pressed {
			continue
		}
		a.written[place] = pressed
		if e := a.byID("incidents").QuerySelector(`[data-incident="` + p.Link + `"]`); e != nil {
			e.SetAttribute("aria-pressed", pressed)
		}
	}
}
