package sim

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/scenario"
)

func report(t require.TestingT, s scenario.Scenario) Report {
	r, err := Run(s, Options{})
	require.NoError(t, err)
	return r
}

func preset(t require.TestingT, name string) scenario.Scenario {
	p, ok := scenario.FindPreset(name)
	require.True(t, ok, name)
	s, err := scenario.Decode(p.Link)
	require.NoError(t, err)
	return s
}

func TestTheIncidentIsExplained(t *testing.T) {
	cases := map[string]string{
		"tail-latency": "slow can serve 40/s and gets 50/s under round_robin: its queue grows as long as requests arrive. " +
			"p99 is 10 s. least_conn sends it 13% and has a p99 of 265 ms; p2c sends it 15% and has a p99 of 276 ms.",
		"fails-fast": "least_conn sends 56% of requests to broken, which answers all of them with errors that take it 2 ms: " +
			"it looks the least busy. 2786 of 5000 requests fail. Ejection is off. round_robin sends it 33%.",
		"fails-fast-ejected": "Under round_robin broken is ejected twice: it gets under 1% of requests, and 10 of 5000 requests fail.",
		"cap-never-ejects": "least_conn sends 56% of requests to broken, which answers all of them with errors that take it 2 ms: " +
			"it looks the least busy. 2786 of 5000 requests fail. The cap of 33% refused 2782 ejections: one of 3 backends would be 33.3%. round_robin sends it 33%.",
	}
	for name, want := range cases {
		assert.Equal(t, want, Explain(report(t, preset(t, name))), name)
	}
}

