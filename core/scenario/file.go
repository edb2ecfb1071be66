package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"minilb/core/param"
)

// A scenario as a file holds the same keys as its link, one value each, and
// lists where the schema has lists; a backend is an object of its parts. Only
// what differs from the defaults is written. A file carries what a link is too
// short for.

// maxFile bounds what is read before it is looked at.
const maxFile = 256 << 10

// A field is one key of a file with its value as encoding/json decodes it:
// string, bool, json.Number, []any or []field for an object.
type field struct {
	key   string
	value any
}

// ToJSON writes the scenario as an indented object that FromJSON reads back.
func ToJSON(s Scenario) []byte {
	var b bytes.Buffer
	b.WriteString("{\n  \"version\": \"" + version + "\"")
	for _, f := range fields(s) {
		b.WriteString(",\n  " + quote(f.key) + ": ")
		if list, ok := f.value.([]string); ok {
			b.WriteString("[\n    " + strings.Join(list, ",\n    ") + "\n  ]")
			continue
		}
		b.WriteString(f.value.(string))
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

// ToYAML writes the scenario as YAML. Every scalar is written as in JSON, which
// YAML reads as it is meant: no bare "off" becomes a false.
func ToYAML(s Scenario) []byte {
	var b bytes.Buffer
	b.WriteString("version: " + version + "\n")
	for _, f := range fields(s) {
		b.WriteString(f.key + ":")
		if list, ok := f.value.([]string); ok {
			if len(list) == 0 {
				b.WriteString(" []")
			}
			for _, item := range list {
				b.WriteString("\n  - " + item)
			}
			b.WriteString("\n")
			continue
		}
		b.WriteString(" " + f.value.(string) + "\n")
	}
	return b.Bytes()
}

// fields are the keys to write, their values already as JSON: a string, or a
// list of them.
func fields(s Scenario) []field {
	var list []field
	for _, p := range s.Params().All() {
		switch {
		case !p.Changed(column):
		case p.Name == "backend":
			list = append(list, field{p.Name, backendObjects(s.Backends)})
		case p.List:
			texts := p.Texts()
			for i := range texts {
				texts[i] = literal(p, texts[i])
			}
			list = append(list, field{p.Name, texts})
		default:
			list = append(list, field{p.Name, literal(p, p.String())})
		}
	}
	return append(list, unknownFields(s.Unknown)...)
}

// unknownFields are the pairs that this build does not know, those of one key
// as a list.
func unknownFields(pairs []Pair) []field {
	var list []field
	for i, u := range pairs {
		same := func(p Pair) bool { return p.Key == u.Key }
		if slices.IndexFunc(pairs, same) < i {
			continue
		}
		var texts []string
		for _, p := range pairs {
			if same(p) {
				texts = append(texts, quote(p.Value))
			}
		}
		if len(texts) == 1 {
			list = append(list, field{u.Key, texts[0]})
		} else {
			list = append(list, field{u.Key, texts})
		}
	}
	return list
}

func backendObjects(backends []Backend) []string {
	objects := make([]string, len(backends))
	for i := range backends {
		text := "{" + `"name": ` + quote(backends[i].Name)
		for _, p := range backends[i].Parts.Params().All() {
			if p.Name == "mean" || p.Changed(column) {
				text += ", " + quote(underscored(p.Name)) + ": " + literal(p, p.String())
			}
		}
		objects[i] = text + "}"
	}
	return objects
}

// literal is a value as JSON: a number or a boolean as such, all else quoted.
func literal(p *param.Param, text string) string {
	switch p.Kind {
	case param.Bool, param.Int, param.Uint, param.Number:
		return text
	case param.Duration:
		if json.Valid([]byte(text)) {
			return text // seconds
		}
	}
	return quote(text)
}

func quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic("scenario: " + err.Error()) // a string is always JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// FromJSON reads a scenario from an object whose keys are those of links. Keys
// that this build does not know are kept, as a link's are. The error is Faults:
// everything that is wrong, at once.
func FromJSON(text []byte) (Scenario, error) {
	if len(text) > maxFile {
		return Default(), Faults{tooLargeFile(len(text))}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	value, err := readValue(d)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = errors.New("something follows the object")
		}
	}
	object, ok := value.([]field)
	switch {
	case err != nil:
		return Default(), Faults{fmt.Errorf("not JSON: %w; accepted: one object with the keys of a link, such as {\"rate\": 120}", err)}
	case !ok:
		return Default(), Faults{errors.New("the JSON is no object; accepted: one with the keys of a link, such as {\"rate\": 120}")}
	}
	return decodeFields(object)
}

func tooLargeFile(n int) error {
	return fmt.Errorf("a file of %d bytes: too long for a scenario; accepted: at most %d", n, maxFile)
}

// maxDepth is more than a list of objects needs.
const maxDepth = 4

// readValue reads one value and keeps the order of an object's keys.
func readValue(d *json.Decoder) (any, error) { return readNested(d, 0) }

func readNested(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return token, nil
	}
	if depth == maxDepth {
		return nil, fmt.Errorf("more than %d levels of nesting", maxDepth)
	}
	if delim == '[' {
		return readList(d, depth)
	}
	return readObject(d, depth)
}

