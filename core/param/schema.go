package param

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// A Set is the parameters of one or more structs, in the order in which their fields are written.
type Set struct {
	list   []*Param
	places map[string]int // in the list, by name
}

// Of reads the schema from pointers to structs; embedded structs are flattened. The parameters point into the structs,
// whose values it leaves as they are: call Reset for the defaults. A mistake in a tag is a mistake in the program, and
// Of panics with it: an unknown kind, a default that is not accepted, a name used twice.
func Of(structs ...any) *Set {
	s := &Set{places: map[string]int{}}
	for _, each := range structs {
		s.addStruct(structOf(each), context{})
	}
	return s
}

func structOf(pointer any) reflect.Value {
	v := reflect.ValueOf(pointer)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("param: Of wants pointers to structs, not %T", pointer))
	}
	return v.Elem()
}

// A Schema is what Of has read from the tags of one type of struct, to be laid over any number of structs of that type.
// Reading takes the better part of a millisecond and laying over a few microseconds: a scenario is read and written
// several times for each movement of a slider.
type Schema struct {
	read *Set
	kind reflect.Type
}

// Read reads the schema of the type of struct that a pointer points to. The tables that its fields choose from must not
// change afterwards.
func Read(example any) *Schema { return &Schema{Of(example), structOf(example).Type()} }

// Over is the parameters of another struct of the type, as Of would give them.
func (s *Schema) Over(pointer any) *Set {
	v := structOf(pointer)
	if v.Type() != s.kind {
		panic(fmt.Sprintf("param: this schema is of %s, not of %T", s.kind, pointer))
	}
	params := make([]Param, len(s.read.list))
	list := make([]*Param, len(params))
	for i, p := range s.read.list {
		params[i] = *p
		params[i].field, params[i].fresh = v.FieldByIndex(p.path), true
		list[i] = &params[i]
	}
	return &Set{list, s.read.places}
}

// All is every parameter in schema order.
func (s *Set) All() []*Param { return s.list }

// Lookup is the parameter of that name, or nil.
func (s *Set) Lookup(name string) *Param {
	if i, known := s.places[name]; known {
		return s.list[i]
	}
	return nil
}

// Reset sets every parameter to the default of one column.
func (s *Set) Reset(c Column) {
	for _, p := range s.list {
		p.Reset(c)
	}
}

// A chooser is a struct whose fields' choices come from a table elsewhere; nil means none.
type chooser interface {
	ParamChoices(name string) []string
}

// A context is what an embedding struct hands down to the fields of those it embeds.
type context struct {
	group    string
	choosers []chooser // outermost first
	path     []int     // of fields, from the outermost struct
}

// choices asks the innermost struct that has an answer.
func (c context) choices(name string) []string {
	for i := len(c.choosers) - 1; i >= 0; i-- {
		if list := c.choosers[i].ParamChoices(name); len(list) > 0 {
			return list
		}
	}
	return nil
}

func (s *Set) addStruct(v reflect.Value, in context) {
	if v.CanInterface() {
		if c, ok := v.Addr().Interface().(chooser); ok {
			in.choosers = append(in.choosers[:len(in.choosers):len(in.choosers)], c)
		}
	}
	path := in.path
	for i := range v.NumField() {
		in.path = append(path[:len(path):len(path)], i)
		s.addField(v.Type().Field(i), v.Field(i), in)
	}
}

func (s *Set) addField(f reflect.StructField, v reflect.Value, in context) {
	if group, ok := f.Tag.Lookup("group"); ok {
		in.group = group
	}
	name, tagged := f.Tag.Lookup("param")
	switch {
	case tagged:
		s.add(newParam(name, f, v, in))
	case f.Anonymous && f.Type.Kind() == reflect.Struct:
		s.addStruct(v, in)
	}
}

func (s *Set) add(p *Param) {
	if _, used := s.places[p.Name]; used {
		panic("param: " + p.Name + ": the name is used twice")
	}
	s.places[p.Name] = len(s.list)
	s.list = append(s.list, p)
}

func newParam(name string, f reflect.StructField, v reflect.Value, in context) *Param {
	p := &Param{Name: name, field: v, path: in.path, fresh: true}
	if !validName(name) {
		p.panic("a name is lower-case letters, digits and dashes")
	}
	if !v.CanSet() {
		p.panic("the field " + f.Name + " is not exported")
	}
	tag := tags{p, f.Tag}
	p.Unit, p.Help, p.Group = tag.Get("unit"), tag.Get("help"), in.group
	p.Advanced = tag.is("advanced", "", "true") == "true"
	p.Scale = tag.is("scale", "", "log")
	p.setKind(f.Type)
	p.setChoices(tag, in)
	p.setBounds(tag)
	p.setDefaults(tag)
	return p
}

// panic reports a programmer's mistake.
func (p *Param) panic(problem string) { panic("param: " + p.Name + ": " + problem) }

