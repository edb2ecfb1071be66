package lb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
	"minilb/core/pick"
)

// warming is three backends with a fourth that was added at 0 and warms up.
func warming(t *testing.T, policy string, window time.Duration) *story {
	s := plain()
	s.policy, s.pool.SlowStart = policy, window
	y := s.start(t, abc()...)
	require.NoError(t, y.Add(0, lb.Backend{Name: "d", Weight: 1}))
	y.built = 0
	return y
}

// share sends requests and returns what d gets of them; with hold they stay in
// flight until all are sent.
func share(t *testing.T, y *story, now lb.Time, hold bool) float64 {
	const n = 4000
	var held []lb.Lease
	hits := 0
	for i := range n {
		l := y.get(t, now, lb.Query{Rand: word(i), Hash: word(n + i), HasKey: true})
		if l.Name() == "d" {
			hits++
		}
		if hold {
			held = append(held, l)
		} else {
			y.Release(now, l, ok)
		}
	}
	for _, l := range held {
		y.Release(now, l, ok)
	}
	return float64(hits) / n
}

func TestSlowStartGrowsToTheFullShareAndNeverShrinks(t *testing.T) {
	for _, p := range pick.All {
		if p.Name == "first" || p.Name == "modulo_hash" {
			continue // they know no shares
		}
		loads := p.Name == "least_conn" || p.Name == "p2c" || p.Name == "peak_ewma"
		y := warming(t, p.Name, 10*time.Second)
		before := 0.0
		for s := lb.Time(0); s <= 12; s++ {
			now := share(t, y, s*second, loads)
			assert.GreaterOrEqual(t, now, before-0.01, "%s at %d s", p.Name, s)
			if s == 0 {
				// A tenth of one of three and a tenth.
				assert.InDelta(t, 0.1/3.1, now, 0.02, "%s begins small", p.Name)
			}
			before = now
		}
		assert.InDelta(t, 0.25, before, 0.035, "%s ends whole", p.Name)
	}
}

func TestSlowStartRebuildsTablesAtMostTenTimes(t *testing.T) {
	for _, policy := range []string{"maglev", "ring_hash", "weighted_round_robin", "least_conn"} {
		y := warming(t, policy, 10*time.Second)
		for at := lb.Time(0); at < 20*second; at += second / 7 {
			y.Release(at, y.get(t, at, lb.Query{}), ok)
		}
		assert.LessOrEqual(t, y.built, 10, policy)
		assert.Equal(t, lb.Never, y.Next(), "nothing is left to do")
	}
}

func TestABackendThatComesUpWarmsUpAndOneThatWasThereDoesNot(t *testing.T) {
	s := plain()
	s.policy, s.pool.SlowStart = "weighted_round_robin", 10*time.Second
	s.health.CheckInterval, s.health.Fall, s.health.Rise = time.Second, 1, 1
	y := s.start(t, abc()...)
	assert.Equal(t, "abcabc", y.names(t, 0, 6))
	result := failed
	answer := func(name string) lb.ProbeResult {
		if name == "c" {
			return result
		}
		return passed
	}
	y.probe(0, answer)
	assert.Equal(t, "ababab", y.names(t, 0, 6))
	result = passed
	y.probe(second, answer)
	count := func(now lb.Time) (n int) {
		for _, c := range y.names(t, now, 210) {
			if c == 'c' {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 10, count(second), "a tenth of a turn")
	assert.InDelta(t, 210*.5/2.5, count(6*second), 1)
	assert.Equal(t, 70, count(11*second))
}

func TestLoadsAreWeighedByTheLiveWeight(t *testing.T) {
	var set *lb.Set
	pool, err := lb.New(0, lb.Config{SlowStart: 10 * time.Second}, lb.Parts{Pickers: func(s *lb.Set) lb.Picker {
		set = s
		return first(s)
	}}, abc())
	require.NoError(t, err)
	assert.True(t, set.Uniform())
	require.NoError(t, pool.Add(0, lb.Backend{Name: "d", Weight: 8}))
	assert.False(t, set.Uniform())
	assert.Equal(t, []int{800, 800, 4400, 8000, 8000}, []int{
		set.LiveWeight(3, 0), set.LiveWeight(3, second), set.LiveWeight(3, 11*second/2), set.LiveWeight(3, 10*second), set.LiveWeight(3, 99*second),
	})
	assert.Equal(t, 800, set.Weight(3), "tables have the weight of their day")
	assert.Equal(t, 1000, set.LiveWeight(0, 0))
}
