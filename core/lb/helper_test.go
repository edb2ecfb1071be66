package lb_test

import (
	"time"

	"github.com/stretchr/testify/require"

	"minilb/core/drain"
	"minilb/core/health"
	"minilb/core/lb"
	"minilb/core/outlier"
	"minilb/core/param"
	"minilb/core/pick"
	"minilb/core/stat"
)

const second = lb.Time(time.Second)

// ok and bad are the two outcomes that most tests need.
var (
	ok  = lb.Outcome{Status: 200, Latency: time.Millisecond}
	bad = lb.Outcome{Status: 500, Latency: time.Millisecond}

	passed = lb.ProbeResult{Status: 200}
	failed = lb.ProbeResult{Kind: lb.Refused}
)

// A setup is everything a pool is built from; zero parts are left out of it.
type setup struct {
	policy  string
	pool    lb.Config
	health  health.Config
	outlier outlier.Config
	view    *lb.Loads
}

// plain has no checks, no ejection and no limits; a test switches on what it is
// about. The lengths are fixed here, whatever the defaults come to be.
func plain() setup {
	s := setup{policy: "round_robin"}
	param.Of(&s.pool, &s.health, &s.outlier).Reset(param.Scenario)
	s.health.CheckInterval, s.outlier.Consecutive5xx = 0, 0
	s.outlier.BaseEjection, s.outlier.MaxEjection, s.outlier.MaxEjectionPercent = 10*time.Second, 300*time.Second, 50
	return s
}

// A story is a pool and the transcript of what happened to it.
type story struct {
	*lb.Pool
	events []lb.Event
	built  int // pickers built
	lat    *lb.Latencies
}

func (s setup) start(t require.TestingT, backends ...lb.Backend) *story {
	policy, _ := pick.Find(s.policy)
	var c pick.Config
	param.Of(&c).Reset(param.Scenario)
	build, err := policy.Pickers(c)
	require.NoError(t, err)
	y := &story{}
	parts := lb.Parts{
		Pickers: func(set *lb.Set) lb.Picker { y.built++; return build(set) },
		Drain:   drain.Policy{}, View: s.view,
		Log: func(e lb.Event) { y.events = append(y.events, e) },
	}
	if s.health.CheckInterval > 0 {
		parts.Health = health.New(s.health, 1)
	}
	if s.outlier.On() {
		parts.Outlier = outlier.New(s.outlier)
	}
	if policy.Latency {
		y.lat = lb.NewLatencies(c.EwmaDecay)
		parts.Latency = y.lat
	}
	y.Pool, err = lb.New(0, s.pool, parts, backends)
	require.NoError(t, err)
	return y
}

// abc is three backends of weight 1.
func abc() []lb.Backend {
	return []lb.Backend{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}, {Name: "c", Weight: 1}}
}

// transcript is the events as lines.
func (y *story) transcript() []string {
	var lines []string
	for _, e := range y.events {
		lines = append(lines, e.String())
	}
	return lines
}

// get acquires and expects to succeed.
func (y *story) get(t require.TestingT, now lb.Time, q lb.Query) lb.Lease {
	l, err := y.Acquire(now, q)
	require.NoError(t, err)
	return l
}

// names sends n requests one after the other, each answered at once, and
// returns who took them.
func (y *story) names(t require.TestingT, now lb.Time, n int) string {
	text := ""
	for range n {
		l := y.get(t, now, lb.Query{})
		text += l.Name()
		y.Release(now, l, ok)
	}
	return text
}

// on acquires until the backend of that name has the request, by its cookie.
func (y *story) on(t require.TestingT, now lb.Time, name string) lb.Lease {
	l := y.get(t, now, lb.Query{Sticky: name})
	require.Equal(t, name, l.Name())
	return l
}

// probe sends every probe that is due and answers it at once as the test says.
func (y *story) probe(now lb.Time, result func(name string) lb.ProbeResult) {
	for _, p := range y.Due(now, nil) {
		y.Probed(now, p, result(p.Name))
	}
}

// status is one backend's.
func (y *story) status(t require.TestingT, now lb.Time, name string) lb.Status {
	for _, s := range y.Status(now) {
		if s.Name == name {
			return s
		}
	}
	require.Fail(t, "no backend "+name)
	return lb.Status{}
}

func word(i int) uint64 { return stat.Word(1, 1, uint64(i), 0) }
