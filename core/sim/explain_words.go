package sim

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Tongue is what it takes to say something in a language. What it leaves out
// is as in English.
type Tongue struct {
	Template func(english string) string // a text with places in this language
	Figure   func(english string) string // a number with its unit
	One      func(n float64) bool        // whether a number of things takes the singular
}

// English says what the templates say.
var English Tongue

// Paragraph is a sentence for each finding.
func (t Tongue) Paragraph(list []Finding) string {
	var said []string
	for _, f := range list {
		said = append(said, t.sentence(f)+".")
	}
	return strings.Join(said, " ")
}

// sentence begins with a capital, unless a name or a figure comes first: a
// policy or a backend is written as one types it.
func (t Tongue) sentence(f Finding) string {
	text := t.clause(f)
	first, _, _ := strings.Cut(text, " ")
	if !t.opens(f) || strings.ContainsAny(first, "0123456789") {
		return text
	}
	_, size := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:size]) + text[size:]
}

// opens says whether a finding begins with words of its template.
func (t Tongue) opens(f Finding) bool {
	place, atOnce := strings.CutPrefix(t.template(templateOf(f.Kind)), "{")
	if !atOnce {
		return true
	}
	place, _, _ = strings.Cut(place, "}")
	place, _, _ = strings.Cut(place, "+")
	for _, p := range f.Parts {
		if p.Place == place && len(p.Inner) > 0 {
			return t.opens(p.Inner[0])
		}
	}
	return false
}

func (t Tongue) clause(f Finding) string { return t.Say(templateOf(f.Kind), f.Parts...) }

// Say fills the places of a text that is given in English.
func (t Tongue) Say(english string, parts ...Part) string {
	var b strings.Builder
	for rest := t.template(english); ; {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		var place string
		place, rest, _ = strings.Cut(after, "}")
		b.WriteString(t.place(place, parts))
	}
}

func (t Tongue) template(english string) string {
	if t.Template == nil {
		return english
	}
	return t.Template(english)
}

// place is what stands in one place: {n}, {n?one|many} or {list+, }.
func (t Tongue) place(place string, parts []Part) string {
	name, words, choice := strings.Cut(place, "?")
	name, between, _ := strings.Cut(name, "+")
	for _, p := range parts {
		switch {
		case p.Place != name:
		case choice:
			return strings.ReplaceAll(t.choose(strings.Split(words, "|"), p.Number), "#", t.part(p, ""))
		default:
			return t.part(p, between)
		}
	}
	return "" // a clause that is left out
}

// choose is the word for a number of things: of two the singular or the plural,
// of three the word for 1, for 2 and for more.
func (t Tongue) choose(words []string, n float64) string {
	one := n == 1
	if t.One != nil {
		one = t.One(n)
	}
	switch last := len(words) - 1; {
	case one:
		return words[0]
	case n == 2 && last > 0:
		return words[1]
	default:
		return words[last]
	}
}

func (t Tongue) part(p Part, between string) string {
	switch {
	case p.As != "":
		return t.figure(p.As, p.Number)
	case p.Inner == nil:
		return p.Name
	}
	var said []string
	for _, f := range p.Inner {
		said = append(said, t.clause(f))
	}
	return strings.Join(said, between)
}

func (t Tongue) figure(as Form, v float64) string {
	text := figure(as, v)
	if as == AsShare {
		// It says neither "all" nor "none" of what is merely close to it.
		switch {
		case 0 < v && v < 0.005:
			return t.Say("under {share}", Measured("share", AsPercent, 1))
		case 0.995 <= v && v < 1:
			return t.Say("over {share}", Measured("share", AsPercent, 99))
		}
	}
	if t.Figure == nil {
		return text
	}
	return t.Figure(text)
}

// figure is a number as English writes it.
func figure(as Form, v float64) string {
	switch as {
	case AsShare:
		return strconv.FormatFloat(100*v, 'f', 0, 64) + "%"
	case AsPercent:
		return strconv.FormatFloat(v, 'f', -1, 64) + "%"
	case AsMillis:
		return milliseconds(v)
	case AsRate:
		return threeDigits(v) + "/s"
	case AsInstant:
		return threeDigits(v) + " s"
	case AsDigits3:
		return threeDigits(v)
	case AsDigits2:
		return digits(v, 2)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// apart rounds two percentages to as few decimals as tell them apart, and at
// least one where they are not whole.
func apart(a, b float64) (float64, float64) {
	for decimals := 1; ; decimals++ {
		x, y := cutAfter(a, decimals), cutAfter(b, decimals)
		if x != y || decimals == 9 {
			return x, y
		}
	}
}

func cutAfter(v float64, decimals int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', decimals, 64), 64) // of a number's own text
	return r
}

// milliseconds is a latency for people: three digits and a unit.
func milliseconds(ms float64) string {
	switch {
	case ms >= 999.5*60:
		return threeDigits(ms/60000) + " min"
	case ms >= 999.5:
		return threeDigits(ms/1000) + " s"
	}
	return threeDigits(ms) + " ms"
}

// threeDigits drops the zeros behind a point: 2 ms, not 2.00 ms.
func threeDigits(v float64) string {
	text := digits(v, 3)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}
