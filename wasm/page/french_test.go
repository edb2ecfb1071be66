package page

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
	"minilb/core/sim"
)

// spoken is everything that this package says of a scenario in a language, but for the lines of the transcript.
func spoken(t *testing.T, link string, w Words) []string {
	t.Helper()
	var said []string
	add := func(texts ...string) { said = append(said, texts...) }
	m := Open("")
	m.Speak(w)
	m.Load(link)
	o, report := simulated(t, link)
	o.Words = w
	for _, f := range o.Results {
		add(o.Sentence(f.Algorithm), FindRemedy(o, f.Algorithm).Label)
		add(tableSaid(o.Table(f.Algorithm))...)
		for _, c := range o.Calculators(f.Algorithm, DefaultDraws) {
			add(c.Title, c.Rule, c.Sum, c.Measured)
		}
	}
	course := DigestOf(report).Courses[0]
	add(course.Transcript.Note(w), Ran(o, 12.4), m.Notice)
	for _, mark := range course.Transcript.Moments(o.Scenario, w) {
		add(mark.Label)
	}
	for _, trouble := range Troubles(o.Scenario, w) {
		add(trouble.State)
	}
	for _, policy := range []string{"ring_hash", "modulo_hash"} {
		v := Keys(o.Scenario, policy, 1, w)
		add(v.Note, v.Cells[3].Key, v.Sentence(o.Scenario, v.Cells[0]), v.Sentence(o.Scenario, v.Cells[1]), v.Sentence(o.Scenario, v.Cells[2]))
	}
	require.NoError(t, m.Keep(o, o.Results[0].Algorithm))
	add(m.Variants()[0].Changes(o, "p2c"))
	add(tableSaid(m.VariantTable(o, o.Results[0].Algorithm))...)
	for _, k := range m.Everything() {
		add(k.Help, k.Unit)
		for _, c := range k.Choices {
			add(c.Help)
		}
	}
	for _, i := range m.Incidents() {
		add(i.Title, i.Sentence)
	}
	for _, badge := range m.Badges() {
		add(badge.Text)
	}
	return slices.DeleteFunc(said, func(text string) bool { return text == "" })
}

func tableSaid(t Table) []string {
	said := slices.Clone(t.Policies)
	for _, line := range t.Lines {
		if line.Mark == nil { // whose head is a backend's name
			said = append(said, line.Head)
		}
		for _, c := range line.Cells {
			said = append(said, c.Text)
		}
	}
	return said
}

// English words that are none in French, and French ones that are none in English.
var (
	englishWords = regexp.MustCompile(`(?i)\b(the|of|is|are|was|were|to|with|and|which|its?|that|not|than|without|requests?|errors?|each|when|from|by|how|what|never|` +
		`more|less|fewer|higher|lower|all|none|only|every|no|one|two|for|be|seeds?|attempts|share|nobody|changed|back|slow|down|up|event|keys?|nothing|takes?|turn|try|raise|add|retry)\b`)
	frenchWords = regexp.MustCompile(`(?i)\b(le|les|des|du|une|est|sont|avec|qui|que|pas|plus|moins|chaque|aucune?|requêtes?|erreurs?|sans|pour|quand|combien)\b|[éèêàùçô]`)
	ownNames    = regexp.MustCompile(`[a-z]+_[a-z_0-9]+|[a-z0-9]+-[a-z0-9-]+|/health|health=\w+|\b(up|down|rise|rate|header:|path|cookie:|query:|client-ip)\b|"[^"]*"|« [^»]* »|\bslow\b`)
)

// foreign is what of the texts is in the other language. What both write the same, names and flags, is neither.
func foreign(texts []string, other *regexp.Regexp) []string {
	var found []string
	for _, text := range texts {
		if word := other.FindString(ownNames.ReplaceAllString(text, "")); word != "" && !slices.Contains(found, word+": "+text) {
			found = append(found, word+": "+text)
		}
	}
	return found
}

