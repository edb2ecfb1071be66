package sim

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
)

func TestTwoFaultsAreBothNamedTheStrongerFirst(t *testing.T) {
	cases := []struct {
		claim         string
		algorithm     string
		backends      []string
		change        func(*scenario.Scenario)
		first, second Rule
		begins, ends  string
	}{
		{"a backend fails fast and clients send everything again", "least_conn", []string{"a=20", "b=20", "c=3,errors=1"},
			func(s *scenario.Scenario) { s.ClientRetries = 2 }, FailingBackend, RetriesAmplify,
			"least_conn sends ", "Also, retries make "},
		{"retries are stronger than a backend that fails now and then", "p2c", []string{"a=20", "b=20,errors=0.1", "c=400"},
			func(s *scenario.Scenario) {
				s.Rate, s.PerTryTimeout, s.Retries, s.RetryOn, s.BudgetPercent = 350, 60*time.Millisecond, 3, []string{"timeout"}, 1000
			}, RetriesAmplify, FailingBackend,
			"Retries turn ", "Also, b answers 10% of its requests with errors."},
		{"a backend is slow and the cap refuses its ejection", "round_robin", []string{"a=20", "b=20", "c=20,slow_after=5,slow_factor=30"},
			func(s *scenario.Scenario) {
				s.PerTryTimeout, s.Consecutive5xx, s.MaxEjectionPercent = 200*time.Millisecond, 5, 33
			}, FaultyBackend, CapRefuses,
			"c is 30 times slower from 5 s on. ", "Also, the cap of 33% refused "},
		{"one backend crashes and another is slow", "round_robin", []string{"a=20", "b=20,slow_after=2,slow_factor=3", "c=20,crash_at=25"}, nil,
			FaultyBackend, FaultyBackend, "b is 3 times slower from 2 s on. ", "Also, c is down from 25 s on."},
		{"a backend fails and another is a little too slow for its share", "round_robin", []string{"a=20", "b=20,errors=0.3", "c=90"}, nil,
			FailingBackend, BackendOverloaded, "round_robin sends 33% of requests to b, ", "Also, c can serve 44.4/s and gets 50/s."},
		{"a backend is far too slow for its share and another fails now and then", "round_robin", []string{"a=20", "b=20,errors=0.3", "c=200"}, nil,
			BackendOverloaded, FailingBackend, "c can serve 20/s and gets 50/s under round_robin: ", "Also, b answers 30% of its requests with errors."},
		{"a backend fails while the dependency is away", "round_robin", []string{"a=20", "b=20,errors=0.3", "c=20"},
			func(s *scenario.Scenario) {
				s.DependencyDown = scenario.Window{From: 10 * time.Second, To: 12 * time.Second}
			},
			FailingBackend, DependencyDown, "round_robin sends 33% of requests to b, ", "Also, the dependency that all backends share is down from 10 s to 12 s."},
	}
	for _, c := range cases {
		t.Run(c.claim, func(t *testing.T) {
			s := one(t, c.algorithm, c.backends...)
			if c.change != nil {
				c.change(&s)
			}
			v := Judge(report(t, s), c.algorithm)
			assert.Equal(t, []Rule{c.first, c.second}, []Rule{v.Rule, v.Second}, v.Text)
			assert.Regexp(t, "^"+regexp.QuoteMeta(c.begins), v.Text)
			assert.Regexp(t, regexp.QuoteMeta(c.ends)+`[^.]*(\.\d[^.]*)*\.?$`, v.Text)
			t.Log(v.Text)
		})
	}
}

func TestOneFaultIsNotNamedTwice(t *testing.T) {
	for _, p := range scenario.Presets {
		s, err := scenario.Decode(p.Link)
		require.NoError(t, err)
		r := report(t, s)
		for _, result := range r.Results {
			v := Judge(r, result.Algorithm)
			assert.Empty(t, v.Second, "%s: %s", p.Name, v.Text)
		}
	}
}

func TestAFindingSurvivesItsJSON(t *testing.T) {
	v := Judge(report(t, preset(t, "cap-never-ejects")), "least_conn")
	text, err := json.Marshal(v)
	require.NoError(t, err)
	var back Verdict
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, v.Text, English.Paragraph(back.Findings))
}

func TestEveryTemplateHasItsKindOnce(t *testing.T) {
	seen := map[Kind]bool{}
	for _, template := range Templates {
		assert.False(t, seen[template.Kind], template.Kind)
		seen[template.Kind] = true
		assert.Equal(t, template.English, templateOf(template.Kind))
	}
	assert.Panics(t, func() { templateOf("no-such-kind") })
}

func TestATextsPlacesAreFilled(t *testing.T) {
	ejected := "{backend} is ejected {n?once|twice|# times}{why}"
	for n, want := range map[int]string{0: "b is ejected 0 times", 1: "b is ejected once", 2: "b is ejected twice", 7: "b is ejected 7 times"} {
		assert.Equal(t, want, English.Say(ejected, Named("backend", "b"), Counted("n", n)), "a place without a part is left out")
	}
	other := Tongue{
		Template: func(string) string { return "{backend} {n?einmal|#-mal} bei {share}" },
		Figure:   func(text string) string { return text + "!" },
		One:      func(n float64) bool { return n < 2 },
	}
	assert.Equal(t, "b einmal bei 56%!", other.Say(ejected, Counted("n", 0), Named("backend", "b"), Measured("share", AsShare, 0.56)))
	assert.Equal(t, "b 2!-mal bei 33.3%!", other.Say(ejected, Counted("n", 2), Named("backend", "b"), Measured("share", AsPercent, 33.3)))
}

func TestASentenceBeginsWithACapitalUnlessANameBeginsIt(t *testing.T) {
	for want, f := range map[string]Finding{
		"Ejection is off.": finding(ejectionOff),
		"b is down.":       finding(faultIs, Named("backend", "b"), inner("what", finding(isDown))),
		"p99 is 10 s.":     finding(onlyTail, Measured("p99", AsMillis, 10_000)),
		"Also, b is down.": finding(also, inner("what", finding(faultIs, Named("backend", "b"), inner("what", finding(isDown))))),
	} {
		assert.Equal(t, want, English.Paragraph([]Finding{f}))
	}
}
