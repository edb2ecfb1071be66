package sim

import (
	"cmp"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/scenario"
)

func TestTheSameScenarioGivesTheSameBytes(t *testing.T) {
	for _, s := range []scenario.Scenario{scenario.Default(), guarded(t, 3000)} {
		first, err := RunJSON(s)
		require.NoError(t, err)
		again, err := RunJSON(s)
		require.NoError(t, err)
		assert.Equal(t, string(first), string(again))
		s.Seed++
		other, err := RunJSON(s)
		require.NoError(t, err)
		assert.NotEqual(t, string(first), string(other), "another seed")
	}
}

func TestAPolicyDoesNotDependOnWhichOthersRun(t *testing.T) {
	s := guarded(t, 2000)
	s.Algorithms = pick.Names()
	all, err := Run(s, Options{})
	require.NoError(t, err)
	for i, name := range s.Algorithms {
		s.Algorithms = []string{name}
		alone, err := Run(s, Options{})
		require.NoError(t, err)
		assert.Equal(t, all.Results[i], alone.Results[0])
	}
}

// With one backend there is nothing to choose, so policies can differ only in
// what chance gave them.
func TestAllPoliciesSeeTheSameArrivalsServiceTimesAndErrors(t *testing.T) {
	s := one(t, "round_robin", "a=20,errors=0.2")
	s.Algorithms = pick.Names()
	r, err := Run(s, Options{Series: true})
	require.NoError(t, err)
	want := r.Results[0]
	assert.Positive(t, want.Errors)
	for _, got := range r.Results {
		got.Algorithm = want.Algorithm
		assert.Equal(t, want.Latency, got.Latency)
		assert.Equal(t, want.Errors, got.Errors)
		assert.Equal(t, want.Series.Answered, got.Series.Answered)
	}
}

func TestARunCanBeCancelled(t *testing.T) {
	var told []float64
	s := steady(t, 100_000)
	s.Algorithms = []string{"p2c", "random"}
	r, err := Run(s, Options{Series: true, Progress: func(done float64) bool {
		told = append(told, done)
		return done < 0.6
	}})
	require.NoError(t, err)
	assert.True(t, r.Cancelled)
	assert.Contains(t, string(r.JSON()), `"truncated": "stopped before the end"`)
	require.Len(t, r.Results, 2)
	assert.Equal(t, 100_000, r.Results[0].Requests)
	assertWithin(t, 20_000, float64(r.Results[1].Requests), 0.2, "requests answered by then")
	assert.IsNonDecreasing(t, told)
}

func TestProgressReachesTheEnd(t *testing.T) {
	last := 0.0
	r, err := Run(steady(t, 50_000), Options{Progress: func(done float64) bool { last = done; return true }})
	require.NoError(t, err)
	assert.False(t, r.Cancelled)
	assert.InDelta(t, 1, last, 0.1)
}

func TestARunThatWouldNotEndIsEndedWithTheReason(t *testing.T) {
	overload := one(t, "random", "a=1000,capacity=1")
	overload.Rate, overload.Requests = 10_000, 100_000
	probing := steady(t, 1000)
	probing.Rate, probing.CheckInterval = 0.001, time.Millisecond
	probed := one(t, "random", "a=1000,capacity=1")
	probed.Rate, probed.CheckInterval = 0.001, time.Millisecond
	cases := map[string]struct {
		s     scenario.Scenario
		limit limits
		want  string
	}{
		"in flight": {overload, limits{time: 1e18, inFlight: 1000, ticks: 1e9}, "more than 1000 requests in flight"},
		"probes":    {probed, limits{time: 1e18, inFlight: 1000, ticks: 1e9}, "more than 1000 attempts and probes at the backends"},
		"time":      {overload, limits{time: 3e8, inFlight: 1e9, ticks: 1e9}, "longer than"},
		"ticks":     {probing, limits{time: 1e18, inFlight: 1e9, ticks: 1e4}, "more than 10000 probes"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e, err := newEngine(c.s, c.s.Algorithms[0], Options{})
			require.NoError(t, err)
			e.limits = c.limit
			assert.ErrorContains(t, e.run(), c.want)
		})
	}
}

