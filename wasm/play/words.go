//go:build js

package main

import (
	"strings"
	"syscall/js"

	"minilb/wasm/dom"
)

// t is a text of the page in the language it is read in.
func (a *app) t(english string) string { return a.model.Words().T(english) }

// languageKey is where a browser remembers the choice. There is no cookie: nothing is sent anywhere.
const languageKey = "minilb-language"

// translate chooses the language and puts the texts of index.html into it, before anything else is written. Another
// choice loads the page again: the scenario is in the address, so nothing is lost, and no text is forgotten.
func (a *app) translate() {
	a.model.Speak(chosenLanguage())
	code := a.model.Words().Code()
	menu := a.byID("language")
	menu.Underlying().Set("value", code)
	menu.AddEventListener("change", false, func(dom.Event) {
		choose(value(menu))
		a.flushAddress()
		js.Global().Get("location").Call("reload")
	})
	if code == "en" {
		return
	}
	a.document.Underlying().Get("documentElement").Set("lang", code)
	a.translateIn(a.document.QuerySelector("body"))
	// Sentences about a run are core's own, in English whatever the page's language.
	for _, id := range []string{"verdict", "transcript"} {
		a.byID(id).SetAttribute("lang", "en")
	}
}

// translateIn goes through the texts inside an element: those of the file when the page opens, those of the form when it
// has been built.
func (a *app) translateIn(root dom.Element) {
	if a.model.Words().Code() == "en" {
		return
	}
	a.translateTexts(root)
	for _, attribute := range []string{"aria-label", "title", "placeholder"} {
		for _, e := range root.QuerySelectorAll("[" + attribute + "]") {
			if text := e.GetAttribute(attribute); a.model.Words().Has(text) {
				e.SetAttribute(attribute, a.t(text))
			}
		}
	}
}

func (a *app) translateTexts(root dom.Element) {
	const showText = 4
	walker := a.document.Underlying().Call("createTreeWalker", root.Underlying(), showText)
	for node := walker.Call("nextNode"); !node.IsNull(); node = walker.Call("nextNode") {
		text := node.Get("data").String()
		if key := strings.TrimSpace(text); key != "" && a.model.Words().Has(key) {
			node.Set("data", strings.Replace(text, key, a.t(key), 1))
		}
	}
}

// chosenLanguage and choose do without where a browser forbids storage.
func chosenLanguage() (code string) {
	defer func() {
		if recover() != nil {
			code = ""
		}
	}()
	stored := js.Global().Get("localStorage").Call("getItem", languageKey)
	if stored.IsNull() {
		return ""
	}
	return stored.String()
}

func choose(code string) {
	defer func() { _ = recover() }() // the choice then lasts until the page is closed, which is not at all
	js.Global().Get("localStorage").Call("setItem", languageKey, code)
}
