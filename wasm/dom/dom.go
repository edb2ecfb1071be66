//go:build js

package dom

import (
	"syscall/js"

	"honnef.co/go/js/dom/v2"
)

// An Element is an element of the document, or nil where there is none.
type Element = *element

// A Document is the document itself.
type Document = *document

// An Event is something that happened to an element.
type Event = *event

// None of these may be stored in an interface: that would keep every method of the types they embed, and with them the
// types which those return.
type (
	element  struct{ dom.BasicHTMLElement }
	document struct{ node dom.BasicNode }
	event    struct{ dom.BasicEvent }
)

// Wrap is the element behind a JavaScript value; nil for null and undefined.
func Wrap(v js.Value) Element {
	if v.IsNull() || v.IsUndefined() {
		return nil
	}
	return &element{dom.BasicHTMLElement{BasicElement: &dom.BasicElement{BasicNode: &dom.BasicNode{Value: v}}}}
}

// OpenDocument is the document of the page.
func OpenDocument() Document { return &document{dom.BasicNode{Value: js.Global().Get("document")}} }

// QuerySelector is the first element inside this one that matches, or nil.
func (e *element) QuerySelector(selectors string) Element {
	return Wrap(e.Call("querySelector", selectors))
}

// QuerySelectorAll is all elements inside this one that match.
func (e *element) QuerySelectorAll(selectors string) []Element {
	return all(e.Call("querySelectorAll", selectors))
}

// Closest is this element or the nearest around it that matches, or nil. Text nodes are in none.
func (e *element) Closest(selectors string) Element {
	if e.Get("closest").IsUndefined() {
		return nil
	}
	return Wrap(e.Call("closest", selectors))
}

// ParentElement is the element around this one, or nil.
func (e *element) ParentElement() Element { return Wrap(e.Get("parentElement")) }

// AddEventListener calls back for every event of that type.
func (e *element) AddEventListener(kind string, capture bool, do func(Event)) {
	listen(e.Underlying(), kind, capture, do)
}

// GetElementByID is the element of that ID, or nil.
func (d *document) GetElementByID(id string) Element { return Wrap(d.node.Call("getElementById", id)) }

// QuerySelector is the first element that matches, or nil.
func (d *document) QuerySelector(selectors string) Element {
	return Wrap(d.node.Call("querySelector", selectors))
}

// QuerySelectorAll is all elements that match.
func (d *document) QuerySelectorAll(selectors string) []Element {
	return all(d.node.Call("querySelectorAll", selectors))
}

// AddEventListener calls back for every event of that type.
func (d *document) AddEventListener(kind string, capture bool, do func(Event)) {
	listen(d.node.Value, kind, capture, do)
}

// Underlying is the document as JavaScript knows it.
func (d *document) Underlying() js.Value { return d.node.Value }

// Target is the element that the event happened to; nil when that is the document or the window.
func (e *event) Target() Element {
	target := e.Get("target")
	if target.IsNull() || target.Get("nodeType").IsUndefined() || target.Get("nodeType").Int() != 1 {
		return nil
	}
	return Wrap(target)
}

func all(list js.Value) []Element {
	elements := make([]Element, list.Length())
	for i := range elements {
		elements[i] = Wrap(list.Index(i))
	}
	return elements
}

// listen is for as long as the page lives.
func listen(v js.Value, kind string, capture bool, do func(Event)) {
	v.Call("addEventListener", kind, js.FuncOf(func(_ js.Value, args []js.Value) any {
		do(&event{dom.BasicEvent{Value: args[0]}})
		return nil
	}), capture)
}
