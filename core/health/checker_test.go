package health_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"minilb/core/health"
	"minilb/core/lb"
)

var _ lb.Health = (*health.Checker)(nil)

const second = lb.Time(time.Second)

func config() health.Config {
	return health.Config{CheckInterval: 2 * time.Second, CheckTimeout: time.Second, Rise: 2, Fall: 3, Initial: "up"}
}

// after returns the state after each letter of a script, as U and D.
func after(k *health.Checker, slot int, script string) string {
	states := ""
	for i, answer := range script {
		up, _, _ := k.Record(lb.Time(i)*second, slot, result(answer == 'S'))
		states += map[bool]string{true: "U", false: "D"}[up]
	}
	return states
}

func TestOnlyARunOfResultsTurnsABackend(t *testing.T) {
	cases := []struct {
		name, initial string
		rise, fall    int
		script, want  string
	}{
		{"fall failures take it out", "up", 2, 3, "FFF", "UUD"},
		{"one less does not", "up", 2, 3, "FFSFF", "UUUUU"},
		{"a single pass starts the count again", "up", 2, 3, "FFSFFSFFF", "UUUUUUUUD"},
		{"rise passes bring it back", "up", 2, 3, "FFFSS", "UUDDU"},
		{"a single failure starts that count again", "up", 2, 3, "FFFSFSFSS", "UUDDDDDDU"},
		{"more of the same changes nothing", "up", 2, 3, "SSSFFFFFFSSS", "UUUUUDDDDDUU"},
		{"alternation never turns anything", "up", 2, 2, "FSFSFSFS", "UUUUUUUU"},
		{"fall 1 and rise 1 follow each result", "up", 1, 1, "FSFFS", "DUDDU"},
		{"initial down waits for rise passes", "down", 2, 3, "SFSS", "DDDU"},
		{"initial down ignores failures", "down", 2, 3, "FFFFSS", "DDDDDU"},
		{"haproxy starts one failure from down", "haproxy", 2, 3, "F", "D"},
		{"haproxy's first pass takes it to the top", "haproxy", 2, 3, "SFFSFFF", "UUUUUUD"},
		{"haproxy with fall 1", "haproxy", 2, 1, "FSS", "DDU"},
	}
	for _, c := range cases {
		k := health.New(health.Config{CheckInterval: time.Second, Rise: c.rise, Fall: c.fall, Initial: c.initial}, 0)
		assert.Equal(t, c.initial != "down", k.Add(0, 0, false), c.name)
		assert.Equal(t, c.want, after(k, 0, c.script), c.name)
	}
}

func TestABackendAddedToARunningPoolEntersAfterOnePass(t *testing.T) {
	for _, initial := range []string{"up", "down", "haproxy"} {
		c := config()
		c.Initial = initial
		k := health.New(c, 0)
		assert.False(t, k.Add(5*second, 0, true))
		assert.Equal(t, 5*second, k.Next(), "checked at once")
		assert.Equal(t, "DDU", after(k, 0, "FFS"))
		assert.Equal(t, "UUD"+"DU", after(k, 0, "FFFSS"), "rise applies once it has been up")
	}
}

