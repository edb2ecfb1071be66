package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"minilb/core/scenario"
	"minilb/core/stat"
)

// naive computes every latency without events: each backend gets every n-th
// request, and a request starts on the worker that is free first (Lindley's
// recursion for one worker, Kiefer and Wolfowitz's for several).
func naive(s scenario.Scenario) *stat.Histogram {
	h := new(stat.Histogram)
	c := chance(s.Seed)
	a := arrivals{chance: c, mean: 1e9 / s.Rate, want: s.Requests}
	free := make([][]int64, len(s.Backends))
	for i, b := range s.Backends {
		free[i] = make([]int64, b.Capacity)
	}
	for n := range s.Requests {
		a.advance()
		i := n % len(s.Backends)
		slices.Sort(free[i])
		unit := stat.Exponential(c.word(forService, uint64(n), 0))
		free[i][0] = max(free[i][0], int64(a.next)) + int64(unit*(s.Backends[i].Mean*1e6))
		h.Record(free[i][0] - int64(a.next))
	}
	return h
}

func TestEventsGiveTheLatenciesOfTheNaiveRecursion(t *testing.T) {
	cases := map[string][]string{
		"one worker":       {"a=5,capacity=1"},
		"four workers":     {"a=20,capacity=4"},
		"overload":         {"a=20,capacity=2"},
		"several backends": {"a=20", "b=100", "c=1,capacity=1"},
	}
	for name, texts := range cases {
		t.Run(name, func(t *testing.T) {
			s := one(t, "round_robin", texts...)
			e, _ := play(t, s, Options{})
			assert.Equal(t, naive(s), e.record.latency)
		})
	}
}

func TestAQueueInFrontOfThePoolActsLikeOneAtTheBackend(t *testing.T) {
	s := one(t, "least_conn", "a=20,capacity=4")
	s.Rate = 190
	behind, _ := play(t, s, Options{})
	s.MaxInflight, s.Queue, s.QueueTimeout = 4, 100_000, 10*time.Minute
	before, r := play(t, s, Options{})
	assert.Zero(t, r.Dropped)
	assert.Equal(t, behind.record.latency, before.record.latency)
}
