package outlier_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"minilb/core/lb"
	"minilb/core/outlier"
)

// interval is Envoy's: a look every 10 s, base 30 s, max 300 s.
func interval() outlier.Config {
	return outlier.Config{OutlierInterval: 10 * time.Second, BaseEjection: 30 * time.Second, MaxEjection: 300 * time.Second, MaxEjectionPercent: 100}
}

// The case of Envoy's own test: 5 × 5xx at 0, and ticks when it says.
func TestEjectionsEndAtALookAsInEnvoysCase(t *testing.T) {
	c := interval()
	c.Consecutive5xx = 5
	f := newFleet(c, 1)
	f.respond(at(0), 0, 5, broken)
	f.advance(at(9.999))
	assert.Equal(t, "a", f.ejected())
	f.advance(at(30.001))
	assert.Equal(t, "", f.ejected())
	f.respond(at(30.001), 0, 5, broken)
	assert.Equal(t, "a", f.ejected())
	f.advance(at(80.002))
	assert.Equal(t, "a", f.ejected())
	f.advance(at(90.002))
	assert.Equal(t, "", f.ejected())
	assert.Equal(t, []string{
		"t=0.000 a ejected: 5 consecutive 5xx; ejected for 30s (ejection 1)",
		"t=30.001 a returned: ejection 1 over after 30s",
		"t=30.001 a ejected: 5 consecutive 5xx; ejected for 1m0s (ejection 2)",
		"t=90.002 a returned: ejection 2 over after 1m0s",
	}, f.log)
}

func TestWithAnIntervalNothingReturnsBetweenLooks(t *testing.T) {
	c := interval()
	c.Consecutive5xx = 5
	f := newFleet(c, 1)
	f.respond(at(4), 0, 5, broken) // over at 34
	var looks []lb.Time
	for f.ejected() != "" {
		looks = append(looks, f.d.Next())
		f.advance(f.d.Next())
	}
	assert.Equal(t, []lb.Time{at(10), at(20), at(30), at(40)}, looks)
}

func TestLooksStayOnTheirGridHoweverLateOne(t *testing.T) {
	c := interval()
	c.Consecutive5xx = 5
	f := newFleet(c, 1)
	assert.Equal(t, at(10), f.d.Next())
	f.advance(at(10.5))
	assert.Equal(t, at(20), f.d.Next())
	f.advance(at(3600 * 24 * 365))
	assert.Equal(t, at(3600*24*365+10), f.d.Next(), "a year late is one look, not three million")
}

// shares has five backends answer n requests each, with that many failures.
func shares(f *fleet, now lb.Time, n int, failures ...int) {
	for slot, failed := range failures {
		f.respond(now, slot, failed, broken)
		f.respond(now, slot, n-failed, ok)
	}
}

func TestSuccessRateIsJudgedAgainstThePoolsMeanAndDeviation(t *testing.T) {
	cases := []struct {
		name     string
		stdev    float64
		n        int
		failures []int
		want     string
	}{
		// Rates 100 ×4 and 50: mean 90, population deviation 20; 90 - 1.9×20 = 52.
		{"Envoy's documented factor", 1.9, 100, []int{0, 0, 0, 0, 50}, "e"},
		{"exactly at the floor stays", 2, 100, []int{0, 0, 0, 0, 50}, ""},
		{"nobody is an outlier where all fail alike", 1.9, 100, []int{50, 50, 50, 50, 50}, ""},
		{"too few requests", 1.9, 99, []int{0, 0, 0, 0, 50}, ""},
		{"too few backends", 1.5, 100, []int{0, 0, 0, 50}, ""},
		{"two of six: mean 80, deviation 28.3, floor 51.7", 1, 100, []int{0, 60, 0, 0, 60, 0}, "be"},
		{"two that share the blame raise the deviation", 1.9, 100, []int{0, 60, 0, 0, 60, 0}, ""},
	}
	for _, c := range cases {
		conf := interval()
		conf.SuccessRateStdev = c.stdev
		f := newFleet(conf, len(c.failures))
		shares(f, at(1), c.n, c.failures...)
		assert.Empty(t, f.ejected(), "judged at a look only")
		f.advance(at(10))
		assert.Equal(t, c.want, f.ejected(), c.name)
	}
}

func TestFailurePercentageIsAFixedLimit(t *testing.T) {
	cases := []struct {
		name     string
		limit    float64
		n        int
		failures []int
		want     string
	}{
		{"at the limit", 85, 100, []int{85, 0, 0, 0, 84}, "a"},
		{"an exact product, no rounding", 90, 70, []int{63, 62, 0, 0, 0}, "a"},
		{"100 takes all of them", 100, 60, []int{60, 59, 0, 0, 0}, "a"},
		{"everybody may be over it", 50, 50, []int{50, 50, 50, 50, 25}, "abcde"},
		{"too few requests", 85, 49, []int{49, 0, 0, 0, 0}, ""},
		{"too few backends", 85, 100, []int{100, 0, 0, 0}, ""},
		{"a fraction", 0.5, 200, []int{1, 0, 0, 0, 0}, "a"},
	}
	for _, c := range cases {
		conf := interval()
		conf.FailurePercentage = c.limit
		f := newFleet(conf, len(c.failures))
		shares(f, at(1), c.n, c.failures...)
		f.advance(at(10))
		assert.Equal(t, c.want, f.ejected(), c.name)
	}
}

func TestAnIntervalStartsFromNothing(t *testing.T) {
	c := interval()
	c.FailurePercentage = 50
	f := newFleet(c, 5)
	shares(f, at(1), 60, 20, 0, 0, 0, 0)
	f.advance(at(10))
	shares(f, at(11), 30, 30, 0, 0, 0, 0)
	f.advance(at(20))
	assert.Empty(t, f.log, "neither interval alone is enough")
}

