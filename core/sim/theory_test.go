//go:build !race

package sim

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
	"minilb/core/scenario"
	"minilb/core/stat"
)

// The whole table takes minutes and is what `make theory` runs; without the
// flag a few cases run with fewer requests.
var wholeTheory = flag.Bool("theory", false, "compare the simulator with queueing theory at full length")

// A theoryCase is a scenario whose figures are known without simulating it.
// Where mean service times are one second, figures are in service times.
type theoryCase struct {
	name     string
	policy   string
	backends string   // what follows the name of each
	n        int      // how many backends
	load     float64  // share of all workers' time that is asked for; 0: params name a rate
	params   []string // NAME=VALUE, as one types them
	requests int      // per seed, after a warm-up of a tenth; 0: params say how long
	short    int      // the same without the flag; 0: not run then
	seeds    int      // 0: ten
	figures  func(t *testing.T, s scenario.Scenario) map[string]float64
	checks   []theoryCheck
}

// A theoryCheck is one figure and what theory says of it.
type theoryCheck struct {
	figure   string
	relation string // "=", "<" or ">"
	want     float64
	within   float64 // share of want by which the reference or the percentiles are uncertain
}

func is(figure string, want, within float64) theoryCheck {
	return theoryCheck{figure, "=", want, within}
}

func below(figure string, want float64) theoryCheck { return theoryCheck{figure, "<", want, 0} }
func above(figure string, want float64) theoryCheck { return theoryCheck{figure, ">", want, 0} }

// judge says how a 95% interval agrees with theory. One in twenty misses the truth, and
// there are dozens: a miss by less than the interval's width is "near", and
// accepted.
func (c theoryCheck) judge(low, high float64) string {
	slack, half := c.want*c.within, (high-low)/2
	holds := func(more float64) bool { return low-slack-more <= c.want && c.want <= high+slack+more }
	switch {
	case c.relation == "<" && high < c.want, c.relation == ">" && low > c.want, c.relation == "=" && holds(0):
		return "ok"
	case c.relation == "=" && holds(half):
		return "near"
	}
	return "NO"
}

// TestTheory plays every case with several seeds and prints what it found.
func TestTheory(t *testing.T) {
	if *wholeTheory {
		fmt.Println(theoryRow("case", "policy", "load", "figure", "theory", "measured", "95% interval", ""))
	}
	for i, c := range theoryCases {
		if c.seeds == 0 {
			c.seeds = 10
		}
		if !*wholeTheory {
			c.requests, c.seeds = c.short, min(c.seeds, 8)
		}
		if *wholeTheory || c.short > 0 {
			t.Run(fmt.Sprintf("%s %s %g", c.name, c.policy, c.load), func(t *testing.T) { c.test(t, uint64(1000*i)) })
		}
	}
}

// test plays seeds that no other case plays: on the same ones a chance that
// strikes one case would strike all.
func (c theoryCase) test(t *testing.T, seed uint64) {
	s := c.scenario(t)
	sums := map[string]*stat.Welford{}
	for range c.seeds {
		seed++
		s.Seed = seed
		for figure, value := range c.figures(t, s) {
			if sums[figure] == nil {
				sums[figure] = new(stat.Welford)
			}
			sums[figure].Add(value)
		}
	}
	for _, check := range c.checks {
		if !*wholeTheory {
			check.within += shortWithin
		}
		require.NotNil(t, sums[check.figure], check.figure)
		c.compare(t, check, sums[check.figure])
	}
}

// shortWithin is what a short run is allowed beyond its interval: eight seeds know
// little of how much seeds differ, and a test of every commit must not cry wolf.
const shortWithin = 0.03

