package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
	"minilb/core/scenario"
	"minilb/core/stat"
)

func TestServiceTimesHaveMeanOneAndTheirVariation(t *testing.T) {
	for name, cv := range map[string]float64{"exponential": 1, "constant": 0, "lognormal": 2, "pareto": 0.5, "bimodal": 2} {
		d, sum, squares, n := newDraw(name, cv), 0.0, 0.0, 400_000
		for i := range n {
			x := d.unit(stat.Word(1, 2, uint64(i), 3))
			sum, squares = sum+x, squares+x*x
		}
		mean := sum / float64(n)
		assert.InDelta(t, 1, mean, 0.02, name)
		assert.InDelta(t, cv, math.Sqrt(math.Max(0, squares/float64(n)-mean*mean)), 0.06+0.1*cv, name)
	}
}

func TestZipfKeysComeInProportionToTheirRank(t *testing.T) {
	for _, s := range []float64{0.5, 1, 1.2, 3} {
		z, counts, n := newZipf(50, s), [51]int{}, 200_000
		for i := range n {
			counts[z.rank(stat.Word(9, 1, uint64(i), 0))]++
		}
		all := 0.0
		for k := 1; k <= 50; k++ {
			all += math.Pow(float64(k), -s)
		}
		for _, k := range []int{1, 2, 7, 50} {
			want := math.Pow(float64(k), -s) / all
			assert.InDelta(t, want, float64(counts[k])/float64(n), 4*math.Sqrt(want/float64(n))+1e-5, "exponent %g, rank %d", s, k)
		}
	}
}

// instants is when the requests of a scenario arrive.
func instants(s scenario.Scenario) []float64 {
	a := newArrivals(s, chance(s.Seed), false)
	var all []float64
	for a.advance(); a.next != lb.Never; a.advance() {
		all = append(all, a.next.Seconds())
	}
	return all
}

func TestArrivalsHaveTheirShape(t *testing.T) {
	cases := map[string]struct{ early, late float64 }{ // requests in the first and second half of 20 s, at 100/s and peak 3
		"poisson": {1000, 1000}, "constant": {1000, 1000}, "step": {1000, 3000}, "ramp": {1000, 2000},
		"bursty": {1000, 1000}, "daily": {2000, 2000},
	}
	for name, want := range cases {
		s := scenario.Default()
		s.Arrivals, s.Rate, s.Duration, s.Period = name, 100, 20*time.Second, 5*time.Second
		early, late := 0.0, 0.0
		for _, at := range instants(s) {
			if at < 10 {
				early++
			} else {
				late++
			}
			if name == "bursty" {
				assert.Less(t, math.Mod(at, 5), 5.0/3+1e-9, "silence between bursts")
			}
		}
		assert.InDelta(t, want.early, early, 4*math.Sqrt(want.early), name)
		assert.InDelta(t, want.late, late, 4*math.Sqrt(want.late), name)
	}
}

func TestADaysWaveIsACosine(t *testing.T) {
	for i := range 1000 {
		turn := float64(i) / 1000
		assert.InDelta(t, math.Cos(2*math.Pi*turn), cosine(turn), 0.002)
	}
}

// With one worker and no thinking, a closed loop keeps it busy; with thinking,
// clients = throughput × (latency + thinking), Little's law for all of it.
func TestAClosedLoopObeysLittlesLaw(t *testing.T) {
	s := one(t, "round_robin", "a=20,capacity=2")
	s.Arrivals, s.ClientCount, s.Think, s.Requests = "closed", 10, 100*time.Millisecond, 50_000
	e, r := play(t, s, Options{})
	throughput := float64(r.Completed) / e.now.Seconds()
	assertWithin(t, 10, throughput*(r.Latency.Mean/1000+0.1), 0.02, "clients")
	assert.LessOrEqual(t, r.Backends[0].InFlightMax, 10)
}

