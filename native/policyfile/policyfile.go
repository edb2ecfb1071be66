// Package policyfile reads a policy file: YAML whose keys are the names of the
// parameters, flat or under the headings of the schema, so that a file says
// what flags say and nothing has two names.
//
//	algorithm: p2c
//	checks:
//	  check-interval: 0.5
//	  fall: 2
//	backends:
//	  - b1=127.0.0.1:9001
//	  - {name: b2, address: 127.0.0.1:9002, weight: 2}
//
// Every fault is reported at once, each with file, line, column, value and what
// would be accepted. A file is data and nothing else: anchors, aliases, tags
// and merge keys are refused.
package policyfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"minilb/core/param"
)

// Limits on a file. 1024 backends, each on a long line, take half of it.
const (
	MaxBytes = 256 << 10
	maxDepth = 16 // brackets within brackets; the format itself needs three
)

// A File is where the parameters of a policy file were found. It is there to
// put a line to what is found wrong later, by whoever looks at parameters
// together.
type File struct {
	name  string
	where map[string]*token.Position
}

// Decode sets the parameters that a file names to the values it gives, and
// leaves the others alone. It reports every fault, as Faults, and has set
// whatever was right. Parameters in refused are those that a file cannot set.
func Decode(name string, text []byte, set *param.Set, refused ...string) (*File, error) {
	d := &decoder{File: File{name: name, where: map[string]*token.Position{}}, set: set, refused: refused}
	d.document(text)
	if d.faults != nil {
		return &d.File, d.faults
	}
	return &d.File, nil
}

// Has says whether the file names a parameter.
func (f *File) Has(name string) bool { return f.where[name] != nil }

// Fault puts an error about a parameter where the file speaks of it, or at the
// file's beginning when it does not.
func (f *File) Fault(name string, err error) *Fault {
	fault := &Fault{File: f.name, Line: 1, Column: 1, Err: err}
	if at := f.where[name]; at != nil {
		fault.Line, fault.Column = at.Line, at.Column
	}
	return fault
}

// A Fault is one thing that is wrong, and where.
type Fault struct {
	File         string
	Line, Column int // from 1
	Err          error
}

// Error is file:line:column, as editors and terminals link it, and the fault.
func (f *Fault) Error() string { return fmt.Sprintf("%s:%d:%d: %v", f.File, f.Line, f.Column, f.Err) }

// Flag is the same: a fault of a file is not one of a flag, whatever the
// parameter.
func (f *Fault) Flag() string { return f.Error() }

// Unwrap is the fault without its place.
func (f *Fault) Unwrap() error { return f.Err }

// Faults are all that is wrong with a file, in its order.
type Faults []*Fault

// Error is one fault a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// A decoder walks one file.
type decoder struct {
	File
	set     *param.Set
	refused []string
	faults  Faults
}

func (d *decoder) fault(at *token.Token, format string, args ...any) {
	d.report(position(at), fmt.Errorf(format, args...))
}

func (d *decoder) report(at *token.Position, err error) {
	d.faults = append(d.faults, &Fault{File: d.name, Line: at.Line, Column: at.Column, Err: err})
}

// position is where a token stands; a file's beginning when there is none.
func position(t *token.Token) *token.Position {
	if t == nil || t.Position == nil {
		return &token.Position{Line: 1, Column: 1}
	}
	return t.Position
}

func (d *decoder) document(text []byte) {
	if len(text) > MaxBytes {
		d.fault(nil, "%d bytes; accepted: at most %d", len(text), MaxBytes)
		return
	}
	if depth(text) > maxDepth {
		d.fault(nil, "brackets within brackets more than %d deep; accepted: parameters, headings and backends", maxDepth)
		return
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		d.syntax(err)
		return
	}
	if len(file.Docs) > 1 {
		d.fault(file.Docs[1].GetToken(), "a second document; accepted: one")
	}
	if len(file.Docs) > 0 && file.Docs[0].Body != nil {
		d.top(file.Docs[0].Body)
	}
}

// depth is at least how deep brackets are nested, those in texts and comments
// included: the parser calls itself for each.
func depth(text []byte) int {
	now, most := 0, 0
	for _, c := range text {
		switch c {
		case '[', '{':
			now++
			most = max(most, now)
		case ']', '}':
			now--
		case '\n':
			now = max(now, 0)
		}
	}
	return most
}

func (d *decoder) syntax(err error) {
	var bad yaml.Error
	if !errors.As(err, &bad) {
		d.fault(nil, "not YAML: %v", err)
		return
	}
	d.fault(bad.GetToken(), "not YAML: %s", bad.GetMessage())
}

func (d *decoder) top(body ast.Node) {
	pairs, ok := pairsOf(body)
	if !ok {
		if _, null := body.(*ast.NullNode); !null {
			d.fault(body.GetToken(), "%s; accepted: parameters, such as algorithm: p2c", kind(body))
		}
		return
	}
	for _, pair := range pairs {
		if inner, ok := pairsOf(pair.Value); ok {
			d.heading(pair, inner)
			continue
		}
		d.parameter(pair, "")
	}
}

// heading reads the parameters under one of the schema's headings. retries is
// a heading and a parameter; which one is meant shows in what it holds.
func (d *decoder) heading(pair *ast.MappingValueNode, inner []*ast.MappingValueNode) {
	name := strings.ReplaceAll(keyOf(pair), "-", " ")
	if !d.isHeading(name) {
		if d.lookup(keyOf(pair)) != nil {
			d.fault(pair.Key.GetToken(), "%.60q: a map; accepted: a value", keyOf(pair))
			return
		}
		d.fault(pair.Key.GetToken(), "%.60q: no such heading; accepted: %s", keyOf(pair), strings.Join(d.headings(), ", "))
		return
	}
	for _, p := range inner {
		if _, deeper := pairsOf(p.Value); deeper {
			d.fault(p.Key.GetToken(), "%.60q: a map within a heading; accepted: a value", keyOf(p))
			continue
		}
		d.parameter(p, name)
	}
}

func (d *decoder) isHeading(name string) bool {
	for _, p := range d.set.All() {
		if p.Group == name {
			return true
		}
	}
	return false
}

func (d *decoder) headings() (names []string) {
	seen := map[string]bool{"": true}
	for _, p := range d.set.All() {
		if !seen[p.Group] {
			seen[p.Group] = true
			names = append(names, p.Group)
		}
	}
	return names
}

// lookup finds a parameter; a list may go by its plural.
func (d *decoder) lookup(name string) *param.Param {
	if p := d.set.Lookup(name); p != nil {
		return p
	}
	if one, found := strings.CutSuffix(name, "s"); found {
		if p := d.set.Lookup(one); p != nil && p.List {
			return p
		}
	}
	return nil
}
