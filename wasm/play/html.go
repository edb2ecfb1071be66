//go:build js

package main

import (
	"html"
	"strconv"
	"strings"
)

// A markup is HTML under construction. Everything that is not a literal in this program goes through text or attr,
// which escape it: a scenario comes out of a link that anybody may have written.
type markup struct{ strings.Builder }

// open begins an element; attributes are pairs of name and value, and one with an empty name is left out.
func (m *markup) open(tag string, attributes ...string) *markup {
	m.WriteString("<" + tag)
	for i := 0; i+1 < len(attributes); i += 2 {
		if attributes[i] != "" {
			m.WriteString(" " + attributes[i] + `="` + html.EscapeString(attributes[i+1]) + `"`)
		}
	}
	m.WriteString(">")
	return m
}

func (m *markup) close(tag string) *markup {
	m.WriteString("</" + tag + ">")
	return m
}

func (m *markup) text(s string) *markup {
	m.WriteString(html.EscapeString(s))
	return m
}

// element is open, text and close.
func (m *markup) element(tag, content string, attributes ...string) *markup {
	return m.open(tag, attributes...).text(content).close(tag)
}

// when is an attribute's name if a condition holds.
func when(condition bool, name string) string {
	if condition {
		return name
	}
	return ""
}

func number(n int) string { return strconv.Itoa(n) }
