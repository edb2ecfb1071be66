package lb_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"minilb/core/lb"
)

func TestNamesMayStandInLinksCookiesAndMetrics(t *testing.T) {
	for _, name := range []string{"a", "b1", "B-1", "eu_west-1", strings.Repeat("x", 32)} {
		assert.True(t, lb.ValidName(name), name)
	}
	for _, name := range []string{"", "-a", "a-", "_a", "a b", "a,b", "a=b", "a.b", "ü", "a\n", "a;b", strings.Repeat("x", 33)} {
		assert.False(t, lb.ValidName(name), name)
	}
}

func TestABackendThatCannotBeUsedIsRefusedWithWhatWouldBe(t *testing.T) {
	cases := []struct {
		backend lb.Backend
		want    string
	}{
		{lb.Backend{Weight: 1}, "backend without a name; accepted: 1 to 32 letters, digits, - or _"},
		{lb.Backend{Name: "a b", Weight: 1}, `backend name "a b"; accepted: 1 to 32 letters, digits, - or _, starting and ending with a letter or digit`},
		{lb.Backend{Name: "a"}, "backend a: weight 0 outside 1 to 1000"},
		{lb.Backend{Name: "a", Weight: 1001}, "backend a: weight 1001 outside 1 to 1000"},
	}
	for _, c := range cases {
		assert.EqualError(t, c.backend.Check(), c.want)
	}
	assert.NoError(t, lb.Backend{Name: "a", Weight: 1000}.Check())
}

func TestTimeEndsAtNever(t *testing.T) {
	assert.Equal(t, lb.Time(1500), lb.Time(1000).Add(500))
	assert.Equal(t, lb.Never, lb.Never.Add(time.Hour))
	assert.Equal(t, lb.Never, (lb.Never - 5).Add(6))
	assert.Equal(t, lb.Never-1, (lb.Never - 2).Add(1))
	assert.Equal(t, lb.Time(-5), lb.Time(0).Add(-5))
	assert.Equal(t, "1.608", lb.Time(1608*time.Millisecond).String())
	assert.Equal(t, "never", lb.Never.String())
	assert.Equal(t, 2*time.Second, (3 * second).Sub(second))
}

func TestWhatCountsAsAFailure(t *testing.T) {
	cases := []struct {
		outcome         lb.Outcome
		failed, gateway bool
		text            string
	}{
		{lb.Outcome{Status: 200}, false, false, "200"},
		{lb.Outcome{Status: 404}, false, false, "404"},
		{lb.Outcome{Status: 499}, false, false, "499"},
		{lb.Outcome{Status: 500}, true, false, "500"},
		{lb.Outcome{Status: 501}, true, false, "501"},
		{lb.Outcome{Status: 502}, true, true, "502"},
		{lb.Outcome{Status: 504}, true, true, "504"},
		{lb.Outcome{Status: 505}, true, false, "505"},
		{lb.Outcome{Kind: lb.Refused}, true, true, "refused"},
		{lb.Outcome{Kind: lb.TimedOut}, true, true, "timeout"},
		{lb.Outcome{Kind: lb.Broken}, true, true, "broken"},
		{lb.Outcome{Kind: lb.Cancelled}, false, false, "cancelled"},
	}
	for _, c := range cases {
		assert.Equal(t, c.failed, c.outcome.Failed(), c.text)
		assert.Equal(t, c.gateway, c.outcome.Gateway(), c.text)
		assert.Equal(t, c.text, c.outcome.String())
	}
}

func TestEachKindOfEventHasItsWord(t *testing.T) {
	seen := map[string]bool{}
	for w := lb.WentDown; w <= lb.PanicEnded; w++ {
		assert.NotEmpty(t, w.String())
		assert.False(t, seen[w.String()], "%s twice", w)
		seen[w.String()] = true
	}
	assert.Equal(t, "t=1.500 pool panic: why", lb.Event{At: 3 * second / 2, What: lb.PanicBegan, Reason: "why"}.String())
}

func TestLatencyJumpsUpAndDecaysDown(t *testing.T) {
	l := lb.NewLatencies(10 * time.Second)
	assert.Zero(t, l.At(0, 3), "nothing seen")
	l.Observe(0, 3, 100*time.Millisecond)
	assert.Equal(t, 100e6, l.At(0, 3))
	l.Observe(0, 3, 300*time.Millisecond)
	assert.Equal(t, 300e6, l.At(0, 3), "a peak counts at once")
	assert.InEpsilon(t, 300e6*0.36788, l.At(10*second, 3), 1e-4, "63% forgotten in one decay time")
	l.Observe(10*second, 3, 10*time.Millisecond)
	assert.InEpsilon(t, 300e6*0.36788+10e6*0.63212, l.At(10*second, 3), 1e-4)
	assert.Zero(t, l.At(0, 4), "slots are apart")
}

// Two callers read their clocks and then observe in the other order.
func TestLatencyDoesNotGrowWhenClocksAreOutOfOrder(t *testing.T) {
	l := lb.NewLatencies(time.Second)
	l.Observe(5*second, 0, 100*time.Millisecond)
	assert.Equal(t, 100e6, l.At(4*second, 0))
	l.Observe(4*second, 0, 10*time.Millisecond)
	assert.Equal(t, 100e6, l.At(4*second, 0))
}
