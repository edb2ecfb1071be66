package outlier_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"minilb/core/lb"
	"minilb/core/outlier"
)

func TestOnlyAnUnbrokenStreakEjects(t *testing.T) {
	cases := []struct {
		name          string
		any5xx, gates int
		outcomes      []lb.Outcome
		want          string
	}{
		{"three errors", 3, 0, []lb.Outcome{broken, broken, broken}, "a"},
		{"two", 3, 0, []lb.Outcome{broken, broken}, ""},
		{"a success starts the streak again", 3, 0, []lb.Outcome{broken, broken, ok, broken, broken}, ""},
		{"a 404 is a success", 3, 0, []lb.Outcome{broken, broken, {Status: 404}, broken}, ""},
		{"every failure to answer counts as a 5xx", 3, 0, []lb.Outcome{{Kind: lb.Refused}, {Kind: lb.TimedOut}, {Kind: lb.Broken}}, "a"},
		{"a client that left neither counts nor breaks a streak", 3, 0, []lb.Outcome{broken, broken, {Kind: lb.Cancelled}, broken}, "a"},
		{"clients that left are no errors", 3, 0, []lb.Outcome{{Kind: lb.Cancelled}, {Kind: lb.Cancelled}, {Kind: lb.Cancelled}}, ""},
		{"one is enough when one is asked for", 1, 0, []lb.Outcome{broken}, "a"},
		{"0 is off", 0, 0, []lb.Outcome{broken, broken, broken, broken}, ""},
		{"gateway errors", 0, 3, []lb.Outcome{{Status: 502}, {Status: 503}, {Status: 504}}, "a"},
		{"local failures are gateway errors", 0, 3, []lb.Outcome{{Kind: lb.Refused}, {Kind: lb.TimedOut}, {Kind: lb.Broken}}, "a"},
		{"a 500 ends a gateway streak", 0, 3, []lb.Outcome{gateway, gateway, broken, gateway, gateway}, ""},
		{"but not a streak of 5xx", 4, 3, []lb.Outcome{gateway, gateway, broken, gateway}, "a"},
		{"whichever is complete first", 5, 2, []lb.Outcome{broken, gateway, gateway}, "a"},
	}
	for _, c := range cases {
		conf := config()
		conf.Consecutive5xx, conf.ConsecutiveGateway = c.any5xx, c.gates
		f := newFleet(conf, 1)
		for _, o := range c.outcomes {
			f.respond(0, 0, 1, o)
		}
		assert.Equal(t, c.want, f.ejected(), c.name)
	}
}

func TestTheReasonSaysWhatHowLongAndWhichTime(t *testing.T) {
	c := config()
	c.BaseEjection = time.Second
	f := newFleet(c, 3)
	f.respond(at(1.608), 1, 3, broken)
	f.advance(at(9))
	c.Consecutive5xx, c.ConsecutiveGateway = 0, 2
	g := newFleet(c, 3)
	g.respond(at(2), 0, 2, gateway)
	assert.Equal(t, []string{
		"t=1.608 b ejected: 3 consecutive 5xx; ejected for 1s (ejection 1)",
		"t=2.608 b returned: ejection 1 over after 1s",
		"t=2.000 a ejected: 2 consecutive gateway errors; ejected for 1s (ejection 1)",
	}, append(f.log, g.log...))
}

// ejections ejects backend a again as soon as it is back, and returns how
// long it was out each time.
func ejections(f *fleet, times int) []time.Duration {
	var out []time.Duration
	now := lb.Time(0)
	for range times {
		f.respond(now, 0, 3, broken)
		began := now
		for f.ejected() != "" {
			now = f.d.Next()
			f.advance(now)
		}
		out = append(out, now.Sub(began))
	}
	return out
}

