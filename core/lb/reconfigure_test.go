package lb_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/health"
	"minilb/core/lb"
	"minilb/core/outlier"
	"minilb/core/param"
	"minilb/core/pick"
)

// checked is a setup with every machine switched on.
func checked() setup {
	s := plain()
	s.health.CheckInterval, s.health.Rise, s.health.Fall = time.Second, 2, 2
	s.outlier.Consecutive5xx = 2
	return s
}

// apply reconfigures a running story as the setup says; machines are new.
func (s setup) apply(t require.TestingT, y *story, now lb.Time) {
	policy, _ := pick.Find(s.policy)
	var c pick.Config
	param.Of(&c).Reset(param.Scenario)
	build, err := policy.Pickers(c)
	require.NoError(t, err)
	parts := lb.Parts{Pickers: build, Drain: y.Parts().Drain}
	if s.health.CheckInterval > 0 {
		parts.Health = health.New(s.health, 1)
	}
	if s.outlier.On() {
		parts.Outlier = outlier.New(s.outlier)
	}
	if policy.Latency {
		parts.Latency = lb.NewLatencies(c.EwmaDecay)
	}
	y.Reconfigure(now, s.pool, parts)
}

func TestANewPolicyKeepsWhatIsInFlight(t *testing.T) {
	s := checked()
	y := s.start(t, abc()...)
	held := []lb.Lease{y.on(t, 0, "a"), y.on(t, 0, "a"), y.on(t, 0, "b")}
	s.policy = "least_conn"
	s.apply(t, y, 1)
	assert.Equal(t, 2, y.status(t, 1, "a").InFlight)
	assert.Equal(t, "c", y.get(t, 1, lb.Query{}).Name(), "the new policy sees the old requests")
	for _, l := range held {
		y.Release(2, l, ok)
	}
	assert.Equal(t, 1, y.Counts().InFlight)
}

func TestHoldsOutliveAChangeOfTheirMachines(t *testing.T) {
	s := checked()
	y := s.start(t, abc()...)
	y.probe(0, func(n string) lb.ProbeResult { return result(n != "a") })
	y.probe(second, func(n string) lb.ProbeResult { return result(n != "a") })
	for range 2 {
		y.Release(second, y.on(t, second, "b"), bad)
	}
	require.Equal(t, "unhealthy", y.status(t, second, "a").State)
	require.Equal(t, "ejected", y.status(t, second, "b").State)
	until := y.status(t, second, "b").Until

	s.health.Rise, s.outlier.Consecutive5xx, s.outlier.BaseEjection = 1, 5, time.Second
	s.apply(t, y, 2*second)
	assert.Equal(t, "unhealthy", y.status(t, 2*second, "a").State)
	assert.Equal(t, until, y.status(t, 2*second, "b").Until, "an ejection that was announced ends when it was to end")
	y.probe(2*second, func(string) lb.ProbeResult { return passed })
	assert.Equal(t, "healthy", y.status(t, 2*second, "a").State, "the new rise applies")
	assert.Equal(t, "healthy", y.status(t, until, "b").State)
}

func result(pass bool) lb.ProbeResult {
	if pass {
		return passed
	}
	return failed
}

func TestAStreakCountsOnUnderNewThresholds(t *testing.T) {
	s := checked()
	s.outlier.Consecutive5xx = 5
	y := s.start(t, abc()...)
	for range 2 {
		y.Release(0, y.on(t, 0, "a"), bad)
	}
	s.outlier.Consecutive5xx = 3
	s.apply(t, y, 1)
	assert.Equal(t, "healthy", y.status(t, 1, "a").State)
	y.Release(2, y.on(t, 2, "a"), bad)
	assert.Equal(t, "ejected", y.status(t, 2, "a").State)
}

func TestASwitchedOffMachineLetsGo(t *testing.T) {
	s := checked()
	y := s.start(t, abc()...)
	for now := lb.Time(0); now <= second; now += second {
		y.probe(now, func(n string) lb.ProbeResult { return result(n != "a") })
	}
	for range 2 {
		y.Release(second, y.on(t, second, "b"), bad)
	}
	s.health.CheckInterval, s.outlier.Consecutive5xx = 0, 0
	s.apply(t, y, 2*second)
	for _, b := range y.Status(2 * second) {
		assert.Equal(t, "healthy", b.State, b.Name)
	}
	assert.Contains(t, y.transcript(), "t=2.000 a up: active checks were switched off")
	assert.Contains(t, y.transcript(), "t=2.000 b returned: ejection was switched off")
	assert.Equal(t, lb.Never, y.Next())
}

func TestChecksThatAreSwitchedOnBeginWithEverybodyUp(t *testing.T) {
	s := plain()
	y := s.start(t, abc()...)
	s.health.CheckInterval, s.health.Initial, s.health.Fall = time.Second, "down", 1
	s.apply(t, y, second)
	assert.Equal(t, "healthy", y.status(t, second, "a").State)
	y.probe(second, func(n string) lb.ProbeResult { return result(n != "a") })
	assert.Equal(t, "unhealthy", y.status(t, second, "a").State)
}