func (c theoryCase) scenario(t *testing.T) scenario.Scenario {
	s := scenario.Default()
	s.Algorithms, s.Backends = []string{c.policy}, nil
	workers := 0
	for i := range c.n {
		b := backends(t, "b"+strconv.Itoa(i)+c.backends)[0]
		s.Backends = append(s.Backends, b)
		workers += b.Capacity
	}
	if c.load > 0 {
		s.Rate = c.load * float64(workers) * 1000 / s.Backends[0].Mean
	}
	if c.requests > 0 {
		s.Requests = c.requests + c.requests/10
		s.Warmup = time.Duration(float64(c.requests/10) / s.Rate * 1e9)
	}
	set := s.Params()
	for _, param := range c.params {
		name, text, _ := strings.Cut(param, "=")
		p := set.Lookup(name)
		require.NotNil(t, p, name)
		require.NoError(t, p.Set(text))
	}
	require.NoError(t, s.Check())
	return s
}

func (c theoryCase) compare(t *testing.T, check theoryCheck, sum *stat.Welford) {
	low, high := sum.Interval95()
	agrees := check.judge(low, high)
	assert.NotEqual(t, "NO", agrees, "%s of %s: %s %g, measured %g to %g", check.figure, c.name, check.relation, check.want, low, high)
	widest := 0.3
	if *wholeTheory {
		widest = 0.05
		fmt.Println(theoryRow(c.name, c.policy, strconv.FormatFloat(c.load, 'g', -1, 64), check.figure,
			strings.TrimPrefix(check.relation+" ", "= ")+strconv.FormatFloat(check.want, 'g', 6, 64),
			fmt.Sprintf("%.4f", sum.Mean()), fmt.Sprintf("%.4f to %.4f", low, high), agrees))
	}
	if check.relation == "=" {
		assert.LessOrEqual(t, (high-low)/2, widest*check.want, "%s of %s: the interval says too little", check.figure, c.name)
	}
}

func theoryRow(cells ...string) string {
	var b strings.Builder
	for i, width := range [...]int{30, 12, 5, 27, 8, 10, 21, 4} {
		fmt.Fprintf(&b, "%-*s ", width, cells[i])
	}
	return strings.TrimRight(b.String(), " ")
}

// What is measured. Times are in service times of one second.
const (
	theMeanTime  = "mean time in system"
	theMeanWait  = "mean wait"
	theWaits     = "probability of waiting"
	theP99Time   = "p99 of time in system"
	theLost      = "share of requests lost"
	theLastShare = "share of the last backend"
	theGoodput   = "share of requests answered"
	theAmplified = "attempts per request"
	theRecovery  = "s from the stall to recovery"
	theDetection = "s to detection"
)

// only plays a scenario's one policy.
func only(t *testing.T, s scenario.Scenario) Result {
	r, err := Run(s, Options{})
	require.NoError(t, err)
	return r.Results[0]
}

func steadyState(t *testing.T, s scenario.Scenario) map[string]float64 {
	r := only(t, s)
	mean := r.Latency.Mean / 1000
	return map[string]float64{
		theMeanTime: mean, theMeanWait: mean - 1, theP99Time: r.Latency.P99 / 1000,
		theLost:      float64(r.Dropped) / float64(r.Requests),
		theLastShare: r.Share[len(r.Share)-1].Fraction,
	}
}

// aftermath is what a stall leaves when the warm-up is over.
func aftermath(t *testing.T, s scenario.Scenario) map[string]float64 {
	r := only(t, s)
	return map[string]float64{
		theGoodput:   float64(r.Completed-r.Errors) / (s.Rate * (s.Duration - s.Warmup).Seconds()),
		theAmplified: r.Amplification,
	}
}

// recovering is how long after the stall's end the last second comes in which one request in
// twenty fails.
func recovering(t *testing.T, s scenario.Scenario) map[string]float64 {
	r, err := Run(s, Options{Series: true})
	require.NoError(t, err)
	series := r.Results[0].Series
	last := 0.0
	for i, start := range series.Start {
		if 20*series.Errors[i] > series.Answered[i] {
			last = start + series.Resolution.Seconds()
		}
	}
	b := s.Backends[0]
	return map[string]float64{theRecovery: last - (b.StallAt + b.StallFor).Seconds()}
}

// detecting is how long the first backend went on getting requests after its fault.
func detecting(t *testing.T, s scenario.Scenario) map[string]float64 {
	found := only(t, s).Backends[0].Detection
	require.NotNil(t, found)
	return map[string]float64{theDetection: *found}
}

