package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// difference names the first field in which two results differ, which says more than a position in a line of JSON.
func difference(nameA string, a []byte, nameB string, b []byte) string {
	field, valueA, valueB := firstDifference(a, b)
	return fmt.Sprintf("%s: %s on %s, %s on %s", field, valueA, nameA, valueB, nameB)
}

// firstDifference falls back to the position of the first byte when the results are not JSON, or are the same data
// written differently.
func firstDifference(a, b []byte) (field, valueA, valueB string) {
	var treeA, treeB any
	if decode(a, &treeA) == nil && decode(b, &treeB) == nil {
		if field, valueA, valueB, found := walk("", treeA, treeB); found {
			return field, valueA, valueB
		}
	}
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return fmt.Sprintf("byte %d", at), excerpt(a, at), excerpt(b, at)
}

// decode keeps numbers as they are written: reading them as floats would hide a difference in the last digit.
func decode(text []byte, tree *any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(tree)
}

func excerpt(text []byte, at int) string {
	return fmt.Sprintf("%q", text[at:min(len(text), at+40)])
}

func walk(field string, a, b any) (where, valueA, valueB string, found bool) {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return walkObject(field, a, b)
		}
	case []any:
		if b, ok := b.([]any); ok {
			return walkList(field, a, b)
		}
	default:
		if fmt.Sprintf("%T", a) == fmt.Sprintf("%T", b) && a == b {
			return "", "", "", false
		}
	}
	return field, show(a), show(b), true
}

func walkObject(field string, a, b map[string]any) (where, valueA, valueB string, found bool) {
	for _, key := range keysOf(a, b) {
		inA, hasA := a[key]
		inB, hasB := b[key]
		name := key
		if field != "" {
			name = field + "." + key
		}
		if hasA != hasB {
			return name, presence(inA, hasA), presence(inB, hasB), true
		}
		if where, valueA, valueB, found = walk(name, inA, inB); found {
			return where, valueA, valueB, true
		}
	}
	return "", "", "", false
}

func walkList(field string, a, b []any) (where, valueA, valueB string, found bool) {
	for i := range min(len(a), len(b)) {
		if where, valueA, valueB, found = walk(fmt.Sprintf("%s[%d]", field, i), a[i], b[i]); found {
			return where, valueA, valueB, true
		}
	}
	if len(a) != len(b) {
		return field, fmt.Sprintf("%d values", len(a)), fmt.Sprintf("%d values", len(b)), true
	}
	return "", "", "", false
}

func keysOf(a, b map[string]any) []string {
	var keys []string
	for key := range a {
		keys = append(keys, key)
	}
	for key := range b {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func presence(value any, has bool) string {
	if !has {
		return "absent"
	}
	return show(value)
}

func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	if len(text) > 60 {
		return string(text[:57]) + "..."
	}
	return string(text)
}