func TestATraceIsReplayedAsRecorded(t *testing.T) {
	rows, err := scenario.ParseTrace("time,key,method,ms\n0.5,,GET,10\n0,alice,POST,40\n0.01,alice,GET,5\n")
	require.NoError(t, err)
	s := one(t, "ring_hash", "a=20,capacity=1", "b=20,capacity=1", "c=20,capacity=1")
	s.Arrivals, s.Trace = "trace", rows
	e, r := play(t, s, Options{})
	assert.Equal(t, 3, r.Requests)
	assert.Equal(t, 40.0, r.Latency.Max, "alice waits for alice: from 10 ms to 45 ms, less than the first")
	assert.InDelta(t, 0.51, e.now.Seconds(), 1e-9)
	assert.Equal(t, 2, max(r.Backends[0].Attempts, r.Backends[1].Attempts, r.Backends[2].Attempts), "one key, one backend")
}

func TestAPostIsExecutedTwiceOnlyWhenAClientRepeatsIt(t *testing.T) {
	s := one(t, "p2c", "a=20", "b=20", "c=20,slow_after=2,slow_factor=20")
	s.Rate, s.PostShare, s.Retries, s.RetryOn = 200, 0.5, 3, []string{"timeout", "5xx"}
	s.PerTryTimeout = 60 * time.Millisecond
	_, ours := play(t, s, Options{})
	assert.Zero(t, ours.Duplicates)
	assert.Positive(t, ours.RetriesSkipped.NotIdempotent)
	s.ClientRetries, s.ClientTimeout = 2, 200*time.Millisecond
	_, theirs := play(t, s, Options{})
	assert.Positive(t, theirs.Duplicates)
	s.Abandon = "cancel"
	_, cancelled := play(t, s, Options{})
	assert.Less(t, cancelled.Duplicates, theirs.Duplicates, "work that is dropped is not done twice")
}

// collapse is one pool of 30 workers of 100 ms whose clients wait a second,
// and a stall of ten seconds.
func collapse(t *testing.T, rate float64, parts string) scenario.Scenario {
	s := one(t, "round_robin", "a=100,capacity=30,stall_at=20,stall_for=10"+parts)
	s.Rate, s.Duration, s.ClientTimeout, s.ClientRetries = rate, 200*time.Second, time.Second, 1
	return s
}

func TestAStallOutlivesItsCauseWhenClientsRetry(t *testing.T) {
	late := func(s scenario.Scenario) float64 { // share answered well in the last 20 s
		_, r := play(t, s, Options{Series: true})
		good, all := 0, 0
		for i, start := range r.Series.Start {
			if start >= 180 && start < 200 {
				good, all = good+r.Series.Answered[i]-r.Series.Errors[i], all+r.Series.Answered[i]
			}
		}
		return float64(good) / float64(all)
	}
	assert.Less(t, late(collapse(t, 200, "")), 0.01, "it never recovers")
	assert.Greater(t, late(collapse(t, 120, "")), 0.99, "below half of what is left it does")
	assert.Greater(t, late(collapse(t, 200, ",queue=100")), 0.99, "a short queue")
	assert.Greater(t, late(collapse(t, 200, ",order=lifo")), 0.95, "the newest first")
	s := collapse(t, 200, "")
	s.Abandon = "cancel"
	assert.Greater(t, late(s), 0.99, "work that nobody waits for is dropped")
}