// busyness counts the arrivals that find every worker of the one backend busy, which no
// report has.
func busyness(t *testing.T, s scenario.Scenario) map[string]float64 {
	e, err := newEngine(s, s.Algorithms[0], Options{})
	require.NoError(t, err)
	arrived, waited := 0, 0
	for !e.complete() {
		if at := e.arrivals.next; at != lb.Never && at < min(e.events.next(), e.tick) {
			arrived++
			if e.servers[0].busy == e.servers[0].capacity {
				waited++
			}
		}
		e.step()
	}
	return map[string]float64{theWaits: float64(waited) / float64(arrived)}
}

// single is a backend with one worker; plant is what the experiments with a
// stall have in common.
const (
	single = "=1000,capacity=1"
	plant  = "=100,capacity=30,stall_at=20,stall_for=10"
)

const million = 1_000_000

var theoryCases = []theoryCase{
	// Erlang's formulas.
	{name: "M/M/1", policy: "first", backends: single, n: 1, load: 0.9, requests: 5 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanWait, 9, 0.002), is(theP99Time, 46.05, 0.006)}},
	{name: "M/M/1", policy: "first", backends: single, n: 1, load: 0.9, requests: million, figures: busyness,
		checks: []theoryCheck{is(theWaits, 0.9, 0.001)}},
	{name: "M/M/4", policy: "first", backends: "=1000,capacity=4", n: 1, load: 0.8, requests: 2 * million, short: 60_000, figures: steadyState,
		checks: []theoryCheck{is(theMeanWait, 0.7455, 0.002), is(theP99Time, 6.893, 0.006)}},
	{name: "M/M/4", policy: "first", backends: "=1000,capacity=4", n: 1, load: 0.8, requests: million, short: 60_000, figures: busyness,
		checks: []theoryCheck{is(theWaits, 0.5964, 0.001)}},
	{name: "M/M/8", policy: "first", backends: "=1000,capacity=8", n: 1, load: 0.9, requests: 4 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanWait, 0.8769, 0.002), is(theP99Time, 7.087, 0.006)}},
	{name: "M/M/8", policy: "first", backends: "=1000,capacity=8", n: 1, load: 0.9, requests: million, figures: busyness,
		checks: []theoryCheck{is(theWaits, 0.7015, 0.001)}},
	{name: "M/M/4/4, no queue", policy: "first", backends: "=1000,capacity=4", n: 1, load: 1, params: []string{"max-inflight=4"},
		requests: million, short: 40_000, figures: steadyState, checks: []theoryCheck{is(theLost, 0.31068, 0.001)}},

	// Pollaczek and Khinchine: the wait grows with the variance of service.
	{name: "M/G/1, constant", policy: "first", backends: single + ",service=constant", n: 1, load: 0.9, requests: 2 * million, short: 200_000,
		figures: steadyState, checks: []theoryCheck{is(theMeanWait, 4.5, 0.002)}},
	{name: "M/G/1, lognormal of cv 2", policy: "first", backends: single + ",service=lognormal,cv=2", n: 1, load: 0.9, requests: 8 * million,
		figures: steadyState, checks: []theoryCheck{is(theMeanWait, 22.5, 0.002)}},
	{name: "M/G/1, bimodal of cv 2", policy: "first", backends: single + ",service=bimodal,cv=2", n: 1, load: 0.9, requests: 5 * million,
		figures: steadyState, checks: []theoryCheck{is(theMeanWait, 22.5, 0.002)}},

	// Turns: each backend is an Erlang-n/M/1 queue.
	{name: "turns", policy: "round_robin", backends: single, n: 2, load: 0.9, requests: 3 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 7.588, 0.002)}},
	{name: "turns", policy: "round_robin", backends: single, n: 10, load: 0.9, requests: 3 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 5.660, 0.002)}},

	// The shorter of two queues; two choices of two are the same.
	{name: "shortest queue of 2", policy: "least_conn", backends: single, n: 2, load: 0.5, requests: million, short: 40_000, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 1.4263, 0.0005)}},
	{name: "shortest queue of 2", policy: "least_conn", backends: single, n: 2, load: 0.9, requests: 3 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 5.4749, 0.002)}},
	{name: "two choices of 2", policy: "p2c", backends: single, n: 2, load: 0.5, requests: million, short: 40_000, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 1.4263, 0.0005)}},
	{name: "two choices of 2", policy: "p2c", backends: single, n: 2, load: 0.9, requests: 3 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 5.4749, 0.002)}},

	// Two choices of a hundred single servers (Mitzenmacher; finite, without replacement).
	{name: "two choices of 100", policy: "p2c", backends: single, n: 100, load: 0.5, requests: million, short: 40_000, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 1.2667, 0.0008)}},
	{name: "two choices of 100", policy: "p2c", backends: single, n: 100, load: 0.7, requests: 2 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 1.620, 0.0015)}},
	{name: "two choices of 100", policy: "p2c", backends: single, n: 100, load: 0.9, requests: 3 * million, short: 60_000, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 2.636, 0.003)}},
	{name: "two choices of 100", policy: "p2c", backends: single, n: 100, load: 0.95, requests: 5 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 3.463, 0.003)}},
	{name: "three choices of 100", policy: "p2c", backends: single, n: 100, load: 0.9, params: []string{"choices=3"}, requests: million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 2.062, 0.003)}},
	{name: "shortest queue of 100", policy: "least_conn", backends: single, n: 100, load: 0.9, requests: million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 1.07, 0.005)}},

	// Counts that are stale, or one balancer's own.
	{name: "counts refreshed every 1 s", policy: "p2c", backends: single, n: 100, load: 0.9, params: []string{"stale=1"}, requests: million / 2, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 2.95, 0.05)}},
	{name: "counts refreshed every 5 s", policy: "p2c", backends: single, n: 100, load: 0.9, params: []string{"stale=5"}, requests: million / 2, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 3.98, 0.05)}},
	{name: "counts refreshed every 1 s", policy: "least_conn", backends: single, n: 100, load: 0.9, params: []string{"stale=1"}, requests: million / 4, figures: steadyState,
		checks: []theoryCheck{above(theMeanTime, 2.95)}},
	{name: "counts refreshed every 5 s", policy: "least_conn", backends: single, n: 100, load: 0.9, params: []string{"stale=5"}, requests: million / 4, figures: steadyState,
		checks: []theoryCheck{above(theMeanTime, 2.5*3.98)}},
	{name: "10 balancers", policy: "p2c", backends: single, n: 100, load: 0.9, params: []string{"balancers=10"}, requests: million / 2, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 4.20, 0.05)}},
	{name: "10 balancers", policy: "least_conn", backends: single, n: 100, load: 0.9, params: []string{"balancers=10"}, requests: million / 2, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 3.65, 0.05)}},
	{name: "50 balancers", policy: "p2c", backends: single, n: 100, load: 0.9, params: []string{"balancers=50"}, requests: million / 2, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 6.16, 0.05)}},
	{name: "50 balancers", policy: "least_conn", backends: single, n: 100, load: 0.9, params: []string{"balancers=50"}, requests: million / 2, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 6.19, 0.05)}},

	// The incident: who fails fast attracts.
	{name: "a backend fails fast", policy: "round_robin", params: incident, requests: 50_000, figures: steadyState,
		checks: []theoryCheck{is(theLastShare, 1.0/3, 0.001)}},
	{name: "a backend fails fast", policy: "p2c", params: incident, requests: 50_000, figures: steadyState,
		checks: []theoryCheck{is(theLastShare, 0.50, 0.02)}},
	{name: "a backend fails fast", policy: "least_conn", params: incident, requests: 50_000, short: 5000, figures: steadyState,
		checks: []theoryCheck{is(theLastShare, 0.56, 0.02)}},
	{name: "it is ejected", policy: "round_robin", params: ejecting, requests: 50_000, figures: steadyState, checks: []theoryCheck{below(theLastShare, 0.01)}},
	{name: "it is ejected", policy: "p2c", params: ejecting, requests: 50_000, figures: steadyState, checks: []theoryCheck{below(theLastShare, 0.01)}},
	{name: "it is ejected", policy: "least_conn", params: ejecting, requests: 50_000, short: 5000, figures: steadyState, checks: []theoryCheck{below(theLastShare, 0.01)}},

	// A stall of ten seconds: what recovers, and what its own retries keep down.
	{name: "stall, no retry, 280/s", policy: "first", backends: plant, n: 1, params: stalling("280", "0", "240", "0"), seeds: 60, figures: recovering,
		checks: []theoryCheck{is(theRecovery, 130, 0.1)}},
	{name: "stall, one retry, 160/s", policy: "first", backends: plant, n: 1, params: stalling("160", "1", "400", "300"), short: 1, figures: aftermath,
		checks: []theoryCheck{below(theGoodput, 0.01), is(theAmplified, 2, 0.01)}},
	{name: "stall, one retry, 200/s", policy: "first", backends: plant, n: 1, params: stalling("200", "1", "400", "300"), figures: aftermath,
		checks: []theoryCheck{below(theGoodput, 0.01), is(theAmplified, 2, 0.01)}},
	{name: "stall, one retry, 140/s", policy: "first", backends: plant, n: 1, params: stalling("140", "1", "400", "300"), figures: aftermath,
		checks: []theoryCheck{above(theGoodput, 0.98), is(theAmplified, 1, 0.01)}},
	{name: "the same, queue of 100, 200/s", policy: "first", backends: plant + ",queue=100", n: 1, params: stalling("200", "1", "240", "0"), figures: recovering,
		checks: []theoryCheck{below(theRecovery, 3)}},
	{name: "the same, LIFO, 240/s", policy: "first", backends: plant + ",order=lifo", n: 1, params: stalling("240", "1", "400", "300"), figures: aftermath,
		checks: []theoryCheck{above(theGoodput, 0.98)}},
	{name: "balancer's retries, 220/s", policy: "p2c", backends: "=100,capacity=10,stall_at=20,stall_for=10", n: 3, params: budgeted("220"), figures: aftermath,
		checks: []theoryCheck{above(theGoodput, 0.98)}},
	{name: "balancer's retries, 250/s", policy: "p2c", backends: "=100,capacity=10,stall_at=20,stall_for=10", n: 3, params: budgeted("250"), figures: aftermath,
		checks: []theoryCheck{below(theGoodput, 0.5), is(theAmplified, 1.25, 0.02)}},

	// Detection is uniform between fall-1 and fall intervals, and later by the timeout where probes hang.
	{name: "a crash, fall 3, interval 2 s", policy: "round_robin", params: checked("b=20,crash_at=20"), short: 1, seeds: 200, figures: detecting,
		checks: []theoryCheck{is(theDetection, 5, 0.005)}},
	{name: "a hang, timeout 0.5 s", policy: "round_robin", params: checked("b=20,hang_at=20"), seeds: 200, figures: detecting,
		checks: []theoryCheck{is(theDetection, 5.5, 0.005)}},
}

var (
	incident = []string{"backend=a=20", "backend=b=20", "backend=broken=2,errors=1", "rate=150"}
	ejecting = append(incident[:4:4], "consecutive-5xx=5", "max-ejection-percent=34")
)

// stalling is clients who wait a second and then send again at once.
func stalling(rate, retries, duration, warmup string) []string {
	return []string{"rate=" + rate, "client-timeout=1", "client-retries=" + retries, "duration=" + duration, "warmup=" + warmup, "resolution=1"}
}

// checked is a faulty backend beside a good one, both of them probed.
func checked(backend string) []string {
	return []string{"backend=" + backend, "backend=good=20,capacity=8", "rate=200", "duration=40", "client-timeout=2",
		"check-interval=2", "check-timeout=0.5", "check-jitter=1", "fall=3"}
}

// budgeted is a balancer that does so in their stead, within a budget.
func budgeted(rate string) []string {
	return []string{"rate=" + rate, "per-try-timeout=1", "retries=1", "retry-on=timeout", "budget-percent=20", "duration=400", "warmup=300"}
}
