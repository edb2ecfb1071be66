package policyfile

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"minilb/core/param"
)

// parameter sets one parameter. heading is the one it stands under, if any.
func (d *decoder) parameter(pair *ast.MappingValueNode, heading string) {
	key, at := keyOf(pair), pair.Key.GetToken()
	p := d.lookup(key)
	switch {
	case p == nil:
		d.unknown(at, key)
	case slices.Contains(d.refused, p.Name):
		d.fault(at, "%s: a file cannot set it; accepted: --%s on the command line", p.Name, p.Name)
	case heading != "" && p.Group != heading:
		d.fault(at, "%s: belongs under %q, not %q; accepted there, or without a heading", p.Name, p.Group, heading)
	case d.where[p.Name] != nil:
		d.fault(at, "%s: given before, in line %d; accepted: once", p.Name, d.where[p.Name].Line)
	default:
		d.where[p.Name] = position(at)
		d.value(p, pair.Value)
	}
}

func (d *decoder) unknown(at *token.Token, key string) {
	if near := d.set.Nearest(key); near != "" {
		d.fault(at, "%.60q: unknown parameter; did you mean %s?", key, near)
		return
	}
	if d.isHeading(strings.ReplaceAll(key, "-", " ")) {
		d.fault(at, "%s: a heading without parameters; accepted: parameters below it, indented", key)
		return
	}
	d.fault(at, "%.60q: unknown parameter; accepted: the flags of minilb serve, without their dashes", key)
}

func (d *decoder) value(p *param.Param, v ast.Node) {
	if list, ok := v.(*ast.SequenceNode); ok {
		d.list(p, v, list.Values)
		return
	}
	text, ok := scalar(v)
	switch {
	case !ok:
		d.fault(v.GetToken(), "%s: %s; accepted: %s", p.Name, kind(v), wanted(p))
	case p.List:
		// As one flag: elements with a fixed choice between commas.
		p.Reset(param.Serve)
		d.try(v, func() error { return p.Set(text) })
	default:
		d.try(v, func() error { return p.SetTexts([]string{text}) })
	}
}

// list sets a list. Its elements are tried one by one first, so that each
// fault is found where it stands.
func (d *decoder) list(p *param.Param, at ast.Node, elements []ast.Node) {
	if !p.List {
		d.fault(at.GetToken(), "%s: a list; accepted: one value", p.Name)
		return
	}
	var texts []string
	before := len(d.faults)
	for _, e := range elements {
		if parts, ok := pairsOf(e); ok {
			texts = append(texts, d.parts(p, e, parts))
		} else if text, ok := scalar(e); ok {
			d.try(e, func() error { return p.SetTexts([]string{text}) })
			texts = append(texts, text)
		} else {
			d.fault(e.GetToken(), "%s: %s in the list; accepted: %s", p.Name, kind(e), wanted(p))
		}
	}
	if len(d.faults) == before {
		d.try(at, func() error { return p.SetTexts(texts) })
	}
}

// parts reads a backend given as a map into its notation on the command line,
// NAME=ADDRESS,PART=VALUE. It is tried again with each part, so that a fault
// is found at the part that has it.
func (d *decoder) parts(p *param.Param, at ast.Node, pairs []*ast.MappingValueNode) (text string) {
	values := map[string]string{}
	ok := p.Kind == param.Custom
	if !ok {
		d.fault(at.GetToken(), "%s: a map in the list; accepted: %s", p.Name, wanted(p))
	}
	for _, pair := range pairs {
		value, plain := scalar(pair.Value)
		if key := keyOf(pair); ok && (!plain || strings.ContainsAny(key+value, ",=")) {
			d.fault(pair.Value.GetToken(), "%s: %s=%.60q: not a value; accepted: text without , and =", p.Name, key, value)
			ok = false
		}
		values[keyOf(pair)] = value
	}
	for _, needed := range []string{"name", "address"} {
		if _, given := values[needed]; ok && !given {
			d.fault(at.GetToken(), "%s: no %s; accepted: a map with name, address and, where it is not 1, weight", p.Name, needed)
			ok = false
		}
	}
	if !ok {
		return ""
	}
	text = values["name"] + "=" + values["address"]
	ok = d.try(at, func() error { return p.SetTexts([]string{text}) })
	for _, pair := range pairs {
		if key := keyOf(pair); ok && key != "name" && key != "address" {
			text += "," + key + "=" + values[key]
			ok = d.try(pair.Key, func() error { return p.SetTexts([]string{text}) })
		}
	}
	return text
}

// try sets and reports at a node what it is told.
func (d *decoder) try(at ast.Node, set func() error) bool {
	err := set()
	if err != nil {
		d.report(position(at.GetToken()), err)
	}
	return err == nil
}

// wanted is what a parameter's value looks like.
func wanted(p *param.Param) string {
	switch {
	case p.Choices != nil:
		return strings.Join(p.Choices, ", ")
	case p.List:
		return "a list"
	}
	return "a " + strings.Replace(p.Type(), "int", "whole number", 1)
}

// pairsOf is what a map holds.
func pairsOf(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

func keyOf(pair *ast.MappingValueNode) string {
	if t := pair.Key.GetToken(); t != nil {
		return t.Value
	}
	return ""
}

// scalar is a value's text as it was written, without quotes. The parameter
// reads it, not YAML, so that 0.2, 200ms and on mean what they mean in a flag.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return strings.TrimSuffix(n.Value.Value, "\n"), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// kind names what stands where something else was wanted.
func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return "no value"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode, *ast.DirectiveNode:
		return "anchors, aliases, merge keys and tags are not read"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a map"
	}
	return "a bare value"
}