func TestACrashRefusesAndAHangSwallows(t *testing.T) {
	s := one(t, "round_robin", "a=20", "b=20,crash_at=5,recover_at=10")
	s.Rate, s.Duration = 100, 20*time.Second
	_, r := play(t, s, Options{})
	assertWithin(t, 250, float64(r.Kinds.Refused), 0.1, "half of five seconds' requests")
	assert.LessOrEqual(t, r.Kinds.Broken, 8, "what was in flight")

	s.Backends = backends(t, "a=20", "b=20,hang_at=5,recover_at=10")
	_, r = play(t, s, Options{})
	assertWithin(t, 250, float64(r.Kinds.Broken), 0.1, "accepted, and broken when it starts again")
	s.PerTryTimeout = time.Second
	_, r = play(t, s, Options{})
	assertWithin(t, 200, float64(r.Kinds.Timeout), 0.15, "given up, but for the last second's")

	s.Backends = backends(t, "a=20", "b=20,hang_at=5")
	s.PerTryTimeout = 0
	_, r = play(t, s, Options{})
	assertWithin(t, 750, float64(r.Unanswered), 0.1, "without any timeout half of the rest waits for ever")
}

func TestAStallDelaysAndLosesNothing(t *testing.T) {
	s := one(t, "round_robin", "a=20,stall_at=5,stall_for=2")
	s.Rate, s.Duration = 50, 20*time.Second
	_, r := play(t, s, Options{})
	assert.Zero(t, r.Errors+r.Dropped)
	assert.InDelta(t, 2100, r.Latency.Max, 200)
	assertWithin(t, 100, float64(r.Backends[0].QueueMax), 0.3, "two seconds' requests")
}

func TestAnAddedBackendIsColdAtFirstAndADrainedOneLosesNothing(t *testing.T) {
	s := one(t, "round_robin", "old=20,drain_at=10,drain_for=60", "new=20,add_at=10,cold_for=5,cold_factor=10", "other=20")
	s.Rate, s.Duration = 60, 30*time.Second
	_, r := play(t, s, Options{Events: true})
	assert.Zero(t, r.CutByDrain+r.Errors+r.Dropped)
	assertWithin(t, 300, float64(r.Backends[0].Attempts), 0.1, "half of ten seconds' requests")
	assertWithin(t, 600, float64(r.Backends[1].Attempts), 0.1, "half of twenty seconds' requests")
	assert.Greater(t, r.Backends[1].Latency.Mean, 1.3*r.Backends[2].Latency.Mean)
	assert.True(t, slices.ContainsFunc(r.Events, func(v lb.Event) bool { return v.What == lb.WasRemoved && v.Backend == "old" }))

	s.Backends = backends(t, "old=2000,capacity=50,drain_at=10,drain_for=0.1", "other=20")
	_, r = play(t, s, Options{})
	assert.Positive(t, r.CutByDrain)
	assert.Equal(t, r.CutByDrain, r.Kinds.Broken)
}

func TestWarmUpIsLeftOutOfTheFigures(t *testing.T) {
	s := one(t, "round_robin", "a=20,errors=1,recover_at=5", "b=20")
	s.Rate, s.Duration, s.Warmup = 100, 20*time.Second, 6*time.Second
	_, r := play(t, s, Options{})
	assert.Zero(t, r.Errors)
	assertWithin(t, 1400, float64(r.Requests), 0.1, "fourteen seconds' requests")
	assert.Equal(t, r.Requests, r.Attempts)
}

func TestUsersWithACookieComeBack(t *testing.T) {
	for share, want := range map[float64]float64{1: 1, 0.5: 0.5 + 0.5/3} {
		s := one(t, "random", "a=20", "b=20", "c=20")
		s.StickyShare, s.Requests, s.Users = share, 20_000, 400
		at, stays := make(map[int32]int), 0
		e, err := newEngine(s, "random", Options{})
		require.NoError(t, err)
		e.onSent = func(slot int, r *request) {
			user := r.user
			if at[user] == slot+1 {
				stays++
			}
			at[user] = slot + 1
		}
		require.NoError(t, e.run())
		assert.InDelta(t, want, float64(stays)/float64(s.Requests), 0.06, "share of requests that go where the last one went")
	}
}