func TestEachEjectionIsLongerUpToTheMaximum(t *testing.T) {
	s := time.Second
	cases := []struct {
		base, longest time.Duration
		want          []time.Duration
	}{
		{10 * s, 35 * s, []time.Duration{10 * s, 20 * s, 30 * s, 35 * s, 35 * s}},
		{10 * s, 30 * s, []time.Duration{10 * s, 20 * s, 30 * s, 30 * s}},
		{10 * s, 5 * s, []time.Duration{10 * s, 10 * s}}, // the base, if that is longer
		{time.Millisecond, 24 * time.Hour, []time.Duration{time.Millisecond, 2 * time.Millisecond}},
	}
	for _, c := range cases {
		conf := config()
		conf.BaseEjection, conf.MaxEjection = c.base, c.longest
		assert.Equal(t, c.want, ejections(newFleet(conf, 1), len(c.want)))
	}
}

// A public report against another balancer: failure-percentage ejections
// never got longer. Decay is no excuse: there was no good interval.
func TestMinutesOf500sLengthenTheEjections(t *testing.T) {
	for _, decay := range []bool{false, true} {
		c := outlier.Config{FailurePercentage: 85, OutlierInterval: 10 * time.Second, BaseEjection: 30 * time.Second, MaxEjection: 90 * time.Second, MaxEjectionPercent: 50, EjectionDecay: decay}
		f := newFleet(c, 5)
		for now := at(0); now < at(420); now += at(10) {
			f.advance(now)
			shares(f, now, 60, 60, 0, 0, 0, 0)
		}
		golden(t, "testdata/failure_percentage.txt", strings.Join(f.log, "\n")+"\n")
	}
}

func TestTheCapCountsTheEjectionAboutToHappen(t *testing.T) {
	cases := []struct {
		backends  int
		percent   float64
		always    bool
		want      string // who is out after everybody has failed
		wantAfter int    // refusals
	}{
		{3, 50, false, "a", 2}, // a public report: three bad backends, a cap of 50%
		{3, 34, false, "a", 2},
		{3, 33, false, "", 3},
		{3, 10, false, "", 3},
		{3, 10, true, "a", 2},
		{5, 10, false, "", 5},
		{5, 10, true, "a", 4},
		{4, 50, false, "ab", 2},
		{10, 10, false, "a", 9},
		{2, 100, false, "ab", 0},
		{2, 0, false, "", 2},
		{2, 0, true, "a", 1},
		{8, 12.5, false, "a", 7},
		{8, 12.4, false, "", 8},
	}
	for _, c := range cases {
		conf := config()
		conf.MaxEjectionPercent, conf.AlwaysEjectOneHost = c.percent, c.always
		f := newFleet(conf, c.backends)
		for slot := range c.backends {
			f.respond(0, slot, 3, broken)
		}
		assert.Equal(t, c.want, f.ejected(), "%+v", c)
		assert.Equal(t, c.wantAfter, f.refused, "%+v", c)
	}
}

func TestARefusalCountsEachTimeAndIsReportedOncePerStreak(t *testing.T) {
	c := config()
	c.MaxEjectionPercent = 10
	f := newFleet(c, 3)
	f.respond(at(1), 0, 5, broken) // the third, fourth and fifth are refused
	f.respond(at(2), 0, 1, ok)
	f.respond(at(3), 0, 4, broken)
	assert.Equal(t, 5, f.refused)
	assert.Equal(t, []string{
		"t=1.000 a not ejected: 3 consecutive 5xx; 1 of 3 ejected would be over max-ejection-percent 10",
		"t=3.000 a not ejected: 3 consecutive 5xx; 1 of 3 ejected would be over max-ejection-percent 10",
	}, f.log)
}

func TestTheNextErrorEjectsOnceTheCapAllows(t *testing.T) {
	c := config()
	c.MaxEjectionPercent = 50
	f := newFleet(c, 3)
	f.respond(at(0), 0, 3, broken)
	f.respond(at(1), 1, 3, broken)
	assert.Equal(t, "a", f.ejected())
	f.advance(at(10)) // a returns
	f.respond(at(11), 1, 1, broken)
	assert.Equal(t, "b", f.ejected())
}