func readList(d *json.Decoder, depth int) (any, error) {
	list := []any{}
	for d.More() {
		v, err := readNested(d, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	return list, err
}

func readObject(d *json.Decoder, depth int) (any, error) {
	object := []field{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := readNested(d, depth+1)
		if err != nil {
			return nil, err
		}
		object = append(object, field{key.(string), v})
	}
	_, err := d.Token()
	return object, err
}

// decodeFields sets what the file says on top of the defaults.
func decodeFields(list []field) (Scenario, error) {
	s := Default()
	set := s.Params()
	var faults Faults
	seen := map[string]bool{}
	unknown := 0
	for _, f := range list {
		texts, err := textsOf(f)
		p := set.Lookup(f.key)
		switch {
		case err != nil:
			faults.add(err)
		case seen[f.key]:
			faults.say(f.key, strings.Join(texts, ","), "given more than once", "each key once")
		case f.key == "version":
			faults.checkVersion(texts)
		case p != nil:
			faults.add(p.SetTexts(texts))
		default:
			for _, text := range texts {
				unknown += len(f.key) + len(text) + 2
				s.Unknown = append(s.Unknown, Pair{f.key, text})
			}
		}
		seen[f.key] = true
	}
	if unknown > maxUnknown {
		faults = append(faults, fmt.Errorf("keys that this build does not know fill %d characters; accepted: at most %d", unknown, maxUnknown))
	}
	faults.add(s.checkLists())
	return s, faults.err()
}

func (f *Faults) checkVersion(texts []string) {
	if len(texts) != 1 || texts[0] != version {
		f.say("version", strings.Join(texts, ","), "unknown, so the file cannot be read safely", version)
	}
}

// textsOf is a value as links write it, one text for each element of a list.
func textsOf(f field) ([]string, error) {
	list, ok := f.value.([]any)
	if !ok {
		list = []any{f.value}
	}
	texts := []string{}
	for _, v := range list {
		text, err := textOf(v)
		if err != nil {
			return nil, &param.Error{Name: f.key, Value: "…", Problem: err.Error(), Accepted: "a text, a number, true or false, or a list of these"}
		}
		texts = append(texts, text)
	}
	return texts, nil
}

func textOf(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return fmt.Sprint(v), nil
	case json.Number:
		return v.String(), nil
	case []field:
		return partsText(v)
	}
	return "", errors.New("a value of a kind that no parameter has")
}

// partsText is a backend's object as its text: a=20,errors=1.
func partsText(object []field) (string, error) {
	name, mean, rest := "", "", ""
	for _, f := range object {
		text, err := textOf(f.value)
		switch _, nested := f.value.([]field); {
		case err != nil:
			return "", err
		case nested || strings.ContainsAny(f.key+text, ",=:"):
			return "", fmt.Errorf("%.40q is not a part of a backend", f.key)
		case f.key == "name":
			name = text
		case f.key == "mean":
			mean = text
		default:
			rest += "," + f.key + "=" + text
		}
	}
	if mean == "" {
		mean = param.FormatFloat(plain.Mean)
	}
	return name + "=" + mean + rest, nil
}