func TestEachRuleSpeaksWhereItShould(t *testing.T) {
	cases := []struct {
		rule      Rule
		algorithm string
		backends  []string
		change    func(*scenario.Scenario)
		backend   string
		says      string
	}{
		{FailingBackend, "round_robin", []string{"a=20", "b=20,errors=0.3"}, nil, "b",
			"round_robin sends 50% of requests to b, which answers 30% of them with errors that take it 20 ms."},
		{FailingBackend, "peak_ewma", []string{"a=20", "b=20", "c=1,errors=1"}, nil, "c", "it looks the fastest. "},
		{FailingBackend, "p2c", []string{"a=20", "b=20,errors=0.5"}, func(s *scenario.Scenario) { s.Consecutive5xx = 1000 }, "b",
			"Ejection is on and ejected nobody."},
		{FailingBackend, "round_robin", []string{"a=20,errors=1", "b=20,errors=1", "c=20,errors=1"},
			func(s *scenario.Scenario) { s.Consecutive5xx, s.MaxEjectionPercent = 5, 40 }, "c", "The cap of 40% refused"},
		{FailingBackend, "round_robin", []string{"a=20,errors=1", "b=20"},
			func(s *scenario.Scenario) {
				s.Consecutive5xx, s.BaseEjection, s.MaxEjection = 5, time.Millisecond, time.Millisecond
			}, "a", " did not keep it out."},
		{EjectionWorked, "p2c", []string{"a=20", "b=20", "c=2,errors=1"}, func(s *scenario.Scenario) { s.Consecutive5xx = 5 }, "c",
			"Under p2c c is ejected "},
		{EjectionWorked, "round_robin", []string{"a=20,errors=0.2", "b=20,errors=0.2", "c=20"},
			func(s *scenario.Scenario) {
				s.Consecutive5xx, s.MaxEjectionPercent, s.BaseEjection = 2, 100, 300*time.Second
			}, "", "Under round_robin backends are ejected "},
		{RetriesAmplify, "p2c", []string{"a=20", "b=20", "c=400"}, func(s *scenario.Scenario) {
			s.Rate, s.PerTryTimeout, s.Retries, s.RetryOn, s.BudgetPercent = 350, 60*time.Millisecond, 3, []string{"timeout"}, 1000
		}, "", "attempts for each request, more than the 410/s that the pool can serve."},
		{PoolOverloaded, "p2c", []string{"a=20", "b=20"}, func(s *scenario.Scenario) { s.Rate = 500 }, "", "The pool can serve 400/s and gets 500/s: no policy mends that. Under p2c p99 is "},
		{PoolOverloaded, "p2c", []string{"a=20", "b=20"}, func(s *scenario.Scenario) { s.Rate = 390 }, "", "The pool gets 98% of the 400/s that it can serve."},
		{BackendOverloaded, "round_robin", []string{"a=20", "b=100"}, func(s *scenario.Scenario) { s.Rate = 100 }, "b", "b can serve 40/s and gets 50/s under round_robin: its queue grows"},
		{BackendOverloaded, "round_robin", []string{"a=20", "b=100"}, func(s *scenario.Scenario) { s.Rate = 78 }, "b", "b gets 98% of the 40/s that it can serve under round_robin."},
		{BackendOverloaded, "round_robin", []string{"a=20", "b=100"}, func(s *scenario.Scenario) { s.Rate, s.MaxInflight = 150, 20 }, "b", "under round_robin. "},
		{HealthCheckLies, "least_conn", []string{"a=20", "b=2,errors=1,health=process"}, func(s *scenario.Scenario) { s.CheckInterval = time.Second }, "b",
			"The health check of b tests its process, not whether requests work."},
		{HealthCheckLies, "least_conn", []string{"a=20", "b=2,errors=1"}, func(s *scenario.Scenario) { s.CheckInterval, s.CheckType = time.Second, "tcp" }, "b",
			"The health check only connects, and does not ask whether requests work."},
		{FailingBackend, "round_robin", []string{"a=20", "b=20,errors=1,errors_after=10,recover_at=20,error_ms=3"}, nil, "b",
			"answers all of them with errors from 10 s to 20 s that take it 3 ms."},
		{FaultyBackend, "round_robin", []string{"a=20", "b=20,crash_at=10"}, nil, "b", "b is down from 10 s on. Under round_robin "},
		{FaultyBackend, "round_robin", []string{"a=20", "b=20,crash_at=10,recover_at=20"}, func(s *scenario.Scenario) { s.CheckInterval = time.Second }, "b", " b got requests for another "},
		{FaultyBackend, "round_robin", []string{"a=20", "b=20,crash_at=10"}, func(s *scenario.Scenario) { s.Consecutive5xx = 3 }, "b", " Backends are ejected once."},
		{FaultyBackend, "p2c", []string{"a=20", "b=20,stall_at=10,stall_for=2"}, nil, "b", "b does not work from 10 s to 12 s."},
		{FaultyBackend, "p2c", []string{"a=20", "b=20,slow_after=10,slow_factor=20"}, nil, "b", "b is 20 times slower from 10 s on."},
		{FaultyBackend, "p2c", []string{"a=20", "b=20,hang_at=5"}, func(s *scenario.Scenario) { s.ClientTimeout = time.Second }, "b", "b accepts requests and does not answer from 5 s on."},
		{FaultyBackend, "p2c", []string{"a=20", "b=20,health=flag,errors=1,errors_after=5"}, func(s *scenario.Scenario) { s.CheckInterval = time.Second }, "b",
			"b answers its requests, but its health check fails from 5 s on."},
		{NothingWrong, "p2c", []string{"a=20", "b=20,crash_at=1000"}, nil, "", "p2c answers 99% of requests within "},
		{RetriesAmplify, "first", []string{"a=100,capacity=30,stall_at=10"}, func(s *scenario.Scenario) {
			s.Rate, s.Requests, s.ClientTimeout, s.ClientRetries = 200, 10_000, time.Second, 1
		}, "", "a does not work from 10 s to 20 s. Retries make "},
		{DependencyDown, "p2c", []string{"a=20", "b=20"}, func(s *scenario.Scenario) {
			s.DependencyDown = scenario.Window{From: 10 * time.Second, To: 20 * time.Second}
		}, "",
			"The dependency that all backends share is down from 10 s to 20 s. Under p2c "},
		{NothingWrong, "p2c", []string{"a=20", "b=20"}, func(s *scenario.Scenario) { s.Arrivals = "closed" }, "", "p2c answers 99% of requests within "},
		{RequestsDropped, "p2c", []string{"a=20", "b=20"}, func(s *scenario.Scenario) { s.Rate, s.MaxInflight = 150, 2 }, "", "are dropped under p2c: no backend could take them."},
		{NothingWrong, "first", []string{"a=10", "b=20"}, nil, "a", "first answers 99% of requests within "},
		{NothingWrong, "p2c", []string{"a=20,errors=0.0005", "b=20,errors=0.0005"}, nil, "b", " of 5000 requests fail. The busiest backend, "},
	}
	for _, c := range cases {
		s := one(t, c.algorithm, c.backends...)
		if c.change != nil {
			c.change(&s)
		}
		v := Judge(report(t, s), c.algorithm)
		assert.Equal(t, c.rule, v.Rule, v.Text)
		assert.Equal(t, c.backend, v.Backend, v.Text)
		assert.Contains(t, v.Text, c.says)
	}
}