// TestNoSentenceOfAPresetIsLeftInTheOtherLanguage reads everything that is said of every preset, and of scenarios in which
// every rule has something to say, in both languages.
func TestNoSentenceOfAPresetIsLeftInTheOtherLanguage(t *testing.T) {
	var links []string
	for _, p := range scenario.Presets {
		links = append(links, p.Link)
	}
	links = append(links,
		"#v1;algorithm=p2c;rate=500;no-such-key=1",
		"#v1;algorithm=round_robin;algorithm=p2c;backend=a:20,crash_at:5;backend=b:20,slow_factor:9,slow_after:3;check-interval=2",
		"#v1;algorithm=p2c;backend=a:20,drain_at:4;backend=b:20,add_at:3;arrivals=step;dependency-down=1..2;balancer-down=3..4;balancers=2",
		"#v1;algorithm=least_conn;backend=a:20;backend=b:20;backend=c:3,errors:1;client-retries=2",
		"#v1;algorithm=p2c;backend=a:20;backend=b:20,hang_at:3,recover_at:9;client-timeout=1;consecutive-5xx=3",
		"#v1;algorithm=p2c;rate=150;max-inflight=2;backend=a:20;backend=b:20",
		"#v1;algorithm=p2c;rate=350;per-try-timeout=0.06;retries=3;retry-on=timeout;budget-percent=1000;backend=a:20;backend=b:20;backend=c:400",
	)
	for _, link := range links {
		english, french := spoken(t, link, Words{}), spoken(t, link, wordsOf(t, "fr"))
		assert.Len(t, french, len(english), link)
		assert.Empty(t, foreign(french, englishWords), "in French: %s", link)
		assert.Empty(t, foreign(english, frenchWords), "in English: %s", link)
	}
}

func TestFrenchIsWrittenAsFrenchIs(t *testing.T) {
	french := wordsOf(t, "fr")
	for _, c := range []struct{ link, policy, want string }{
		{monday, "least_conn", "least_conn envoie 56 % des requêtes à broken, qui répond à toutes par une erreur, en 2 ms : il paraît le moins chargé. " +
			"2786 requêtes sur 5000 échouent. L'éjection est désactivée. round_robin lui en envoie 33 %."},
		{capped, "least_conn", "least_conn envoie 56 % des requêtes à broken, qui répond à toutes par une erreur, en 2 ms : il paraît le moins chargé. " +
			"2786 requêtes sur 5000 échouent. Le plafond de 33 % a refusé 2782 éjections : un backend sur 3 ferait 33,3 %. round_robin lui en envoie 33 %."},
		{mended, "round_robin", "Avec round_robin, broken est éjecté 2 fois : il reçoit moins de 1 % des requêtes, et 10 requêtes sur 5000 échouent."},
		{"#v1", "round_robin", "slow peut servir 40/s et reçoit 50/s avec round_robin : sa file s'allonge tant que des requêtes arrivent. " +
			"Le p99 est de 10 s. least_conn lui en envoie 13 %, pour un p99 de 265 ms ; p2c lui en envoie 15 %, pour un p99 de 276 ms."},
	} {
		o, _ := simulated(t, c.link)
		o.Words = french
		assert.Equal(t, strings.ReplaceAll(c.want, " ", " "), strings.ReplaceAll(o.Sentence(c.policy), " ", " "))
	}
	one := sim.Counted("n", 1)
	assert.Equal(t, "1 modifié", french.Changed(1))
	assert.Equal(t, "0 événement.", french.Say("{n?# event|# events}.", sim.Counted("n", 0)), "in French nothing is singular")
	assert.Equal(t, "1 event.", Words{}.Say("{n?# event|# events}.", one))
	assert.Equal(t, "2,5 s", french.Figure("2.5 s"))
}

func TestErrorsAreSaidInThePagesLanguage(t *testing.T) {
	french := wordsOf(t, "fr")
	m := Open("#v1")
	m.Speak(french)
	for _, c := range []struct {
		do   func() error
		want string
	}{
		{func() error { return m.Set("fall", "0") }, "fall=0 : hors de l'intervalle 1 à 100 sondes"},
		{func() error { return m.Set("rate", "many") }, "rate=many : pas un nombre ; accepté : 0.001 à 1000000 requêtes/s"},
		{func() error { return m.Set("check-interval", "x") }, "check-interval=x : pas une durée"},
		{func() error { return m.Set("arrivals", "poison") }, "arrivals=poison : inconnu ; accepté : poisson"},
		{func() error { return m.Rename(0, "-") }, "nom de backend \"-\" ; accepté"},
		{func() error { return m.Rename(0, "slow") }, "slow est déjà le nom d'un autre backend"},
		{func() error { return m.Toggle("algorithm", "none", false) }, ""},
	} {
		err := c.do()
		if c.want == "" {
			continue
		}
		require.Error(t, err)
		assert.Contains(t, strings.ReplaceAll(french.Error(err), " ", " "), c.want)
		assert.Empty(t, foreign([]string{french.Error(err)}, englishWords))
	}
	m.Load("#v9;x")
	assert.Contains(t, m.Notice, "Ce lien est illisible")
	assert.Empty(t, foreign([]string{m.Notice}, englishWords), m.Notice)
	assert.Empty(t, french.Error(nil))
	opened := Open("#v9")
	opened.Speak(french)
	assert.Contains(t, opened.Notice, "illisible", "the language comes after the link")
}
