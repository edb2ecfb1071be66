package page

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/param"
	"minilb/core/pick"
	"minilb/core/scenario"
)

// TestEveryLanguageHasTheWholePage says what a language lacks: of the schema's help, of index.html and of the texts that
// the program asks for.
func TestEveryLanguageHasTheWholePage(t *testing.T) {
	texts := slices.Concat(schemaTexts(), pageTexts(t), programTexts(t))
	require.Greater(t, len(texts), 150)
	for _, l := range Languages() {
		words := WordsOf(l.Code)
		var lacks []string
		for _, text := range texts {
			if !words.Has(text) && !slices.Contains(lacks, text) {
				lacks = append(lacks, text)
			}
		}
		assert.Empty(t, lacks, "%s lacks:\n%s", l.Name, strings.Join(lacks, "\n"))
	}
}

func schemaTexts() []string {
	var texts []string
	s := scenario.Default()
	for _, p := range s.Params().All() {
		texts = append(texts, p.Help, p.Group)
	}
	for _, p := range param.Of(&s.Backends[0].Parts).All() {
		texts = append(texts, p.Help)
	}
	for _, p := range pick.All {
		texts = append(texts, p.Summary+". For when "+p.When)
	}
	for _, p := range scenario.Presets {
		texts = append(texts, p.Title, p.Sentence)
	}
	return texts
}

var (
	scripts  = regexp.MustCompile(`(?s)<head>.*</head>|<noscript>.*</noscript>|<pre.*?</pre>|<p id="verdict".*?</p>|<select id="(?:language|speed)".*?</select>`)
	between  = regexp.MustCompile(`>([^<>]+)<`)
	labelled = regexp.MustCompile(`(?:aria-label|title)="([^"]+)"`)
	asked    = regexp.MustCompile(`a\.t\("((?:[^"\\]|\\.)+)"\)`)
	worded   = regexp.MustCompile(`\pL{2}`)
)

// pageTexts are those that people read in index.html, with the sentence left out that a run replaces.
func pageTexts(t *testing.T) []string {
	text, err := os.ReadFile("../../site/static/index.html")
	require.NoError(t, err)
	return found(scripts.ReplaceAllString(string(text), ""), between, labelled)
}

func programTexts(t *testing.T) []string {
	files, err := filepath.Glob("../play/*.go")
	require.NoError(t, err)
	var texts []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		texts = append(texts, found(string(text), asked)...)
	}
	return texts
}

// found are the matches that have a word in them; names that are the same in all languages are none.
func found(text string, patterns ...*regexp.Regexp) []string {
	var texts []string
	for _, pattern := range patterns {
		for _, match := range pattern.FindAllStringSubmatch(text, -1) {
			if s := strings.TrimSpace(match[1]); worded.MatchString(s) && s != "minilb" && !strings.HasSuffix(s, " s") {
				texts = append(texts, s)
			}
		}
	}
	return texts
}

func TestWhatALanguageLacksIsShownInEnglish(t *testing.T) {
	assert.Equal(t, "Partager", WordsOf("fr").T("Share"))
	assert.Equal(t, "no such text", WordsOf("fr").T("no such text"))
	assert.Equal(t, "Share", WordsOf("tlh").T("Share"))
	assert.Equal(t, "en", WordsOf("tlh").Code())
	m := Open("#v1")
	m.Speak("fr")
	k, ok := m.Control("seed")
	require.True(t, ok)
	assert.Contains(t, k.Help, "hasard")
	assert.Equal(t, "seed", k.Label, "a control keeps the flag's name")
}