// A limit never hides what had been done, nor that it was not all.
func TestWhatALimitEndsComesWithItsResultsAndTheReason(t *testing.T) {
	s := steady(t, 50_000)
	o := Options{limits: &limits{time: 100e9, inFlight: 1e9, ticks: 1e9}}
	var limit *Limit
	r, err := Run(s, o)
	require.ErrorAs(t, err, &limit)
	require.Len(t, r.Results, 1)
	assert.InDelta(t, 30_000, r.Results[0].Requests, 6000, "a hundred seconds of 300/s, and up to 8192 steps more")
	assert.Regexp(t, `^p2c ended at t=\S+, after \d+ of 50000 requests: longer than`, r.Truncated)
	assert.Contains(t, string(r.JSON()), `"truncated": "p2c ended at `)

	study, err := Seeds(s, 3, o)
	require.ErrorAs(t, err, &limit)
	assert.Zero(t, study.Seeds, "half a run is no seed")
	assert.Contains(t, string(study.JSON()), `"truncated": "p2c ended at `)

	w, err := ParseSweep("rate=250..1000:250")
	require.NoError(t, err)
	o.limits.inFlight, s.Requests = 1000, 20_000 // 533/s is all that they can do
	swept, err := w.Run(s, 1, o)
	require.ErrorAs(t, err, &limit)
	assert.ErrorContains(t, err, "at rate 750: p2c ended at ")
	assert.Len(t, swept.Points, 2, "the values before it are whole")
	assert.Contains(t, string(swept.JSON()), `"truncated": "at rate 750: p2c ended at `)

	s.Duration = time.Hour
	_, err = Run(s, o)
	assert.ErrorContains(t, err, " requests of 1h0m0s: longer than", "how many there will be is not known")
	whole, err := Run(brief(), Options{})
	require.NoError(t, err)
	assert.NotContains(t, string(whole.JSON()), "truncated")
}

func TestAnUnplayableScenarioIsRefusedByName(t *testing.T) {
	cases := map[string]func(*scenario.Scenario){
		"rate":      func(s *scenario.Scenario) { s.Rate = 0 },
		"requests":  func(s *scenario.Scenario) { s.Requests = -1 },
		"algorithm": func(s *scenario.Scenario) { s.Algorithms = []string{"fastest"} },
		"backend":   func(s *scenario.Scenario) { s.Backends = nil },
		"capacity":  func(s *scenario.Scenario) { s.Backends[0].Capacity = 0 },
		"retry-on":  func(s *scenario.Scenario) { s.RetryOn = []string{"luck"} },
	}
	for name, spoil := range cases {
		s := scenario.Default()
		spoil(&s)
		_, err := Run(s, Options{})
		assert.ErrorContains(t, err, name)
	}
}

// Ten million requests of the default scenario leave two thirds of a million in round_robin's queue.
// With these they fit into 100 MB; whatever a request needs beyond is in slabs that only fill when it does.
func TestARequestInAQueueIsSmall(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(request{}), uintptr(40))
	assert.LessOrEqual(t, unsafe.Sizeof(job{}), uintptr(48))
	e, _ := play(t, steady(t, 1000), Options{})
	assert.Zero(t, len(e.lives.chunks)+len(e.extras.chunks)+len(e.hashes.chunks))
}

func TestMemoryIsForRequestsInFlightOnly(t *testing.T) {
	e, _ := play(t, steady(t, 100_000), Options{})
	assert.Less(t, int(e.requests.used), 500)
	assert.Less(t, cap(e.events.events), 500)
}

