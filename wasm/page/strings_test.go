package page

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
	"minilb/core/param"
	"minilb/core/pick"
	"minilb/core/scenario"
	"minilb/core/sim"
)

// wordsOf is a language as the page loads it.
func wordsOf(t *testing.T, code string) Words {
	t.Helper()
	if code == "en" {
		return Words{}
	}
	file, err := os.ReadFile("../../site/static/" + code + ".json")
	require.NoError(t, err, "every language but English is a file")
	w, err := ReadWords(code, file)
	require.NoError(t, err)
	return w
}

// TestEveryLanguageHasTheWholePage says what a language lacks: of the schema's help, of core's findings, of index.html
// and of the texts that the programs ask for.
func TestEveryLanguageHasTheWholePage(t *testing.T) {
	texts := allTexts(t)
	require.Greater(t, len(texts), 450)
	for _, l := range Languages() {
		words := wordsOf(t, l.Code)
		var lacks []string
		for _, text := range texts {
			if !words.Has(text) && !slices.Contains(lacks, text) {
				lacks = append(lacks, text)
			}
		}
		assert.Empty(t, lacks, "%s lacks:\n%s", l.Name, strings.Join(lacks, "\n"))
	}
}

func TestNoLanguageHasTextsThatNobodyAsksFor(t *testing.T) {
	texts := allTexts(t)
	for _, l := range Languages()[1:] {
		var idle []string
		for english := range wordsOf(t, l.Code).table {
			if worded.MatchString(places.ReplaceAllString(english, "")) && !slices.Contains(texts, english) {
				idle = append(idle, english)
			}
		}
		assert.Empty(t, idle, "%s has, and nobody asks for:\n%s", l.Name, strings.Join(idle, "\n"))
	}
}

var places = regexp.MustCompile(`\{(\w+)`)

// TestATranslationFillsThePlacesOfItsEnglish finds a place that is misspelt or forgotten.
func TestATranslationFillsThePlacesOfItsEnglish(t *testing.T) {
	of := func(text string) []string {
		var names []string
		for _, match := range places.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(names, match[1]) {
				names = append(names, match[1])
			}
		}
		slices.Sort(names)
		return names
	}
	for _, l := range Languages()[1:] {
		for english, text := range wordsOf(t, l.Code).table {
			assert.Equal(t, of(english), of(text), "%s: %s", l.Name, text)
			if strings.HasPrefix(english, " ") {
				assert.True(t, strings.HasPrefix(text, " "), "%s: %q is joined to what stands before it", l.Name, text)
			}
		}
	}
}

func allTexts(t *testing.T) []string {
	texts := slices.Concat(schemaTexts(), findingTexts(), tableTexts(), pageTexts(t), programTexts(t), scriptTexts(t))
	return append(texts, ".", "%", "plural from", "under {share}", "over {share}")
}

func schemaTexts() []string {
	var texts []string
	add := func(more ...string) {
		for _, text := range more {
			if worded.MatchString(text) && !same(text) {
				texts = append(texts, text)
			}
		}
	}
	s := scenario.Default()
	for _, p := range s.Params().All() {
		add(p.Help, p.Group)
		if !ignored(p) {
			add(p.Unit)
		}
	}
	for _, p := range param.Of(&s.Backends[0].Parts).All() {
		add(p.Help, p.Unit)
	}
	for _, p := range pick.All {
		add(p.Summary + ". For when " + p.When)
	}
	for _, p := range scenario.Presets {
		add(p.Title, p.Sentence)
	}
	return texts
}

func findingTexts() []string {
	var texts []string
	for _, template := range sim.Templates {
		texts = append(texts, template.English)
	}
	return texts
}

// tableTexts are the texts that stand in tables of this package.
func tableTexts() []string {
	texts := slices.Concat(phrases, sentences, []string{down, ejected, draining, absent, "up", "number of errors", "dependency down", "dependency back", "balancer 1 down", "balancer 1 back"})
	for _, f := range figures {
		texts = append(texts, strings.TrimPrefix(f.head, "· "))
	}
	for _, f := range studied {
		texts = append(texts, f.head)
	}
	for _, what := range []lb.What{lb.WasEjected, lb.WentDown, lb.DrainBegan, lb.PanicBegan} {
		texts = append(texts, what.String())
	}
	return slices.DeleteFunc(texts, func(text string) bool { return !worded.MatchString(text) || same(text) })
}