func validName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && name[0] != '-'
}

func (p *Param) setKind(t reflect.Type) {
	kind, ok := kindOf(t)
	if !ok && t.Kind() == reflect.Slice {
		p.List = true
		kind, ok = kindOf(t.Elem())
	}
	if !ok {
		p.panic("fields of type " + t.String() + " are not supported")
	}
	p.Kind = kind
}

var (
	durationType    = reflect.TypeFor[time.Duration]()
	unmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
	marshalerType   = reflect.TypeFor[encoding.TextMarshaler]()
)

func kindOf(t reflect.Type) (Kind, bool) {
	if pointer := reflect.PointerTo(t); pointer.Implements(unmarshalerType) {
		return Custom, pointer.Implements(marshalerType)
	}
	if t == durationType {
		return Duration, true
	}
	switch t.Kind() {
	case reflect.Bool:
		return Bool, true
	case reflect.Int, reflect.Int64:
		return Int, true
	case reflect.Uint64:
		return Uint, true
	case reflect.Float64:
		return Number, true
	case reflect.String:
		return Text, true
	}
	return 0, false
}

func (p *Param) setChoices(tag tags, in context) {
	if text, ok := tag.Lookup("choices"); ok {
		p.Choices = strings.Split(text, ",")
	} else {
		p.Choices = in.choices(p.Name)
	}
	if p.Choices != nil && p.Kind != Text && p.Kind != Custom {
		p.panic("choices are for texts")
	}
}

// setBounds reads range, slider and step.
func (p *Param) setBounds(tag tags) {
	if text, ok := tag.Lookup("range"); ok {
		p.loText, p.hiText, p.Lo, p.Hi = tag.span("range", text)
		p.Ranged = true
	}
	p.SliderLo, p.SliderHi = p.Lo, p.Hi
	if text, ok := tag.Lookup("slider"); ok {
		_, _, p.SliderLo, p.SliderHi = tag.span("slider", text)
		if p.Ranged && !(p.Lo <= p.SliderLo && p.SliderHi <= p.Hi) {
			p.panic("the slider reaches outside the range")
		}
	}
	if p.Kind == Int || p.Kind == Uint {
		p.Step = 1
	}
	if text, ok := tag.Lookup("step"); ok {
		if p.Step = tag.number("step", text); !(p.Step > 0) {
			p.panic("step is not positive")
		}
	}
}

// setDefaults tries both defaults on a value of their own, so that the struct keeps its values.
func (p *Param) setDefaults(tag tags) {
	scenario, given := tag.Lookup("default")
	p.defaults[Scenario] = p.fallback("default", scenario, given)
	p.defaults[Serve] = p.defaults[Scenario]
	if serve, given := tag.Lookup("serve"); given {
		p.defaults[Serve] = p.fallback("serve", serve, true)
	}
}

func (p *Param) fallback(column, text string, given bool) fallback {
	trial := *p
	trial.field = reflect.New(p.field.Type()).Elem()
	if !given {
		text = trial.String()
	}
	// A zero value that writes no text it would read is fine as long as nobody wrote it down as a default.
	if given || p.Ranged || p.Kind == Text && !p.List {
		if err := trial.SetTexts(p.splitDefault(text)); err != nil {
			p.panic(column + ": " + err.Error())
		}
	}
	return fallback{trial.field, trial.Texts()}
}

func (p *Param) splitDefault(text string) []string {
	switch {
	case !p.List:
		return []string{text}
	case p.Choices != nil:
		return p.split(text)
	}
	return strings.Fields(text)
}

// tags is a field's tag together with the parameter to blame for it.
type tags struct {
	p *Param
	reflect.StructTag
}

// is the tag's value, which must be one of those allowed.
func (t tags) is(key string, allowed ...string) string {
	value := t.Get(key)
	for _, a := range allowed {
		if value == a {
			return value
		}
	}
	t.p.panic(key + " cannot be " + value)
	return ""
}

// span reads "lo,hi".
func (t tags) span(key, text string) (loText, hiText string, lo, hi float64) {
	loText, hiText, ok := strings.Cut(text, ",")
	if !ok {
		t.p.panic(key + " wants two numbers, lo,hi")
	}
	lo, hi = t.number(key, loText), t.number(key, hiText)
	if !(lo <= hi) {
		t.p.panic(key + " is upside down")
	}
	return loText, hiText, lo, hi
}

// number reads a bound as the parameter reads its values: durations in seconds.
func (t tags) number(key, text string) float64 {
	switch t.p.Kind {
	case Int, Uint, Number:
		if f, ok := parseFloat(text); ok {
			return f
		}
	case Duration:
		if d, err := ParseDuration(text); err == nil {
			return d.Seconds()
		}
	default:
		t.p.panic(key + " is for numbers and durations")
	}
	t.p.panic(key + ": " + text + " is not a number")
	return 0
}