func TestAnEventAllocatesNothing(t *testing.T) {
	allocations := func(requests int) float64 {
		s := steady(t, requests)
		s.CheckInterval, s.Consecutive5xx, s.PerTryTimeout = 100*time.Millisecond, 5, 2*time.Second
		return testing.AllocsPerRun(1, func() { play(t, s, Options{}) })
	}
	few, many := allocations(10_000), allocations(100_000)
	assert.InDelta(t, few, many, 60, "what ten times the requests allocate more: queues that grew")
}

// drawScenario makes up a small scenario that uses everything at once.
func drawScenario(t *rapid.T) scenario.Scenario {
	s := one(t, rapid.SampledFrom(pick.Names()).Draw(t, "algorithm"), "a=20,capacity=2", "b=5,errors=0.3", "c=60,capacity=1,weight=3")
	s.Backends = s.Backends[:rapid.IntRange(1, 3).Draw(t, "backends")]
	s.Seed, s.Requests = rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 400).Draw(t, "requests")
	s.Rate = rapid.SampledFrom([]float64{1, 50, 150, 1000}).Draw(t, "rate")
	some := func(name string, values ...time.Duration) time.Duration {
		return rapid.SampledFrom(append(values, 0)).Draw(t, name)
	}
	s.CheckInterval = some("check-interval", 50*time.Millisecond, time.Second)
	s.CheckTimeout = max(time.Millisecond, some("check-timeout", 50*time.Millisecond))
	s.Consecutive5xx, s.BaseEjection = rapid.IntRange(0, 3).Draw(t, "consecutive-5xx"), 200*time.Millisecond
	s.Retries, s.RetryOn = rapid.IntRange(0, 3).Draw(t, "retries"), []string{"5xx", "timeout"}
	s.PerTryTimeout = some("per-try-timeout", 30*time.Millisecond)
	s.Backoff, s.BudgetWait = some("backoff", 10*time.Millisecond), some("budget-wait", 20*time.Millisecond)
	s.MinRetryConcurrency = rapid.IntRange(0, 2).Draw(t, "min-retry-concurrency")
	s.MaxInflight, s.Queue = rapid.IntRange(0, 3).Draw(t, "max-inflight"), rapid.IntRange(0, 20).Draw(t, "queue")
	s.QueueTimeout, s.SlowStart = some("queue-timeout", 50*time.Millisecond), some("slow-start", time.Second)
	return s
}

