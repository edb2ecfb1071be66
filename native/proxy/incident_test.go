package proxy

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
	"minilb/core/sim"
)

// An incident is one of three backends answering 500, three times as fast as
// the others answer at all.
const (
	incidentWorks = 180 * time.Millisecond // long beside what a machine adds
	incidentFails = 60 * time.Millisecond
)

// incident are the settings of both the proxy and the simulation. Nothing but
// ejection may interfere.
func incident(algorithm string, threshold int) func(*Config) {
	return func(c *Config) {
		c.Algorithm, c.CheckInterval, c.Retries = algorithm, 0, 0
		c.Consecutive5xx, c.MaxEjectionPercent, c.BaseEjection = threshold, 34, time.Minute
	}
}

// A clientTally is what clients saw: where their requests went, how long those
// took, and how many failed.
type clientTally struct {
	mu       sync.Mutex
	requests int
	errors   int
	by       map[string]int
	took     map[string]time.Duration
}

// closedLoop sends n requests from so many clients, each of which waits for its
// answer before it sends the next.
func (s *stack) closedLoop(clients, n int) *clientTally {
	tally := &clientTally{by: map[string]int{}, took: map[string]time.Duration{}}
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for tally.next(n) {
				began := time.Now()
				name, status := s.served()
				tally.count(name, status, time.Since(began))
			}
		})
	}
	running.Wait()
	return tally
}

func (c *clientTally) next(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	return c.requests <= n
}

func (c *clientTally) count(name string, status int, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by[name]++
	c.took[name] += took
	if status >= 500 {
		c.errors++
	}
}

// mean is how long a backend's requests took, in milliseconds: its delay, and
// what a busy machine adds to that.
func (c *clientTally) mean(name string) float64 {
	return c.took[name].Seconds() * 1000 / float64(max(c.by[name], 1))
}

// predict simulates the proxy's own configuration over backends as slow as
// those of the test, with as many clients.
func predict(t *testing.T, c Config, clients, n int, mean func(name string) float64) sim.Result {
	t.Helper()
	s := scenario.Default()
	s.Algorithms, s.Balancer = []string{c.Algorithm}, c.Balancer
	s.Arrivals, s.ClientCount, s.Think, s.Requests = "closed", clients, 0, n
	s.Backends = nil
	for i, b := range c.Backends {
		text := fmt.Sprintf("%s=%.3f,service=constant,capacity=1000,weight=%d", b.Name, mean(b.Name), b.Weight)
		if i == 2 {
			text += ",errors=1"
		}
		var simulated scenario.Backend
		require.NoError(t, simulated.UnmarshalText([]byte(text)))
		s.Backends = append(s.Backends, simulated)
	}
	t.Log(s.Command())
	r, err := sim.Run(s, sim.Options{})
	require.NoError(t, err)
	return r.Results[0]
}

func newIncident(t *testing.T, algorithm string, threshold int) *stack {
	s := newStack(t, incident(algorithm, threshold), incidentWorks, incidentWorks, incidentFails)
	s.mode(2, "status=500&health=200")
	return s
}

// The backend that fails fast draws the traffic to itself, and ejection takes
// it away: on real sockets as in the simulation of the same configuration.
func TestIncidentSharesAreThoseThatTheSimulationPredicts(t *testing.T) {
	const clients, n = 12, 240
	for _, algorithm := range []string{"round_robin", "least_conn"} {
		for _, threshold := range []int{0, 5} {
			t.Run(fmt.Sprintf("%s, ejection after %d", algorithm, threshold), func(t *testing.T) {
				t.Parallel()
				s := newIncident(t, algorithm, threshold)
				seen := s.closedLoop(clients, n)
				predicted := predict(t, s.config, clients, n, seen.mean)
				for _, share := range predicted.Share {
					got := float64(seen.by[share.Backend]) / n
					t.Logf("%s: proxy %.1f%%, simulation %.1f%%", share.Backend, 100*got, 100*share.Fraction)
					assert.InDelta(t, share.Fraction, got, 0.05, share.Backend)
				}
				t.Logf("errors: proxy %d, simulation %d of %d", seen.errors, predicted.Errors, n)
				assert.Equal(t, predicted.Ejections, s.pool.Counts().Ejections)
				if threshold > 0 {
					assert.Equal(t, 1, predicted.Ejections)
					assert.GreaterOrEqual(t, seen.errors, threshold)
					assert.LessOrEqual(t, seen.errors, threshold+clients, "the streak, and what was in flight when it was complete")
				} else if algorithm == "least_conn" {
					assert.Greater(t, seen.by["b3"], seen.by["b1"], "the one that fails fast gets most of it")
				}
			})
		}
	}
}

// One request at a time there is nothing in flight when the streak is
// complete: clients see as many errors as it takes, in both.
func TestIncidentShowsOneClientExactlyTheThreshold(t *testing.T) {
	for _, algorithm := range []string{"least_conn", "round_robin"} {
		for threshold := 1; threshold <= 5; threshold += 2 {
			t.Run(fmt.Sprintf("%s, ejection after %d", algorithm, threshold), func(t *testing.T) {
				t.Parallel()
				s := newIncident(t, algorithm, threshold)
				n := 3*threshold + 6
				seen := s.closedLoop(1, n)
				assert.Equal(t, threshold, predict(t, s.config, 1, n, seen.mean).Errors, "simulation")
				assert.Equal(t, threshold, seen.errors, "proxy")
				assert.Equal(t, threshold, seen.by["b3"])
			})
		}
	}
}