var (
	scripts  = regexp.MustCompile(`(?s)<head>.*</head>|<noscript>.*</noscript>|<p id="verdict".*?</p>|<select id="(?:language|speed)".*?</select>`)
	between  = regexp.MustCompile(`>([^<>]+)<`)
	labelled = regexp.MustCompile(`(?:aria-label|title)="([^"]+)"`)
	asked    = regexp.MustCompile(`(?:\ba\.t|\.T|\.Say|\.errorf|\bt|\bword)\(("(?:[^"\\]|\\.)+")`)
	built    = regexp.MustCompile(`(?:element\("\w+", |text\()("(?:[^"\\]|\\.)+")|"(?:placeholder|aria-label)", ("(?:[^"\\]|\\.)+")`)
	inTables = regexp.MustCompile(`(?m)^\s+\["[^"]+", ("[^"]+"), .*=>|^\s*\{s\.\w+, ("[^"]+"), ("[^"]+")\}|\{"(?:json|yaml|results|csv|series)", ("[^"]+")\}|_ = \[\]string\{("[^"]+")`)
	names    = regexp.MustCompile(`"(Space|Esc)"\]`)
	worded   = regexp.MustCompile(`\pL{2}`)
)

// pageTexts are those that people read in index.html, with the sentence left out that a run replaces.
func pageTexts(t *testing.T) []string {
	text, err := os.ReadFile("../../site/static/index.html")
	require.NoError(t, err)
	return found(scripts.ReplaceAllString(string(text), ""), between, labelled)
}

// programTexts are those that the Go programs ask for, or build in English and then translate.
func programTexts(t *testing.T) []string {
	return textsOf(t, []string{"*.go", "../play/*.go"}, asked, built, inTables)
}

// scriptTexts are those that the scripts ask for, or write before the language is there.
func scriptTexts(t *testing.T) []string {
	return textsOf(t, []string{"../../site/static/*.js"}, asked, inTables, names)
}

func textsOf(t *testing.T, globs []string, patterns ...*regexp.Regexp) []string {
	var texts []string
	for _, glob := range globs {
		files, err := filepath.Glob(glob)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			texts = append(texts, found(string(text), patterns...)...)
		}
	}
	return texts
}

// found are the matches that have a word in them; names that are the same in all languages are none.
func found(text string, patterns ...*regexp.Regexp) []string {
	var texts []string
	for _, pattern := range patterns {
		for _, match := range pattern.FindAllStringSubmatch(text, -1) {
			for _, s := range match[1:] {
				if s = unquoted(s); worded.MatchString(places.ReplaceAllString(s, "")) && !same(s) && s != "0 s" {
					texts = append(texts, s)
				}
			}
		}
	}
	return texts
}

// same says whether a text is the same in all languages: a name, a unit, the form of a file.
func same(text string) bool {
	return slices.Contains([]string{"minilb", "ms", "max", "5xx", "CSV", "backend "}, text)
}

// unquoted is what a literal of a program says; what stands between tags is trimmed instead.
func unquoted(literal string) string {
	if s, err := strconv.Unquote(literal); err == nil {
		return s
	}
	return strings.TrimSpace(literal)
}

func TestTheMenuHasEveryLanguage(t *testing.T) {
	text, err := os.ReadFile("../../site/static/index.html")
	require.NoError(t, err)
	for _, l := range Languages() {
		assert.Contains(t, string(text), `<option value="`+l.Code+`" lang="`+l.Code+`">`+l.Name+`</option>`)
	}
}

func TestWhatALanguageLacksIsShownInEnglish(t *testing.T) {
	french := wordsOf(t, "fr")
	assert.Equal(t, "Partager", french.T("Share"))
	assert.Equal(t, "no such text", french.T("no such text"))
	assert.Equal(t, "Share", Words{}.T("Share"))
	assert.Equal(t, "en", Words{}.Code())
	_, err := ReadWords("tlh", []byte("["))
	assert.ErrorContains(t, err, "tlh")
	m := Open("#v1")
	m.Speak(french)
	k, ok := m.Control("seed")
	require.True(t, ok)
	assert.Contains(t, k.Help, "hasard")
	assert.Equal(t, "seed", k.Label, "a control keeps the flag's name")
}
