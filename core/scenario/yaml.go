package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// FromFile reads a scenario from JSON, from YAML as [FromYAML] knows it, or
// from a link in a text file, whichever it is.
func FromFile(text []byte) (Scenario, error) {
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	switch {
	case len(text) > maxFile:
		return Default(), Faults{tooLargeFile(len(text))}
	case bytes.HasPrefix(trimmed, []byte("{")):
		return FromJSON(trimmed)
	case isLink(string(trimmed)):
		return Decode(string(trimmed))
	}
	return FromYAML(trimmed)
}

func isLink(text string) bool {
	head, _, _ := strings.Cut(afterHash(text), ";")
	return !strings.Contains(text, "\n") && (isVersion(head) || strings.HasPrefix(text, "#"))
}

// FromYAML reads the part of YAML that a scenario needs: one "key: value" a
// line, lists as "- item" lines or as JSON, a backend as JSON or as "part:
// value" lines. It is written by hand because core has the standard library
// only, and because the page would have to carry a whole YAML reader; the
// proxy's policy files are read by one. What is beyond it is refused by line.
func FromYAML(text []byte) (Scenario, error) {
	if len(text) > maxFile {
		return Default(), Faults{tooLargeFile(len(text))}
	}
	r := yamlReader{}
	for number, line := range strings.Split(string(text), "\n") {
		if err := r.line(strings.TrimRight(line, " \r")); err != nil {
			return Default(), Faults{fmt.Errorf("line %d: %w; accepted: key: value, and - item for lists", number+1, err)}
		}
	}
	if len(r.fields) == 0 {
		return Default(), Faults{errors.New("nothing in it; accepted: key: value, one a line, with the keys of a link")}
	}
	return decodeFields(r.fields)
}

// A yamlReader is the fields read so far; the last of them takes the items.
type yamlReader struct{ fields []field }

func (r *yamlReader) line(line string) error {
	body := strings.TrimLeft(line, " ")
	indent := len(line) - len(body)
	switch item, isItem := strings.CutPrefix(body, "-"); {
	case body == "" || body[0] == '#' || line == "---":
		return nil
	case body[0] == '\t':
		return errors.New("a tab at the beginning")
	case isItem && (item == "" || item[0] == ' '):
		return r.item(strings.TrimSpace(item))
	case indent > 0:
		return r.part(body)
	}
	key, text, err := pair(body)
	if err != nil {
		return err
	}
	value, err := scalar(text)
	r.fields = append(r.fields, field{key, value})
	return err
}

// item adds to the list of the key above: a value, or a backend's first part.
func (r *yamlReader) item(text string) error {
	list, err := r.list()
	if err != nil {
		return err
	}
	if key, value, err := pair(text); err == nil && text[0] != '{' && text[0] != '"' {
		v, err := scalar(value)
		r.set(append(list, []field{{key, v}}))
		return err
	}
	v, err := scalar(text)
	r.set(append(list, v))
	return err
}

// part adds to the backend of the item above.
func (r *yamlReader) part(body string) error {
	list, err := r.list()
	if err != nil {
		return err
	}
	key, text, err := pair(body)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("something indented that is not in a list")
	}
	object, ok := list[len(list)-1].([]field)
	if !ok {
		return errors.New("something indented under a value")
	}
	v, err := scalar(text)
	list[len(list)-1] = append(object, field{key, v})
	return err
}

func (r *yamlReader) list() ([]any, error) {
	if len(r.fields) == 0 {
		return nil, errors.New("an item without a key above it")
	}
	switch list := r.fields[len(r.fields)-1].value.(type) {
	case []any:
		return list, nil
	case nil:
		return nil, nil
	}
	return nil, errors.New("an item under a key that has a value")
}

func (r *yamlReader) set(list []any) { r.fields[len(r.fields)-1].value = list }

// pair cuts "key: value".
func pair(text string) (key, value string, err error) {
	key, value, found := strings.Cut(text, ":")
	if !found || key == "" || value != "" && value[0] != ' ' || strings.ContainsAny(key, " {[\"'&*!|>%@`") {
		return "", "", fmt.Errorf("%.40q is not a key and a value", text)
	}
	return key, strings.TrimSpace(value), nil
}

// scalar is a value after a colon or a dash: JSON, a quoted text, or a bare
// text; nothing at all is nil, for the list that follows.
func scalar(text string) (any, error) {
	switch {
	case text == "":
		return nil, nil
	case text[0] == '\'':
		body, ok := strings.CutSuffix(text[1:], "'")
		if !ok {
			return nil, errors.New("a quotation without an end")
		}
		return strings.ReplaceAll(body, "''", "'"), nil
	case strings.IndexByte("{[\"", text[0]) >= 0:
		return inlineJSON(text)
	case strings.IndexByte("&*!|>%@`", text[0]) >= 0:
		return nil, fmt.Errorf("%.20q: anchors, tags and blocks are not read", text)
	}
	text, _, _ = strings.Cut(text, " #")
	return strings.TrimSpace(text), nil
}

func inlineJSON(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := readValue(d)
	if err != nil {
		return nil, fmt.Errorf("%.40q: not JSON, which is what is read in brackets and quotes", text)
	}
	rest := strings.TrimSpace(text[d.InputOffset():])
	if rest != "" && rest[0] != '#' {
		return nil, fmt.Errorf("%.40q after a value", rest)
	}
	return v, nil
}
