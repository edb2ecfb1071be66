package page

// A Language is one that the page can be read in.
type Language struct {
	Code, Name string
	tables     []map[string]string // from English; none for English itself
}

// languages is the table of all, the first being what nobody has to choose. Another language is one file with its table
// and one line here; a test says what it lacks.
var languages = []Language{
	{Code: "en", Name: "English"},
	{Code: "fr", Name: "Français", tables: []map[string]string{french, frenchSchema}},
}

// Languages are all of them.
func Languages() []Language { return languages }

// Words are the texts of the page in one language. English texts are their own keys, so that the program reads as the
// page does, and what a language lacks is shown in English rather than as the name of a key.
type Words struct{ language Language }

// WordsOf is the language of that code, or English.
func WordsOf(code string) Words {
	for _, l := range languages {
		if l.Code == code {
			return Words{l}
		}
	}
	return Words{languages[0]}
}

// T is a text in this language.
func (w Words) T(english string) string {
	if text, ok := w.find(english); ok {
		return text
	}
	return english
}

func (w Words) find(english string) (string, bool) {
	for _, table := range w.language.tables {
		if text, ok := table[english]; ok {
			return text, true
		}
	}
	return "", false
}

// Has says whether the language has that text of its own.
func (w Words) Has(english string) bool {
	_, ok := w.find(english)
	return ok || w.language.tables == nil
}

// Code is the language's tag, for the lang attribute.
func (w Words) Code() string {
	if w.language.Code == "" {
		return languages[0].Code
	}
	return w.language.Code
}

// control is a control whose help is in this language. Its name is the flag's, the same in all.
func (w Words) control(k Control) Control {
	k.Help = w.T(k.Help)
	for i := range k.Choices {
		k.Choices[i].Help = w.T(k.Choices[i].Help)
	}
	return k
}

// Words are those of the page.
func (m *Model) Words() Words { return m.words }

// Speak chooses the page's language by its code; an unknown one is English.
func (m *Model) Speak(code string) { m.words = WordsOf(code) }
