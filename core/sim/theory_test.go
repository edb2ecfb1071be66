//go:build !race

package sim

import (
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
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
	few      int      // seeds without the flag; 0: eight
	figures  func(scenario.Scenario) (map[string]float64, error)
	checks   []theoryCheck
}

// TestTheory plays every case with several seeds and prints what it found.
func TestTheory(t *testing.T) {
	var all tally
	if *wholeTheory {
		fmt.Println(theoryRow("case", "policy", "load", "figure", "theory", "measured", "95% interval", "verdict"))
	}
	for i, c := range theoryCases {
		if !*wholeTheory {
			c.requests, c.seeds = c.short, orElse(c.few, 8)
		}
		if *wholeTheory || c.short > 0 {
			name := fmt.Sprintf("%d of %d: %s %s %g", i+1, len(theoryCases), c.name, c.policy, c.load)
			t.Run(name, func(t *testing.T) { c.test(t, uint64(1000*i), &all) })
		}
	}
	if *wholeTheory {
		fmt.Println(all)
	}
}

func orElse(n, other int) int {
	if n == 0 {
		return other
	}
	return n
}

// test plays seeds that no other case plays: on the same ones a chance that
// strikes one case would strike all.
func (c theoryCase) test(t *testing.T, seed uint64, all *tally) {
	samples := c.play(t, c.scenario(t), seed+1)
	for _, check := range c.checks {
		if !*wholeTheory {
			check.within += shortWithin
		}
		require.NotEmpty(t, samples[check.figure], check.figure)
		m := check.judge(samples[check.figure])
		all.count(m.verdict)
		assert.NotEqual(t, "NO", m.verdict, "%s of %s: %s, measured %s", check.figure, c.name, check, m)
		assert.False(t, check.saysLittle(m), "%s of %s: the interval %s says too little", check.figure, c.name, m)
		if *wholeTheory {
			load := strconv.FormatFloat(c.load, 'g', -1, 64)
			fmt.Println(theoryRow(c.name, c.policy, strings.TrimPrefix(load, "0"), check.figure, check.String(), m.value, m.interval(), m.verdict))
		}
	}
}

// play gives each figure of every seed, in the seeds' order. Seeds are played
// side by side on as many cores as GOMAXPROCS leaves.
func (c theoryCase) play(t *testing.T, s scenario.Scenario, seed uint64) map[string][]float64 {
	n := orElse(c.seeds, 10)
	found, faults := make([]map[string]float64, n), make([]error, n)
	var next atomic.Int64
	var players sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		players.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				s := s
				s.Seed = seed + uint64(i)
				found[i], faults[i] = c.figures(s)
			}
		})
	}
	players.Wait()
	samples := map[string][]float64{}
	for i := range found {
		require.NoError(t, faults[i])
		for figure, value := range found[i] {
			samples[figure] = append(samples[figure], value)
		}
	}
	return samples
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

// A tally counts verdicts.
type tally struct{ ok, allowed, near, no int }

func (a *tally) count(verdict string) {
	switch {
	case strings.HasPrefix(verdict, "ok by"):
		a.allowed++
	case verdict == "near":
		a.near++
	case verdict == "NO":
		a.no++
	default:
		a.ok++
	}
}

func (a tally) String() string {
	return fmt.Sprintf(`
%d rows: %d ok, %d ok by their allowance, %d near, %d NO
ok: the interval holds what theory says, or lies beyond the bound
ok by ±N%%: it does when theory's figure, which was itself measured or rounded, may be off by so much
near: it misses by less than half its width; of twenty intervals one misses
NO: it disagrees`, a.ok+a.allowed+a.near+a.no, a.ok, a.allowed, a.near, a.no)
}

func theoryRow(cells ...string) string {
	var b strings.Builder
	for i, width := range [...]int{30, 11, 4, 29, 13, 8, 20, 9} {
		fmt.Fprintf(&b, "%-*s ", width, cells[i])
	}
	return strings.TrimRight(b.String(), " ")
}