func TestTheReasonNamesWhatWasSeen(t *testing.T) {
	cases := []struct {
		name   string
		change func(*health.Config)
		last   lb.ProbeResult
		want   string
	}{
		{"status", nil, lb.ProbeResult{Status: 500}, "3 consecutive failed checks (last: HTTP 500)"},
		{"unexpected status", func(c *health.Config) { c.CheckExpect = 200 }, lb.ProbeResult{Status: 302}, "3 consecutive failed checks (last: HTTP 302, expected 200)"},
		{"one is singular", func(c *health.Config) { c.Fall = 1 }, lb.ProbeResult{Status: 404}, "1 consecutive failed check (last: HTTP 404)"},
		{"timeout", func(c *health.Config) { c.CheckTimeout = 300 * time.Millisecond }, lb.ProbeResult{Kind: lb.TimedOut}, "3 consecutive failed checks (last: timeout after 300ms)"},
		{"refused", nil, lb.ProbeResult{Kind: lb.Refused}, "3 consecutive failed checks (last: connection refused)"},
		{"refused although a status is expected", func(c *health.Config) { c.CheckExpect = 200 }, lb.ProbeResult{Kind: lb.Refused}, "3 consecutive failed checks (last: connection refused)"},
		{"broken, with detail", nil, lb.ProbeResult{Kind: lb.Broken, Detail: "EOF in the header"}, "3 consecutive failed checks (last: connection broken: EOF in the header)"},
		{"tcp", func(c *health.Config) { c.CheckType = "tcp" }, lb.ProbeResult{Kind: lb.TimedOut}, "3 consecutive failed checks (last: timeout after 1s)"},
	}
	for _, c := range cases {
		conf := config()
		if c.change != nil {
			c.change(&conf)
		}
		k := health.New(conf, 0)
		k.Add(0, 0, false)
		changed, reason := false, ""
		for range conf.Fall {
			assert.False(t, changed, c.name)
			_, changed, reason = k.Record(0, 0, c.last)
		}
		assert.True(t, changed, c.name)
		assert.Equal(t, c.want, reason, c.name)
	}
}

func TestTheWayUpIsToldToo(t *testing.T) {
	k := health.New(config(), 0)
	k.Add(0, 0, true)
	_, _, reason := k.Record(0, 0, result(true))
	assert.Equal(t, "1 consecutive passed check", reason)
	after(k, 0, "FFFS")
	_, _, reason = k.Record(0, 0, result(true))
	assert.Equal(t, "2 consecutive passed checks", reason)
}

func TestWhichResultsPass(t *testing.T) {
	cases := []struct {
		kind   string
		expect int
		r      lb.ProbeResult
		want   bool
	}{
		{"http", 0, lb.ProbeResult{Status: 199}, false},
		{"http", 0, lb.ProbeResult{Status: 200}, true},
		{"http", 0, lb.ProbeResult{Status: 302}, true},
		{"http", 0, lb.ProbeResult{Status: 399}, true},
		{"http", 0, lb.ProbeResult{Status: 400}, false},
		{"http", 0, lb.ProbeResult{Status: 500}, false},
		{"http", 0, lb.ProbeResult{Status: 0}, false},
		{"http", 200, lb.ProbeResult{Status: 200}, true},
		{"http", 200, lb.ProbeResult{Status: 302}, false},
		{"http", 200, lb.ProbeResult{Status: 204}, false},
		{"http", 503, lb.ProbeResult{Status: 503}, true},
		{"http", 0, lb.ProbeResult{Kind: lb.TimedOut, Status: 200}, false},
		{"http", 0, lb.ProbeResult{Kind: lb.Refused}, false},
		{"http", 0, lb.ProbeResult{Kind: lb.Broken}, false},
		{"tcp", 0, lb.ProbeResult{}, true},
		{"tcp", 200, lb.ProbeResult{}, true},
		{"tcp", 0, lb.ProbeResult{Kind: lb.Refused}, false},
		{"tcp", 0, lb.ProbeResult{Kind: lb.TimedOut}, false},
	}
	for _, c := range cases {
		k := health.New(health.Config{CheckType: c.kind, CheckExpect: c.expect}, 0)
		assert.Equal(t, c.want, k.Passes(c.r), "%+v", c)
	}
}

// starts drives a checker at the given instants and returns those at which
// each slot's probe began.
func starts(k *health.Checker, slots int, at ...lb.Time) [][]lb.Time {
	began := make([][]lb.Time, slots)
	for _, now := range at {
		for _, slot := range k.Due(now, nil) {
			began[slot] = append(began[slot], now)
		}
	}
	return began
}