func TestADrainingBackendIsNeitherEjectedNorCounted(t *testing.T) {
	c := config()
	c.MaxEjectionPercent = 50
	f := newFleet(c, 3)
	f.leaving[0] = true
	f.respond(0, 0, 5, broken)
	assert.Empty(t, f.log)
	assert.Zero(t, f.refused)
	f.respond(0, 1, 3, broken) // one of two is 50%
	assert.Equal(t, "b", f.ejected())
}

// A public report against another balancer: the second ejection took five or
// six errors, not three.
func TestAfterItsReturnExactlyThreeErrorsEjectAgain(t *testing.T) {
	f := newFleet(config(), 1)
	f.respond(at(0), 0, 3, broken)
	f.respond(at(1), 0, 7, broken) // in flight at the ejection
	f.advance(at(10))
	f.respond(at(11), 0, 2, broken)
	assert.Equal(t, "", f.ejected())
	f.respond(at(11), 0, 1, broken)
	assert.Equal(t, "a", f.ejected())
}

func TestErrorsInFlightAtTheEjectionChangeNothingAboutIt(t *testing.T) {
	f := newFleet(config(), 2)
	f.respond(at(0), 0, 3, broken)
	f.respond(at(4), 0, 20, broken)
	f.respond(at(5), 0, 1, ok)
	assert.Equal(t, at(10), f.d.Next())
	f.advance(at(10) - 1)
	assert.Equal(t, "a", f.ejected())
	f.advance(at(10))
	assert.Equal(t, "", f.ejected())
	assert.Zero(t, f.refused)
	assert.Len(t, f.log, 2)
}

// Each call to Judge takes the pool's lock, so the errors of those that were in
// flight at an ejection should not ask for one.
func TestAfterAnEjectionItTakesAnotherStreakToAsk(t *testing.T) {
	f := newFleet(config(), 1)
	f.respond(at(0), 0, 3, broken)
	assert.False(t, f.d.Note(0, broken))
	assert.False(t, f.d.Note(0, broken))
}

func TestEjectionsEndInOrderOfTimeHoweverLateTheCall(t *testing.T) {
	f := newFleet(config(), 3)
	f.respond(at(2), 0, 3, broken)
	f.respond(at(0), 2, 3, broken)
	f.respond(at(1), 1, 3, broken)
	f.advance(at(60))
	assert.Equal(t, []string{
		"t=10.000 c returned: ejection 1 over after 10s",
		"t=11.000 b returned: ejection 1 over after 10s",
		"t=12.000 a returned: ejection 1 over after 10s",
	}, f.log[3:])
	assert.Equal(t, lb.Never, f.d.Next())
}

func TestAPassedCheckEndsAnEjectionOnlyWhenAskedTo(t *testing.T) {
	for _, asked := range []bool{false, true} {
		c := config()
		c.UnejectOnCheck = asked
		f := newFleet(c, 1)
		returned, _ := f.d.Passed(at(0), 0)
		assert.False(t, returned, "nothing to end")
		f.respond(at(1), 0, 3, broken)
		returned, reason := f.d.Passed(at(2), 0)
		assert.Equal(t, asked, returned)
		if !asked {
			assert.Empty(t, reason)
			continue
		}
		assert.Equal(t, "passed an active check", reason)
		assert.Equal(t, lb.Never, f.d.Next())
		f.out[0] = false
		f.respond(at(2), 0, 2, broken)
		assert.Equal(t, "", f.ejected(), "the streak starts afresh")
		f.respond(at(2), 0, 1, broken)
		assert.Equal(t, at(22), f.d.Next(), "the second ejection is twice as long all the same")
	}
}

