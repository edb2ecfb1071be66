package param

import (
	"encoding"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// read sets v, one element or the whole field, from text; v is untouched when there is an error.
func (p *Param) read(v reflect.Value, text string) error {
	if p.Choices != nil && !slices.Contains(p.Choices, text) {
		err := p.fault(text, "unknown", strings.Join(p.Choices, ", "))
		err.Near = nearest(text, p.Choices)
		return err
	}
	scratch := reflect.New(v.Type()).Elem()
	if err := p.parse(scratch, text); err != nil {
		return err
	}
	if p.Ranged {
		if f := p.floatOf(scratch); !(p.Lo <= f && f <= p.Hi) {
			return p.fault(text, "outside "+p.span(), "")
		}
	}
	v.Set(scratch)
	return nil
}

func (p *Param) parse(v reflect.Value, text string) error {
	switch p.Kind {
	case Bool:
		b, ok := parseBool(text)
		v.SetBool(b)
		return p.unless(ok, text, "not a yes or no", "true or false")
	case Int:
		n, err := parseInt(text)
		v.SetInt(n)
		return p.unlessWhole(err, text)
	case Uint:
		n, err := parseUint(text)
		v.SetUint(n)
		return p.unlessWhole(err, text)
	case Number:
		f, ok := parseFloat(text)
		v.SetFloat(f)
		return p.unless(ok, text, "not a number", p.acceptedOr("a number"))
	case Duration:
		d, err := ParseDuration(text)
		v.SetInt(int64(d))
		return p.unless(err == nil, text, "not a duration", p.acceptedOr("seconds")+", such as 0.2, 200ms or 1m30s")
	case Text:
		v.SetString(text)
		return nil
	}
	return p.parseCustom(v, text)
}

func (p *Param) unless(ok bool, text, problem, accepted string) error {
	if ok {
		return nil
	}
	return p.fault(text, problem, accepted)
}

// unlessWhole tells a number too large for its type from something that is no whole number at all.
func (p *Param) unlessWhole(err error, text string) error {
	if errors.Is(err, strconv.ErrRange) {
		return p.fault(text, "too large", p.acceptedOr(p.whole("a 64-bit number")))
	}
	return p.unless(err == nil, text, "not a whole number", p.acceptedOr(p.whole("a whole number")))
}

// whole is what a parameter without a range accepts: of unsigned ones a sign is refused, so their bounds are told.
func (p *Param) whole(signed string) string {
	if p.Kind == Uint {
		return "a whole number from 0 to " + strconv.FormatUint(math.MaxUint64, 10)
	}
	return signed
}

// parseCustom lets the type read its own text. A type that returns an *Error keeps its problem and what it accepts.
func (p *Param) parseCustom(v reflect.Value, text string) error {
	err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	if err == nil {
		return nil
	}
	var inner *Error
	if errors.As(err, &inner) {
		fault := *inner
		fault.Name, fault.Value = p.Name, text
		return &fault
	}
	return p.fault(text, err.Error(), "")
}

// write is the text of one element.
func (p *Param) write(v reflect.Value) string {
	switch p.Kind {
	case Bool:
		return strconv.FormatBool(v.Bool())
	case Int:
		return strconv.FormatInt(v.Int(), 10)
	case Uint:
		return strconv.FormatUint(v.Uint(), 10)
	case Number:
		return FormatFloat(v.Float())
	case Duration:
		return FormatDuration(time.Duration(v.Int()))
	case Text:
		return v.String()
	}
	text, err := v.Addr().Interface().(encoding.TextMarshaler).MarshalText()
	if err != nil {
		return err.Error() // nothing that Set accepted does this; what is shown says why
	}
	return string(text)
}

// span is the range in words, with the unit: "1 to 100 probes".
func (p *Param) span() string {
	if p.Kind == Duration {
		return withSecond(p.loText) + " to " + withSecond(p.hiText)
	}
	if p.Unit == "" {
		return p.loText + " to " + p.hiText
	}
	return p.loText + " to " + p.hiText + " " + p.Unit
}

// withSecond spells out the unit of a bare number of seconds other than 0.
func withSecond(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil && text != "0" {
		return text + "s"
	}
	return text
}

// acceptedOr is the range when there is one, and otherwise what any value of the kind is called.
func (p *Param) acceptedOr(words string) string {
	if p.Ranged {
		return p.span()
	}
	return words
}

func parseBool(text string) (value, ok bool) {
	switch text {
	case "true", "1", "on", "yes":
		return true, true
	case "false", "0", "off", "no":
		return false, true
	}
	return false, false
}

// Whole numbers up to here are exact as floats, so 1e6 can be read as one.
const maxExactFloat = 1 << 53

func parseInt(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if f, ok := parseFloat(text); err != nil && ok && math.Floor(f) == f && math.Abs(f) <= maxExactFloat {
		return int64(f), nil
	}
	return n, err
}

func parseUint(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if f, ok := parseFloat(text); err != nil && ok && math.Floor(f) == f && 0 <= f && f <= maxExactFloat {
		return uint64(int64(f)), nil
	}
	return n, err
}

// parseFloat reads a finite decimal number: no NaN, no infinity, no hexadecimal.
func parseFloat(text string) (float64, bool) {
	if strings.Trim(text, "0123456789.eE+-") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	// Adding zero makes -0 a 0: they are equal, and one number has one text.
	return f + 0, err == nil && !math.IsInf(f, 0)
}

// FormatFloat is a short text that reads back to exactly f. Up to seven characters a plain decimal is kept for its
// legibility; beyond that the shorter of a decimal and an exponent without sign or padding wins: 100000, 1e9, 2.5e-8.
func FormatFloat(f float64) string {
	plain := strconv.FormatFloat(f, 'f', -1, 64)
	mantissa, exponent, found := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	if !found { // NaN and the infinities
		return strings.TrimPrefix(plain, "+")
	}
	power, _ := strconv.Atoi(exponent)
	scientific := mantissa + "e" + strconv.Itoa(power)
	if len(plain) <= 7 || len(plain) <= len(scientific) {
		return plain
	}
	return scientific
}
