package param

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Column says whose defaults are meant. The simulator and the proxy share one schema but not one notion of a sensible
// start: a scenario begins with everything off so that an experiment shows one thing, a proxy begins safe.
type Column int

// The two columns of defaults.
const (
	Scenario Column = iota
	Serve
	columns
)

// A Kind is what a parameter's values, or the elements of a list, look like.
type Kind int

// The kinds. Custom is a type that reads and writes its own text.
const (
	Bool Kind = iota
	Int
	Uint
	Number
	Duration
	Text
	Custom
)

// A Param is one named field of a struct: its description, its bounds and access to its value. It implements
// pflag.Value without importing it.
type Param struct {
	Name, Unit, Help, Group, Scale string

	Kind    Kind
	Choices []string // nil when any text will do

	// Lo and Hi bound the value, inclusively, when Ranged; durations are in seconds. SliderLo and SliderHi are the
	// span worth a slider, equal to Lo and Hi unless narrower. Step is 0 when any value will do.
	Lo, Hi, Step, SliderLo, SliderHi float64

	Ranged   bool
	Advanced bool
	List     bool

	loText, hiText string // the bounds as their author wrote them, for messages
	field          reflect.Value
	path           []int // of fields, from the struct to the field
	defaults       [columns]fallback
	fresh          bool // the next Set of a list replaces it
}

// A fallback is one column's default.
type fallback struct {
	value reflect.Value
	texts []string
}

// Set reads the value from text, or leaves it alone and says what would be accepted. For a list, the first Set after
// Reset or SetTexts replaces the value and later ones append, as repeated flags should; with choices, one text may hold
// several elements between commas.
func (p *Param) Set(text string) error {
	if !p.List {
		return p.read(p.field, text)
	}
	list, err := p.readList(p.split(text))
	if err != nil {
		return err
	}
	if !p.fresh {
		list = reflect.AppendSlice(p.field, list)
	}
	p.field.Set(list)
	p.fresh = false
	return nil
}

// SetTexts replaces the whole value: one text per element of a list, exactly one for anything else. The next Set
// replaces it again, so that a flag overrides a file rather than adding to it.
func (p *Param) SetTexts(texts []string) error {
	if !p.List {
		if len(texts) != 1 {
			return p.fault(strings.Join(texts, ","), "has "+strconv.Itoa(len(texts))+" values", "exactly one")
		}
		return p.Set(texts[0])
	}
	list, err := p.readList(texts)
	if err != nil {
		return err
	}
	p.field.Set(list)
	p.fresh = true
	return nil
}

// split is the elements in the text of one flag.
func (p *Param) split(text string) []string {
	switch {
	case text == "":
		return nil
	case p.Choices != nil:
		return strings.Split(text, ",")
	}
	return []string{text}
}

func (p *Param) readList(texts []string) (reflect.Value, error) {
	list := reflect.MakeSlice(p.field.Type(), len(texts), len(texts))
	for i, text := range texts {
		if err := p.read(list.Index(i), text); err != nil {
			return list, err
		}
	}
	return list, nil
}

// String is the shortest text that Set reads back to the same value. A list with choices is joined by commas; another
// list by spaces, for people only: Texts is its exact form.
func (p *Param) String() string {
	if p == nil || !p.field.IsValid() {
		return "" // pflag asks the zero value
	}
	if p.List && p.Choices == nil {
		return strings.Join(p.Texts(), " ")
	}
	return strings.Join(p.Texts(), ",")
}

// Texts is the value as SetTexts reads it: one text per element of a list, one for anything else.
func (p *Param) Texts() []string { return p.textsOf(p.field) }

func (p *Param) textsOf(v reflect.Value) []string {
	if !p.List {
		return []string{p.write(v)}
	}
	texts := make([]string, v.Len())
	for i := range texts {
		texts[i] = p.write(v.Index(i))
	}
	return texts
}

// Type is the word that stands for the value in a flag's help.
func (p *Param) Type() string {
	if p.List {
		return "list"
	}
	return [...]string{"bool", "int", "int", "number", "duration", "text", "text"}[p.Kind]
}

// Default is the default of one column, as Texts would give it.
func (p *Param) Default(c Column) []string { return slices.Clone(p.defaults[c].texts) }

// Changed says whether the value differs from the default of one column.
func (p *Param) Changed(c Column) bool { return !slices.Equal(p.Texts(), p.defaults[c].texts) }

// Reset sets the value to the default of one column.
func (p *Param) Reset(c Column) {
	value := p.defaults[c].value
	if p.List && !value.IsNil() {
		value = reflect.AppendSlice(reflect.MakeSlice(value.Type(), 0, value.Len()), value)
	}
	p.field.Set(value)
	p.fresh = true
}

// Float is the value as a slider sees it: numbers as they are, durations in seconds, bool as 0 or 1. A text or a list
// has no such value and gives 0.
func (p *Param) Float() float64 {
	if p.List {
		return 0
	}
	return p.floatOf(p.field)
}

func (p *Param) floatOf(v reflect.Value) float64 {
	switch p.Kind {
	case Bool:
		if v.Bool() {
			return 1
		}
	case Int:
		return float64(v.Int())
	case Uint:
		return float64(v.Uint())
	case Number:
		return v.Float()
	case Duration:
		return time.Duration(v.Int()).Seconds()
	}
	return 0
}

// SetFloat sets the value from a slider: whole kinds and durations are rounded, and the range is checked.
func (p *Param) SetFloat(v float64) error {
	text := FormatFloat(v)
	switch {
	case p.List || p.Kind == Text || p.Kind == Custom:
		return p.fault(text, "is not a number's parameter", "text")
	case p.Kind == Bool && v == v:
		text = strconv.FormatBool(v != 0)
	case p.Kind == Int || p.Kind == Uint:
		text = FormatFloat(math.Round(v))
	case p.Kind == Duration:
		if d, ok := seconds(v); ok {
			text = FormatDuration(d)
		}
	}
	return p.Set(text)
}