func TestARemovedBackendIsForgotten(t *testing.T) {
	f := newFleet(config(), 1)
	f.respond(at(0), 0, 3, broken)
	f.d.Remove(0)
	assert.Equal(t, lb.Never, f.d.Next())
	f.respond(at(1), 0, 9, broken) // its last responses
	assert.Equal(t, lb.Never, f.d.Next())
	f.d.Add(0)
	f.out[0] = false
	f.respond(at(2), 0, 2, broken)
	assert.Equal(t, "", f.ejected())
	f.respond(at(2), 0, 1, broken)
	assert.Equal(t, at(12), f.d.Next(), "its successor's first ejection")
}

func TestOnSaysWhetherAnythingCanEject(t *testing.T) {
	assert.False(t, outlier.Config{BaseEjection: time.Second, MaxEjectionPercent: 50}.On())
	for _, c := range []outlier.Config{{Consecutive5xx: 1}, {ConsecutiveGateway: 1}, {SuccessRateStdev: 1.9}, {FailurePercentage: 85}} {
		assert.True(t, c.On(), "%+v", c)
	}
}

func TestWhatNeedsAnIntervalSaysSo(t *testing.T) {
	cases := []struct {
		c    outlier.Config
		want string
	}{
		{outlier.Config{}, ""},
		{outlier.Config{Consecutive5xx: 5}, ""},
		{outlier.Config{EjectionDecay: true}, ""}, // nothing to decay
		{outlier.Config{SuccessRateStdev: 1.9, OutlierInterval: time.Second}, ""},
		{outlier.Config{SuccessRateStdev: 1.9}, "outlier-interval=0: success-rate-stdev and failure-percentage are judged once each interval; accepted: an interval such as 10s"},
		{outlier.Config{FailurePercentage: 85}, "outlier-interval=0: success-rate-stdev and failure-percentage are judged once each interval; accepted: an interval such as 10s"},
		{outlier.Config{Consecutive5xx: 5, EjectionDecay: true}, "outlier-interval=0: ejection-decay shortens by one step each interval; accepted: an interval such as 10s"},
	}
	for _, c := range cases {
		got := ""
		if err := c.c.Check(); err != nil {
			got = err.Error()
		}
		assert.Equal(t, c.want, got)
	}
}

func TestItWarnsOfWhatCanNeverEject(t *testing.T) {
	five, rates := outlier.Config{Consecutive5xx: 5, MaxEjectionPercent: 10}, outlier.Config{FailurePercentage: 85, MaxEjectionPercent: 50}
	always := five
	always.AlwaysEjectOneHost = true
	cases := []struct {
		c        outlier.Config
		backends int
		want     string
	}{
		{five, 3, "max-ejection-percent 10 can never eject one of 3 backends (that would be 33.3%); use 34 or more, or always-eject-one-host"},
		{five, 4, "max-ejection-percent 10 can never eject one of 4 backends (that would be 25%); use 25 or more, or always-eject-one-host"},
		{outlier.Config{Consecutive5xx: 5, MaxEjectionPercent: 0.4}, 200, "max-ejection-percent 0.4 can never eject one of 200 backends (that would be 0.5%); use 1 or more, or always-eject-one-host"},
		{five, 10, ""},
		{five, 0, ""},
		{always, 3, ""},
		{outlier.Config{MaxEjectionPercent: 10}, 3, ""},
		{rates, 4, "success-rate-stdev and failure-percentage compare at least 5 backends and can never eject one of 4; use consecutive-5xx"},
		{rates, 5, ""},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, c.c.Warning(c.backends))
	}
}

// The advice is taken at its word.
func TestTheWarningsAdviceHelps(t *testing.T) {
	for n := 1; n <= lb.MaxBackends; n++ {
		c := outlier.Config{Consecutive5xx: 5, MaxEjectionPercent: float64((100 + n - 1) / n)}
		assert.Empty(t, c.Warning(n), n)
	}
}