func TestTheRulesThatNoRunReachesSpeakToo(t *testing.T) {
	s := one(t, "p2c", "a=20", "b=20")
	r := Report{Scenario: s, Results: []Result{{Algorithm: "p2c", Requests: 7, Dropped: 7, Share: Shares{{"a", 0}, {"b", 0}}}}}
	assert.Equal(t, "No backend could take any of the 7 requests: all were dropped.", Explain(r))
	assert.Equal(t, NothingAnswered, Judge(r, "p2c").Rule)
	r.Cancelled = true
	assert.Contains(t, Explain(r), "The run was stopped before its end.")
	assert.Equal(t, "Nothing was played.", Explain(Report{}))
	assert.Equal(t, NothingPlayed, Judge(r, "random").Rule)
}

func TestTwoPercentagesAreTold(t *testing.T) {
	cases := []struct {
		a, b         float64
		wantA, wantB string
	}{
		{33, 100.0 / 3, "33%", "33.3%"}, {33.3, 100.0 / 3, "33.3%", "33.33%"}, {0, 50, "0%", "50%"}, {25, 25, "25%", "25%"},
	}
	for _, c := range cases {
		a, b := apart(c.a, c.b)
		assert.Equal(t, []string{c.wantA, c.wantB}, []string{figure(AsPercent, a), figure(AsPercent, b)})
	}
}

func TestALatencyHasThreeDigitsAndAUnit(t *testing.T) {
	for ms, want := range map[float64]string{
		0: "0 ms", 0.0123: "0.0123 ms", 2: "2 ms", 46.34: "46.3 ms", 265: "265 ms", 1000: "1 s", 9026.1: "9.03 s", 75_000: "1.25 min", 999.4: "999 ms",
	} {
		assert.Equal(t, want, milliseconds(ms))
	}
}

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// Every number that is named stands in the report, or follows from it by the rule
// stated here once more.
func TestAnExplanationNamesNoNumberThatIsNotInTheReport(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := report(t, anyScenario(t))
		known := knownNumbers(r)
		for _, result := range r.Results {
			text := Judge(r, result.Algorithm).Text
			require.NotEmpty(t, text)
			require.Less(t, len(text), 500, text)
			require.True(t, strings.HasSuffix(text, "."), text)
			bare := strings.NewReplacer("p2c", "", "p99", "", "99% of requests within", "").Replace(text)
			for _, n := range number.FindAllString(bare, -1) {
				require.True(t, known[n], "%s in %q", n, text)
			}
		}
	})
}