// At layer 4 a balancer chooses once for each connection: a backend that joins
// gets nothing until users open new ones.
func TestALayer4BalancerChoosesOncePerConnection(t *testing.T) {
	s := one(t, "round_robin", "a=5", "b=5", "new=5,add_at=10")
	s.Rate, s.Duration, s.Layer, s.Users, s.RequestsPerConnection = 200, 20*time.Second, "l4", 40, 100_000
	_, long := play(t, s, Options{})
	assert.Zero(t, long.Backends[2].Attempts)
	s.RequestsPerConnection = 10
	_, short := play(t, s, Options{})
	assertWithin(t, 667, float64(short.Backends[2].Attempts), 0.25, "a third of ten seconds' requests")
	s.RequestsPerConnection, s.Arrivals = 1, "poisson"
	_, each := play(t, s, Options{})
	assertWithin(t, 667, float64(each.Backends[2].Attempts), 0.1, "a third of ten seconds' requests")
}

// A lifetime lets a backend that joined get its share although users would keep their connections for
// ever: a new one is chosen anew.
func TestAConnectionIsChosenAnewWhenItHasHadItsTime(t *testing.T) {
	s := one(t, "round_robin", "a=5", "b=5", "new=5,add_at=10")
	s.Rate, s.Duration, s.Layer, s.Users, s.RequestsPerConnection = 200, 20*time.Second, "l4", 40, 1_000_000
	for lifetime, want := range map[time.Duration]float64{0: 0, 30 * time.Second: 0, time.Second: 630} {
		s.KeepaliveLifetime = lifetime
		_, r := play(t, s, Options{})
		assert.InDelta(t, want, float64(r.Backends[2].Attempts), 0.15*want, "a third of ten seconds' requests, less what old connections still get: %s", lifetime)
		assert.Zero(t, r.Errors+r.Dropped, "nobody is cut off")
	}
}

// No request is sent over a connection older than the lifetime, and one in flight keeps its connection
// until its answer: the pool holds it, and nothing else uses it.
func TestARequestInFlightFinishesOnAConnectionThatIsTooOld(t *testing.T) {
	s := one(t, "round_robin", "a=500,capacity=50,service=constant", "b=500,capacity=50,service=constant")
	s.Rate, s.Requests, s.Layer, s.Users, s.RequestsPerConnection = 20, 400, "l4", 5, 1_000_000
	s.KeepaliveLifetime = 200 * time.Millisecond
	e, err := newEngine(s, "round_robin", Options{})
	require.NoError(t, err)
	outlived := 0
	e.onSent = func(_ int, r *request) {
		c := e.connections.at(e.users[r.user].connection)
		assert.LessOrEqual(t, e.now.Sub(c.opened), s.KeepaliveLifetime)
		outlived = max(outlived, e.connections.len())
	}
	require.NoError(t, e.run())
	r := e.result()
	requireSettled(t, e, r)
	assert.Zero(t, r.Errors)
	assert.Greater(t, outlived, s.Users, "connections beyond one for each user are those that only finish")
	assertWithin(t, 500, r.Latency.Max, 0.005, "the answers come whole")
	for e.events.next() != lb.Never {
		e.step()
	}
	assert.Zero(t, e.connections.len(), "in the end all are closed")
	assert.Zero(t, e.balancers[0].pool.Counts().InFlight)
}

// An idle connection is closed at its time and not at the next request: until then a policy that
// counts connections would count it.
func TestAnIdleConnectionIsClosedAtItsTime(t *testing.T) {
	s := one(t, "least_conn", "a=5")
	s.Layer, s.Users, s.Requests, s.KeepaliveLifetime = "l4", 100, 300, 5*time.Second
	e, _ := play(t, s, Options{})
	open := e.balancers[0].pool.Counts().InFlight
	assert.Positive(t, open)
	for e.events.next() != lb.Never {
		e.step()
	}
	assert.Zero(t, e.balancers[0].pool.Counts().InFlight)
}