func TestALimitAppliesFromTheChangeOn(t *testing.T) {
	s := plain()
	y := s.start(t, abc()[0])
	held := []lb.Lease{y.get(t, 0, lb.Query{}), y.get(t, 0, lb.Query{})}
	s.pool.MaxInflight, s.pool.Queue = 1, 1
	s.apply(t, y, 1)
	_, err := y.Acquire(1, lb.Query{})
	assert.ErrorIs(t, err, lb.ErrFull)
	woken := false
	ticket := &lb.Ticket{Wake: func() { woken = true }}
	require.NoError(t, y.Enqueue(1, lb.Query{}, ticket))
	s.pool.MaxInflight = 0
	s.apply(t, y, 2)
	assert.True(t, woken, "who waits is served when the limit goes")
	l, granted := y.Take(ticket)
	require.True(t, granted)
	for _, l := range append(held, l) {
		y.Release(3, l, ok)
	}
	assert.Zero(t, y.Counts().InFlight)
}

func TestANewAddressIsAnotherServerUnderTheSameName(t *testing.T) {
	s := checked()
	y := s.start(t, lb.Backend{Name: "a", Address: "old:1", Weight: 2}, abc()[1])
	old := y.on(t, 0, "a")
	late := y.Due(0, nil)
	require.NoError(t, y.SetAddress(1, "a", "new:1"))
	assert.Equal(t, "old:1", old.Backend().Address, "what is in flight stays where it is")
	assert.Equal(t, "unhealthy", y.status(t, 1, "a").State, "it enters after one pass, as an added one does")
	for _, p := range late {
		y.Probed(2, p, passed)
	}
	assert.Equal(t, "unhealthy", y.status(t, 2, "a").State, "a probe of the old address says nothing")
	y.probe(2, func(string) lb.ProbeResult { return passed })
	l := y.on(t, 3, "a")
	assert.Equal(t, lb.Backend{Name: "a", Address: "new:1", Weight: 2}, l.Backend())
	for range 2 {
		y.Release(4, y.on(t, 4, "a"), ok)
	}
	y.Release(4, old, bad)
	y.Release(4, l, ok)
	assert.Zero(t, y.status(t, 4, "a").Failures, "the old server's error is not the new one's")
	assert.Zero(t, y.Counts().InFlight)
	assert.Equal(t, []string{"a", "b"}, []string{y.Status(4)[0].Name, y.Status(4)[1].Name}, "the order stays")
	assert.ErrorIs(t, y.SetAddress(5, "x", "new:1"), lb.ErrUnknown)
	require.NoError(t, y.Drain(5, "b", time.Hour))
}

// Whatever is changed while requests come and go, none is lost: each ends on a
// backend that took it, and nothing is in flight afterwards.
func TestNoRequestIsLostInAChange(t *testing.T) {
	s := checked()
	s.pool.Queue = 0
	y := s.start(t, abc()...)
	y.probe(0, func(string) lb.ProbeResult { return passed })
	var done atomic.Bool
	var taken atomic.Int64
	crowd(4, func(g int) {
		if g == 0 {
			defer done.Store(true)
			for i := range 300 {
				changeSomething(t, s, y, i)
				runtime.Gosched()
			}
			return
		}
		for i := 0; !done.Load(); i++ {
			l, err := y.Acquire(0, lb.Query{Rand: word(i), Hash: word(i), HasKey: true})
			if !assert.NoError(t, err) {
				return
			}
			taken.Add(1)
			_ = l.Backend().Address
			y.Release(0, l, ok)
			runtime.Gosched() // WebAssembly has one thread and interrupts nobody
		}
	})
	assert.Positive(t, taken.Load())
	assert.Zero(t, y.Counts().InFlight)
}

// changeSomething keeps a and b in; c comes, goes and moves.
func changeSomething(t *testing.T, s setup, y *story, i int) {
	switch i % 5 {
	case 0:
		s.policy = pick.Names()[i/5%len(pick.Names())]
		s.apply(t, y, 0)
	case 1:
		assert.NoError(t, y.SetWeight(0, "b", 1+i%7))
	case 2:
		assert.NoError(t, y.SetAddress(0, "c", fmt.Sprint("host:", i)))
	case 3:
		assert.NoError(t, y.Drain(0, "c", 0))
	case 4:
		assert.NoError(t, y.Add(0, lb.Backend{Name: "c", Weight: 1}))
	}
}

// Random histories of changes: what is in flight and who is held never depends
// on which machines were replaced in between.
func TestChangesOfTheSameConfigurationChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := checked()
		s.policy = rapid.SampledFrom(pick.Names()).Draw(t, "policy")
		left, right := s.start(t, abc()...), s.start(t, abc()...)
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			now := lb.Time(i) * second / 4
			fails := rapid.SliceOfN(rapid.Bool(), 3, 3).Draw(t, "fails")
			outcome := ok
			if fails[0] {
				outcome = bad
			}
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "backend")
			for _, y := range []*story{left, right} {
				y.probe(lb.Time(i)*second, func(n string) lb.ProbeResult { return result(n != "a" || !fails[1]) })
				l, err := y.Acquire(now, lb.Query{Sticky: name, Rand: 1})
				if err == nil && l.Sticky {
					y.Release(now, l, outcome)
				} else if err == nil {
					y.Release(now, l, lb.Outcome{Kind: lb.Cancelled})
				}
			}
			if fails[2] {
				left.Reconfigure(now, s.pool, left.Parts())
			}
			require.Equal(t, states(right, now), states(left, now))
		}
	})
}

func states(y *story, now lb.Time) (all []string) {
	for _, b := range y.Status(now) {
		all = append(all, fmt.Sprint(b.Name, b.State, b.Reason, b.InFlight, b.Ejections, b.Until))
	}
	return all
}