func TestABackendThatIsOutIsNotJudgedNorComparedWith(t *testing.T) {
	c := interval()
	c.FailurePercentage, c.Consecutive5xx = 50, 60
	f := newFleet(c, 5)
	f.respond(at(1), 0, 60, broken) // out by its streak
	shares(f, at(1), 60, 0, 60-1, 0, 0, 0)
	f.advance(at(10))
	assert.Equal(t, "a", f.ejected(), "four backends are too few to judge b")
}

func TestWhoReturnsAtALookIsNotJudgedForWhatWasInFlight(t *testing.T) {
	c := interval()
	c.FailurePercentage, c.BaseEjection = 50, 10*time.Second
	f := newFleet(c, 6)
	shares(f, at(1), 60, 60, 0, 0, 0, 0, 0)
	f.advance(at(10))
	assert.Equal(t, "a", f.ejected())
	shares(f, at(11), 60, 60, 0, 0, 0, 0, 0)
	f.advance(at(20))
	assert.Equal(t, "", f.ejected())
	f.advance(at(30))
	assert.Equal(t, "", f.ejected())
}

func TestTheCapHoldsWithinOneLook(t *testing.T) {
	c := interval()
	c.FailurePercentage, c.MaxEjectionPercent = 50, 40
	f := newFleet(c, 5)
	shares(f, at(1), 100, 100, 100, 100, 100, 0)
	f.advance(at(10))
	assert.Equal(t, "ab", f.ejected())
	assert.Equal(t, 2, f.refused)
}

func TestWhoReturnsAtALookMakesRoomForAnother(t *testing.T) {
	c := interval()
	c.FailurePercentage, c.MaxEjectionPercent, c.BaseEjection = 50, 17, 10*time.Second
	f := newFleet(c, 6)
	shares(f, at(1), 100, 100, 0, 0, 0, 0, 0)
	f.advance(at(10))
	assert.Equal(t, "a", f.ejected())
	shares(f, at(11), 100, 0, 100, 0, 0, 0, 0)
	f.advance(at(20))
	assert.Equal(t, "b", f.ejected())
	assert.Zero(t, f.refused)
}

// A refusal is counted at each look, because each is a new judgement, and
// reported when the one before was none.
func TestARefusalAtEachLookIsReportedOnce(t *testing.T) {
	c := interval()
	c.FailurePercentage, c.MaxEjectionPercent = 50, 10
	f := newFleet(c, 5)
	for look := range 6 {
		failures := 100
		if look == 3 {
			failures = 0
		}
		shares(f, at(float64(10*look+1)), 100, failures, 0, 0, 0, 0)
		f.advance(at(float64(10*look + 10)))
	}
	assert.Equal(t, 5, f.refused)
	assert.Equal(t, []string{
		"t=10.000 a not ejected: 100% of requests failed, the limit is 50%; 1 of 5 ejected would be over max-ejection-percent 10",
		"t=50.000 a not ejected: 100% of requests failed, the limit is 50%; 1 of 5 ejected would be over max-ejection-percent 10",
	}, f.log)
}

func TestDecayShortensTheNextEjectionByOneStepPerQuietInterval(t *testing.T) {
	for _, decay := range []bool{false, true} {
		c := interval()
		c.Consecutive5xx, c.EjectionDecay = 3, decay
		f := newFleet(c, 1)
		now := at(0)
		for range 3 { // out for 30, 60 and 90 s
			f.respond(now, 0, 3, broken)
			for f.ejected() != "" {
				now = f.d.Next()
				f.advance(now)
			}
		}
		for range 2 { // two quiet intervals
			now = f.d.Next()
			f.advance(now)
		}
		f.respond(now, 0, 3, broken)
		want := map[bool]string{false: "2m0s", true: "1m0s"}[decay]
		assert.Contains(t, f.log[len(f.log)-1], "ejected for "+want+" (ejection 4)")
	}
}

func TestDecayStartsFromTheLongestEjectionNotFromTheCount(t *testing.T) {
	c := interval()
	c.Consecutive5xx, c.EjectionDecay, c.MaxEjection = 3, true, 60*time.Second
	f := newFleet(c, 1)
	for range 20 {
		f.respond(f.d.Next(), 0, 3, broken)
		for f.ejected() != "" {
			f.advance(f.d.Next())
		}
	}
	f.advance(f.d.Next())
	f.respond(f.d.Next()-1, 0, 3, broken)
	assert.Contains(t, f.log[len(f.log)-1], "ejected for 30s (ejection 21)")
}

// TestAnAfternoonReadsAsProse is the whole machine on five backends, with
// Envoy's figures: b fails everything for a while, e is merely bad.
func TestAnAfternoonReadsAsProse(t *testing.T) {
	c := interval()
	c.Consecutive5xx, c.SuccessRateStdev, c.EjectionDecay, c.MaxEjectionPercent = 5, 1.9, true, 20
	f := newFleet(c, 5)
	for second := range 300 {
		now := at(float64(second))
		f.advance(now)
		for slot := range 5 {
			bad := 0
			switch {
			case slot == 1 && 15 <= second && second < 120:
				bad = 12
			case slot == 4:
				bad = 3
			}
			if f.out[slot] {
				continue
			}
			f.respond(now, slot, bad, broken)
			f.respond(now, slot, 12-bad, ok)
		}
	}
	golden(t, "testdata/afternoon.txt", strings.Join(f.log, "\n")+"\n")
}