// A look at a connection's age waits for each user, not for each connection.
func TestALifetimeCostsOneEventPerUser(t *testing.T) {
	s := one(t, "round_robin", "a=5", "b=5")
	s.Layer, s.Users, s.RequestsPerConnection, s.KeepaliveLifetime, s.Requests = "l4", 20, 1, time.Hour, 5000
	e, _ := play(t, s, Options{})
	e.events.next() // it fills a hollow top
	assert.LessOrEqual(t, len(e.events.events), s.Users)
}

func TestALayer4BalancerSeesOnlyConnectionsFail(t *testing.T) {
	s := one(t, "round_robin", "a=5", "b=5,errors=1")
	s.Layer, s.RequestsPerConnection = "l4", 5
	s.Consecutive5xx, s.Retries, s.RetryOn = 3, 2, []string{"5xx", "connect-failure"}
	_, r := play(t, s, Options{})
	assert.Zero(t, r.Ejections)
	assert.InDelta(t, 0.5, float64(r.Kinds.ServerError)/float64(r.Requests), 0.03)
	s.Backends = backends(t, "a=5", "b=5,crash_at=1")
	_, r = play(t, s, Options{})
	assert.Positive(t, r.Ejections)
	assert.LessOrEqual(t, r.Kinds.Refused+r.Kinds.Broken, 100, "of those with a connection to it; new ones are tried elsewhere")
}

func TestBalancersThatSeeOnlyThemselvesChooseWorse(t *testing.T) {
	s := one(t, "least_conn", "a=20,capacity=1", "b=20,capacity=1", "c=20,capacity=1", "d=20,capacity=1")
	s.Rate, s.Requests = 160, 30_000
	_, alone := play(t, s, Options{})
	s.BalancerCount = 10
	_, many := play(t, s, Options{})
	assert.Greater(t, many.Latency.Mean, 1.2*alone.Latency.Mean)
	s.Stale = time.Millisecond
	_, fresh := play(t, s, Options{})
	assert.Less(t, fresh.Latency.Mean, many.Latency.Mean, "counts of all, a millisecond old")
	s.Stale = 200 * time.Millisecond
	_, stale := play(t, s, Options{})
	assert.Greater(t, stale.Latency.Mean, 1.5*many.Latency.Mean, "old counts make all of them run to one backend")
}

func TestABalancerThatIsDownRefusesItsClients(t *testing.T) {
	s := one(t, "round_robin", "a=20", "b=20")
	s.Rate, s.Duration, s.BalancerCount = 100, 20*time.Second, 4
	s.BalancerDown = scenario.Window{From: 5 * time.Second, To: 15 * time.Second}
	_, r := play(t, s, Options{})
	assertWithin(t, 250, float64(r.Kinds.Refused), 0.2, "a quarter of ten seconds' requests")
	s.ClientRetries = 5
	_, r = play(t, s, Options{})
	assert.Less(t, r.Requests-r.ClientRetries-(r.Completed-r.Errors), 5, "who tries again finds another")
}

func TestLostProbesTakeGoodBackendsOut(t *testing.T) {
	s := one(t, "round_robin", "a=5", "b=5", "c=5")
	s.CheckInterval, s.CheckTimeout, s.Duration, s.ProbeLoss = 500*time.Millisecond, 200*time.Millisecond, 100*time.Second, 0.3
	_, r := play(t, s, Options{Events: true})
	assert.NotEmpty(t, r.Events)
	assert.Zero(t, r.Errors)
}

func TestTheFullQueueOfABackendAnswersAtOnce(t *testing.T) {
	s := one(t, "round_robin", "a=20,capacity=1,queue=3")
	s.Rate, s.Requests = 100, 50_000
	_, r := play(t, s, Options{})
	// M/M/1/K with K = 4 and rho = 2: the share turned away.
	want := math.Pow(2, 4) * (1 - 2) / (1 - math.Pow(2, 5))
	assertWithin(t, want, float64(r.Kinds.QueueFull)/float64(r.Requests), 0.02, "share turned away")
	assert.Equal(t, 3, r.Backends[0].QueueMax)
}