func TestProbesStartOnAFixedGridTheFirstAtOnce(t *testing.T) {
	k := health.New(config(), 0)
	k.Add(3*second, 0, false)
	assert.Equal(t, 3*second, k.Next())
	got := starts(k, 1, 3*second, 4*second, 5*second, 6*second, 7*second, 9*second)
	assert.Equal(t, [][]lb.Time{{3 * second, 5 * second, 7 * second, 9 * second}}, got)
	assert.Equal(t, 11*second, k.Next())
}

func TestALateShellSkipsProbesAndKeepsTheGrid(t *testing.T) {
	k := health.New(config(), 0)
	k.Add(0, 0, false)
	got := starts(k, 1, 0, 7*second+1, 7*second+2, 8*second, 8*second)
	assert.Equal(t, [][]lb.Time{{0, 7*second + 1, 8 * second}}, got)
	assert.Equal(t, 10*second, k.Next())
}

func TestJitterSpreadsTheGridsOverTheInterval(t *testing.T) {
	const n = 400
	for _, jitter := range []float64{0, 0.25, 1} {
		c := config()
		c.CheckJitter = jitter
		k := health.New(c, 7)
		quarters := [4]int{}
		for slot := range n {
			k.Add(0, slot, false)
			quarters[int(4*k.Phase(slot)/c.CheckInterval)]++
		}
		switch jitter {
		case 0:
			assert.Equal(t, [4]int{n}, quarters)
		case 0.25:
			assert.Equal(t, [4]int{n}, quarters)
			assert.NotZero(t, k.Phase(0))
		default:
			for _, in := range quarters {
				assert.InDelta(t, n/4, in, 40)
			}
		}
	}
}

func TestWithJitterTheSecondProbeIsTheFirstOfTheGrid(t *testing.T) {
	c := config()
	c.CheckJitter = 1
	for _, running := range []bool{false, true} {
		k := health.New(c, 3)
		k.Add(10*second, 0, running)
		var got []lb.Time
		for range 4 {
			now := k.Next()
			got = append(got, now)
			assert.Equal(t, []int{0}, k.Due(now, nil))
		}
		first := (10 * second).Add(k.Phase(0))
		assert.Equal(t, []lb.Time{10 * second, first, first + 2*second, first + 4*second}, got)
	}
}

func TestTwoBalancersDoNotProbeInStep(t *testing.T) {
	c := config()
	c.CheckJitter = 1
	assert.NotEqual(t, health.New(c, 1).Phase(0), health.New(c, 2).Phase(0))
	assert.Equal(t, health.New(c, 1).Phase(0), health.New(c, 1).Phase(0))
}

func TestARemovedBackendIsNotProbed(t *testing.T) {
	k := health.New(config(), 0)
	k.Add(0, 0, false)
	k.Add(0, 1, false)
	k.Remove(0)
	assert.Equal(t, []int{1}, k.Due(0, nil))
	k.Remove(1)
	assert.Equal(t, lb.Never, k.Next())
	assert.Empty(t, k.Due(100*second, nil))
}

func TestABackendInAReusedSlotStartsAfresh(t *testing.T) {
	k := health.New(config(), 0)
	k.Add(0, 0, false)
	after(k, 0, "FF")
	k.Remove(0)
	assert.True(t, k.Add(9*second, 0, false))
	assert.Equal(t, "UUD", after(k, 0, "FFF"))
}

func TestWithoutAnIntervalNoProbeIsDue(t *testing.T) {
	k := health.New(health.Config{Rise: 1, Fall: 1}, 0)
	assert.True(t, k.Add(0, 0, false))
	assert.Equal(t, lb.Never, k.Next())
	assert.Empty(t, k.Due(second, nil))
}

func TestAStatusThatNoAnswerHasIsRefused(t *testing.T) {
	for expect, ok := range map[int]bool{0: true, 1: false, 99: false, 100: true, 599: true} {
		err := health.Config{CheckExpect: expect}.Check()
		assert.Equal(t, ok, err == nil, "%d: %v", expect, err)
	}
}
