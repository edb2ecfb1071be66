// Package dom is the few things that the page asks of a document, on top of honnef.co/go/js/dom/v2.
//
// That package gives every element of HTML its own type behind one interface, so a program that asks it for any element
// links the methods of all of them: 1.9 MB of 6.9, of which the page uses a dozen methods. Here elements, events and the
// document are concrete types around its basic ones, with the same names and methods; the linker drops the rest.
package dom
