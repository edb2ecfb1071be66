package page

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"minilb/core/sim"
)

// A Language is one that the page can be read in.
type Language struct{ Code, Name string }

// languages is the table of all, the first being what nobody has to choose. Another language is one file,
// site/static/CODE.json, and one line here; a test says what it lacks. The file is loaded when its language is chosen,
// so that nobody waits for a language that they do not read.
var languages = []Language{{"en", "English"}, {"fr", "Français"}}

// Languages are all of them.
func Languages() []Language { return languages }

// Words are the texts of the page in one language. English texts are their own keys, so that the program reads as the
// page does, and what a language lacks is shown in English rather than as the name of a key. The zero Words are English.
//
// Two things stay English whatever the language: the lines of the transcript and the reasons of a pick, which are what
// the proxy writes into its log, and all names: of backends, policies, flags, and of a policy's own terms such as p99.
type Words struct {
	code  string
	table map[string]string
}

// ReadWords reads a language's file: groups of texts by their English ones. The groups are for its readers.
func ReadWords(code string, file []byte) (Words, error) {
	var groups map[string]map[string]string
	if err := json.Unmarshal(file, &groups); err != nil {
		return Words{}, fmt.Errorf("page: the words of %s: %w", code, err)
	}
	w := Words{code, map[string]string{}}
	for _, group := range groups {
		for english, text := range group {
			w.table[english] = text
		}
	}
	return w, nil
}

// T is a text in this language.
func (w Words) T(english string) string {
	if text, ok := w.table[english]; ok {
		return text
	}
	return english
}

// Has says whether the language has that text of its own.
func (w Words) Has(english string) bool {
	_, ok := w.table[english]
	return ok || w.table == nil
}

// Code is the language's tag, for the lang attribute.
func (w Words) Code() string {
	if w.code == "" {
		return languages[0].Code
	}
	return w.code
}

// Say is a text in this language with its places filled; see sim.Template for what stands in braces.
func (w Words) Say(english string, parts ...sim.Part) string {
	return w.tongue().Say(english, parts...)
}

// Figure is a number, given as English writes it, as this language does: 2,5 s and 33 %.
func (w Words) Figure(english string) string {
	if w.table == nil {
		return english
	}
	return strings.NewReplacer(".", w.T("."), "%", w.T("%")).Replace(english)
}

// tongue is what core needs to put its findings into this language. How a language writes numbers stands in its file:
// its decimal sign, its percentage, and the number from which the plural begins.
func (w Words) tongue() sim.Tongue {
	if w.table == nil {
		return sim.English
	}
	plural, err := strconv.ParseFloat(w.T("plural from"), 64)
	one := func(n float64) bool { return n < plural }
	if err != nil {
		one = nil
	}
	return sim.Tongue{Template: w.T, Figure: w.Figure, One: one}
}

// named, counted and figured are what fills the places of a text.
func named(place, name string) sim.Part             { return sim.Named(place, name) }
func counted(place string, n int) sim.Part          { return sim.Counted(place, n) }
func (w Words) figured(place, text string) sim.Part { return sim.Named(place, w.Figure(text)) }

// control is a control whose help is in this language. Its name is the flag's, the same in all.
func (w Words) control(k Control) Control {
	k.Help, k.Unit = w.T(k.Help), w.T(k.Unit)
	for i := range k.Choices {
		k.Choices[i].Help = w.T(k.Choices[i].Help)
	}
	return k
}

// Words are those of the page.
func (m *Model) Words() Words { return m.words }

// Speak chooses the page's language.
func (m *Model) Speak(w Words) {
	m.words, m.whys = w, nil
	if m.Notice != "" {
		m.Load(m.opened) // what is wrong with a link is said in the language, too
	}
}