// anyScenario has up to five backends without digits in their names, and most
// mechanisms on or off.
func anyScenario(t *rapid.T) scenario.Scenario {
	s := scenario.Default()
	s.Backends = nil
	for i := range rapid.IntRange(1, 5).Draw(t, "backends") {
		text := string(rune('a'+i)) + "=" + strconv.Itoa(rapid.IntRange(1, 100).Draw(t, "mean"))
		if rapid.IntRange(0, 2).Draw(t, "failing") == 0 {
			text += ",errors=" + rapid.SampledFrom([]string{"0.01", "0.3", "1"}).Draw(t, "errors")
		}
		text += rapid.SampledFrom([]string{"", "", "", "", ",crash_at=2", ",stall_at=1,stall_for=3,recover_at=2.5", ",slow_after=0.7,slow_factor=12.5",
			",health=process,errors_after=1.5", ",hang_at=4,recover_at=9", ",queue=3", ",error_ms=0.5", ",drain_at=3"}).Draw(t, "fault")
		s.Backends = append(s.Backends, backends(t, text)...)
	}
	s.Algorithms = []string{"round_robin", "least_conn", "p2c", "peak_ewma", "random"}
	s.Rate, s.Requests = rapid.Float64Range(1, 1000).Draw(t, "rate"), rapid.IntRange(1, 400).Draw(t, "requests")
	s.Seed = rapid.Uint64().Draw(t, "seed")
	s.Consecutive5xx = rapid.SampledFrom([]int{0, 1, 5}).Draw(t, "consecutive")
	s.MaxEjectionPercent = rapid.SampledFrom([]float64{10, 33, 33.3, 50, 100}).Draw(t, "cap")
	s.MaxInflight = rapid.SampledFrom([]int{0, 0, 1, 10}).Draw(t, "limit")
	s.ClientTimeout, s.ClientRetries = time.Second, rapid.IntRange(0, 2).Draw(t, "client retries")
	s.CheckInterval = time.Duration(rapid.IntRange(0, 1).Draw(t, "checks")) * time.Second
	s.Retries, s.BudgetPercent = rapid.IntRange(0, 3).Draw(t, "retries"), 1000
	s.RetryOn, s.PerTryTimeout = []string{"5xx", "timeout"}, time.Duration(rapid.IntRange(0, 2).Draw(t, "timeout"))*50*time.Millisecond
	return s
}

// knownNumbers is every number that a report has, as an explanation writes it.
func knownNumbers(r Report) map[string]bool {
	known := map[string]bool{"1": true, "99": true} // under 1%, over 99%
	add := func(texts ...string) {
		for _, text := range texts {
			for _, n := range number.FindAllString(text, -1) {
				known[n] = true
			}
		}
	}
	s, pool := r.Scenario, 0.0
	for _, b := range s.Backends {
		pool += float64(b.Capacity) / (b.Mean / 1000)
		add(threeDigits(float64(b.Capacity)/(b.Mean/1000)), milliseconds(b.Mean), milliseconds(b.ErrorMS), percent(b.Errors))
		add(threeDigits(b.SlowFactor))
		for _, d := range []time.Duration{b.CrashAt, b.HangAt, b.StallAt, b.StallAt + b.StallFor, b.SlowAfter, b.ErrorsAfter, b.RecoverAt} {
			add(threeDigits(d.Seconds()))
		}
	}
	n := float64(len(s.Backends))
	add(strconv.Itoa(len(s.Backends)), threeDigits(s.Rate), threeDigits(pool), strconv.FormatFloat(s.MaxEjectionPercent, 'g', -1, 64),
		strconv.FormatFloat(100/n, 'f', 1, 64), strconv.FormatFloat(100/n, 'f', 2, 64), strconv.FormatFloat(100/n, 'f', 0, 64))
	for _, result := range r.Results {
		add(knownOf(r, result, pool)...)
	}
	return known
}

func percent(share float64) string { return figure(AsShare, share) }

func knownOf(r Report, result Result, pool float64) []string {
	perRequest := result.Amplification
	texts := []string{strconv.Itoa(result.Requests), strconv.Itoa(result.Errors + result.Dropped), strconv.Itoa(result.Dropped), strconv.Itoa(result.Ejections),
		strconv.Itoa(result.EjectionsRefused), milliseconds(result.Latency.P99), digits(perRequest, 2),
		threeDigits(r.Scenario.Rate * perRequest), percent(r.Scenario.Rate * perRequest / pool)}
	for i, b := range r.Scenario.Backends {
		share := result.Share[i].Fraction
		gets, can := share*(r.Scenario.Rate*perRequest), float64(b.Capacity)*1000/b.Mean
		if d := result.Backends[i].Detection; d != nil {
			texts = append(texts, threeDigits(*d))
		}
		texts = append(texts, percent(share), threeDigits(gets), threeDigits(can), percent(gets/can))
	}
	return texts
}
