//go:build js

package main

import (
	"syscall/js"

	"minilb/wasm/dom"
	"minilb/wasm/page"
)

// t is a text of the page in the language it is read in.
func (a *app) t(english string) string { return a.model.Words().T(english) }

// texts is words.js, which knows the chosen language before this program does: it loads the language's file and
// puts the texts of index.html into it.
func texts() js.Value { return js.Global().Get("minilbWords") }

// translate takes over the language, before anything else is written. Another choice loads the page again: the scenario
// is in the address, so nothing is lost, and no text is forgotten. There is no cookie: the choice stays in the browser.
func (a *app) translate() {
	a.model.Speak(loadedWords())
	menu := a.byID("language")
	menu.AddEventListener("change", false, func(dom.Event) {
		texts().Call("choose", value(menu))
		a.flushAddress()
		js.Global().Get("location").Call("reload")
	})
}

// loadedWords waits for the file of the chosen language. English has none.
func loadedWords() page.Words {
	file := make(chan string, 1)
	then := js.FuncOf(func(_ js.Value, args []js.Value) any {
		file <- args[0].String()
		return nil
	})
	defer then.Release()
	texts().Get("ready").Call("then", then)
	text := <-file
	if text == "" {
		return page.Words{}
	}
	words, err := page.ReadWords(texts().Get("code").String(), []byte(text))
	if err != nil {
		return page.Words{} // words.js has read it already, so this does not happen
	}
	return words
}

// translateIn goes through the texts inside an element that has been built in English.
func (a *app) translateIn(root dom.Element) { texts().Call("translate", root.Underlying()) }