// drawWild adds to it whatever else a scenario can say.
func drawWild(t *rapid.T, s scenario.Scenario) scenario.Scenario {
	at := func(name string) time.Duration {
		return rapid.SampledFrom([]time.Duration{0, 0, 100 * time.Millisecond, 300 * time.Millisecond, time.Second}).Draw(t, name)
	}
	for i := range s.Backends {
		b := &s.Backends[i]
		b.Service = rapid.SampledFrom([]string{"exponential", "constant", "lognormal", "pareto", "bimodal"}).Draw(t, "service")
		b.Order, b.Health = rapid.SampledFrom([]string{"fifo", "lifo"}).Draw(t, "order"), rapid.SampledFrom([]string{"honest", "process", "shared", "flag"}).Draw(t, "health")
		b.Parts.Queue = rapid.IntRange(0, 4).Draw(t, "queue")
		b.ErrorMS, b.ErrorsAfter, b.SlowAfter, b.SlowFactor = rapid.SampledFrom([]float64{0, 1}).Draw(t, "error-ms"), at("errors"), at("slow"), 5
		b.CrashAt, b.HangAt, b.StallAt, b.StallFor = at("crash"), at("hang"), at("stall"), 200*time.Millisecond
		b.AddAt = at("add")
		if d := at("drain"); d > 0 {
			b.DrainAt, b.DrainFor = b.AddAt+d, at("drain for")
		}
		if rapid.Bool().Draw(t, "recovers") {
			b.RecoverAt = 1500 * time.Millisecond
		}
		b.ColdFor = at("cold")
	}
	s.PostShare, s.KeysZipf = rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "posts"), rapid.SampledFrom([]float64{0, 1, 1.2}).Draw(t, "zipf")
	s.Arrivals = rapid.SampledFrom([]string{"poisson", "constant", "bursty", "ramp", "step", "daily", "closed"}).Draw(t, "arrivals")
	s.ClientCount, s.Think = rapid.IntRange(1, 20).Draw(t, "clients"), at("think")
	s.ClientTimeout, s.ClientBackoff = at("client timeout"), at("client backoff")
	if s.CheckInterval > 0 {
		// Probes that come faster than they are served would keep those at the bottom of a stack there for ever.
		s.ClientTimeout = max(s.ClientTimeout, time.Millisecond)
	}
	s.ClientRetries, s.Abandon = rapid.IntRange(0, 3).Draw(t, "client retries"), rapid.SampledFrom([]string{"serve", "cancel"}).Draw(t, "abandon")
	s.BalancerCount, s.Stale = rapid.IntRange(1, 4).Draw(t, "balancers"), at("stale")
	s.Layer, s.RequestsPerConnection = rapid.SampledFrom([]string{"l7", "l7", "l4"}).Draw(t, "layer"), rapid.IntRange(1, 9).Draw(t, "per connection")
	s.KeepaliveLifetime = at("lifetime")
	s.Users, s.StickyShare = rapid.IntRange(1, 30).Draw(t, "users"), rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "sticky")
	s.ProbeLoss, s.DependencyShare = rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "loss"), 0.5
	if rapid.Bool().Draw(t, "outages") {
		s.DependencyDown = scenario.Window{From: 200 * time.Millisecond, To: 400 * time.Millisecond}
		s.BalancerDown = scenario.Window{From: at("balancer down"), To: 1100 * time.Millisecond}
	}
	if s.Duration = at("duration"); s.Duration > 0 && s.Arrivals == "closed" {
		s.Think += time.Millisecond
	}
	return s
}

func TestNothingIsLostHoweverWildTheScenario(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawWild(t, drawScenario(t))
		require.NoError(t, s.Check())
		first, r := play(t, s, Options{Series: true, Events: true})
		require.LessOrEqual(t, r.Attempts, r.Requests*(1+s.Retries)+r.Unanswered*(1+s.Retries))
		attempts := 0
		for i, b := range r.Backends {
			attempts += b.Attempts
			require.Equal(t, s.Backends[i].Name, b.Backend)
			if limit := s.Backends[i].Parts.Queue; limit > 0 {
				require.LessOrEqual(t, b.QueueMax, limit)
			}
		}
		require.Equal(t, r.Attempts, attempts)
		for slot := range first.record.backends {
			held := first.record.backends[slot].inFlight
			require.GreaterOrEqual(t, held, 0)
			require.LessOrEqual(t, held, r.Unanswered)
		}
		require.Zero(t, first.record.clientRetries-r.ClientRetries)
		_, again := play(t, s, Options{Series: true, Events: true})
		require.Equal(t, Report{Results: []Result{r}}.JSON(), Report{Results: []Result{again}}.JSON())
	})
}

func TestNothingIsLostWhateverTheScenario(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		_, r := play(t, s, Options{Series: true, Events: true})
		answered, errors, dropped := 0, 0, 0
		for i := range r.Series.Start {
			answered += r.Series.Answered[i]
			errors += r.Series.Errors[i]
			dropped += r.Series.Dropped[i]
		}
		require.Equal(t, [3]int{r.Completed, r.Errors, r.Dropped}, [3]int{answered, errors, dropped})
		require.LessOrEqual(t, r.Attempts, r.Requests*(1+s.Retries))
		require.True(t, slices.IsSortedFunc(r.Events, func(a, b lb.Event) int { return cmp.Compare(a.At, b.At) }))
	})
}
