package retry_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/lb"
	"minilb/core/param"
	"minilb/core/retry"
)

const ms = lb.Time(time.Millisecond)

// inOrder picks the first backend that the request has not tried.
type inOrder struct{ set *lb.Set }

func (p inOrder) Pick(q lb.Query) int { return p.set.UsableFrom(0, &q) }

func newPool(backends int) *lb.Pool {
	var list []lb.Backend
	for i := range backends {
		list = append(list, lb.Backend{Name: string(rune('a' + i)), Weight: 1})
	}
	pool, err := lb.New(0, lb.Config{}, lb.Parts{Pickers: func(s *lb.Set) lb.Picker { return inOrder{s} }}, list)
	if err != nil {
		panic(err)
	}
	return pool
}

// config is two retries of whatever may be retried, and room for ten at once.
func config() retry.Config {
	return retry.Config{Retries: 2, RetryOn: []string{"connect-failure", "gateway-error"}, BackoffMax: time.Second, BudgetPercent: 20, MinRetryConcurrency: 10}
}

func plan(t require.TestingT, c retry.Config) *retry.Plan {
	p, err := c.Plan()
	require.NoError(t, err)
	return p
}

// A call is one request against a pool, with its own budget.
type call struct {
	life   retry.Life
	pool   *lb.Pool
	budget *retry.Budget
}

func begin(t require.TestingT, c retry.Config, method string, deadline lb.Time) *call {
	b := retry.NewBudget(c)
	return &call{life: plan(t, c).Begin(b, method, deadline), pool: newPool(4), budget: b}
}

// attempt sends the request and says what comes after the outcome, and to whom
// it went.
func (c *call) attempt(now lb.Time, o lb.Outcome) (retry.Action, string) {
	lease, err := c.pool.Acquire(now, lb.Query{Tried: c.life.Tried})
	if err != nil {
		return c.life.NoBackend(err), ""
	}
	c.life.Sent(now, lease)
	c.pool.Release(now, lease, o)
	return c.life.After(now, o, 1<<63), lease.Name()
}

var (
	ok       = lb.Outcome{Status: 200}
	status   = func(s int) lb.Outcome { return lb.Outcome{Status: s} }
	refused  = lb.Outcome{Kind: lb.Refused}
	timedOut = lb.Outcome{Kind: lb.TimedOut}
	broken   = lb.Outcome{Kind: lb.Broken}
	left     = lb.Outcome{Kind: lb.Cancelled}
)

// TestWhatMayBeRetried is the whole table: every kind of outcome under every
// trigger, for a method that may be repeated and one that may not.
func TestWhatMayBeRetried(t *testing.T) {
	outcomes := []lb.Outcome{ok, status(404), status(499), status(500), status(501), status(502), status(503), status(504), status(599), refused, timedOut, broken, left}
	yes := map[string]string{ // trigger: outcomes
		"connect-failure": "refused",
		"gateway-error":   "502 503 504 timeout broken",
		"5xx":             "500 501 502 503 504 599 timeout broken",
		"timeout":         "timeout",
	}
	for trigger, retried := range yes {
		c := config()
		c.RetryOn = []string{trigger}
		for _, o := range outcomes {
			want := slices.Contains(strings.Fields(retried), o.String())
			get, _ := begin(t, c, "GET", lb.Never).attempt(0, o)
			assert.Equal(t, want, get.Do == retry.Try, "GET, %s on %s", o, trigger)
			assert.Empty(t, get.Note, "GET, %s on %s", o, trigger)

			post, _ := begin(t, c, "POST", lb.Never).attempt(0, o)
			assert.Equal(t, want && o.Kind == lb.Refused, post.Do == retry.Try, "POST, %s on %s", o, trigger)
			if want && o.Kind != lb.Refused {
				assert.Equal(t, retry.Action{Note: "not retried: POST is not idempotent"}, post)
			} else {
				assert.Empty(t, post.Note, "POST, %s on %s", o, trigger)
			}
		}
	}
}

func TestWhichMethodsMayBeRepeated(t *testing.T) {
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"} {
		assert.True(t, retry.Idempotent(method), method)
	}
	for _, method := range []string{"POST", "PATCH", "CONNECT", "get", "Put", "", "GET ", "PROPFIND", "QUERY"} {
		assert.False(t, retry.Idempotent(method), method)
	}
}

func TestAFailedConnectionIsRetriedForAnyMethod(t *testing.T) {
	for _, method := range []string{"GET", "POST", "PATCH", "CONNECT", "BREW", ""} {
		a, _ := begin(t, config(), method, lb.Never).attempt(0, refused)
		assert.Equal(t, retry.Try, a.Do, method)
	}
}

func TestALongMethodDoesNotMakeALongNote(t *testing.T) {
	a, _ := begin(t, config(), "THISISALONGMETHODNAMEINDEED", lb.Never).attempt(0, status(503))
	assert.Equal(t, "not retried: THISISALONGMETHODNAM is not idempotent", a.Note)
}

func TestEveryAttemptGoesToAnotherBackendUntilTheyAreUsedUp(t *testing.T) {
	for retries := range 3 {
		conf := config()
		conf.Retries = retries
		c := begin(t, conf, "GET", lb.Never)
		went, a := "", retry.Action{Do: retry.Try}
		for a.Do == retry.Try {
			var name string
			a, name = c.attempt(0, status(503))
			went += name
		}
		assert.Equal(t, "abc"[:retries+1], went)
		assert.Equal(t, retry.Action{}, a, "the last answer goes out as it is")
		assert.Equal(t, retries+1, c.life.Attempts())
	}
}

func TestWithNobodyLeftTheAnswerGoesOutAndTheRoomIsGivenBack(t *testing.T) {
	c := begin(t, config(), "GET", lb.Never)
	c.pool = newPool(1)
	a, _ := c.attempt(0, status(503))
	require.Equal(t, retry.Try, a.Do)
	assert.Equal(t, 1, c.budget.Retries())
	a, _ = c.attempt(0, status(503))
	assert.Equal(t, retry.Action{Note: "not retried: no other backend"}, a)
	assert.Zero(t, c.budget.Retries())
}

func TestAShellsOwnReasonEndsTheRetries(t *testing.T) {
	c := begin(t, config(), "PUT", lb.Never)
	a, _ := c.attempt(0, refused)
	require.Equal(t, retry.Try, a.Do)
	assert.Equal(t, retry.Action{Note: "not retried: the body is larger than 1 MiB"}, c.life.Forbid("the body is larger than 1 MiB"))
	assert.Zero(t, c.budget.Retries())
}

func TestAnAttemptIsGivenUpAtItsOwnLimitOrTheRequests(t *testing.T) {
	cases := []struct {
		perTry   time.Duration
		deadline lb.Time
		want     lb.Time
	}{
		{0, lb.Never, lb.Never},
		{0, 50 * ms, 50 * ms},
		{20 * time.Millisecond, lb.Never, 30 * ms},
		{20 * time.Millisecond, 50 * ms, 30 * ms},
		{20 * time.Millisecond, 25 * ms, 25 * ms},
	}
	for _, c := range cases {
		conf := config()
		conf.PerTryTimeout = c.perTry
		life := plan(t, conf).Begin(retry.NewBudget(conf), "GET", c.deadline)
		lease, err := newPool(1).Acquire(0, lb.Query{})
		require.NoError(t, err)
		assert.Equal(t, c.want, life.Sent(10*ms, lease), "%+v", c)
	}
}

func TestARetryMustFitTheRequestsOwnTime(t *testing.T) {
	cases := []struct {
		perTry   time.Duration
		now      lb.Time
		deadline lb.Time
		want     string
	}{
		{20 * time.Millisecond, 30 * ms, lb.Never, ""},
		{20 * time.Millisecond, 30 * ms, 50 * ms, ""}, // exactly
		{20 * time.Millisecond, 31 * ms, 50 * ms, "not retried: 19ms left of the request's time, another attempt may take 20ms"},
		{20 * time.Millisecond, 50 * ms, 50 * ms, "not retried: no time left for another attempt"},
		{20 * time.Millisecond, 60 * ms, 50 * ms, "not retried: no time left for another attempt"},
		{0, 49 * ms, 50 * ms, ""},
		{0, 50 * ms, 50 * ms, "not retried: no time left for another attempt"},
	}
	for _, c := range cases {
		conf := config()
		conf.PerTryTimeout = c.perTry
		a, _ := begin(t, conf, "GET", c.deadline).attempt(c.now, status(503))
		assert.Equal(t, c.want, a.Note, "%+v", c)
		assert.Equal(t, c.want == "", a.Do == retry.Try, "%+v", c)
	}
}

func TestTheBackOffCountsAgainstTheRequestsTime(t *testing.T) {
	conf := config()
	conf.PerTryTimeout, conf.Backoff = 20*time.Millisecond, 20*time.Millisecond
	c := begin(t, conf, "GET", 50*ms)
	a, _ := c.attempt(20*ms, status(503)) // half of 20 ms by this word: 30 ms + 20 ms
	assert.Equal(t, retry.Action{Do: retry.Wait, At: 30 * ms}, a)
	c = begin(t, conf, "GET", 50*ms)
	a, _ = c.attempt(21*ms, status(503))
	assert.Equal(t, "not retried: 19ms left of the request's time, another attempt may take 20ms", a.Note)
	assert.Zero(t, c.budget.Retries())
}

// Full jitter: the n-th retry waits anywhere from 0 to base × 2^n, at most max.
func TestTheBackOffIsDrawnFromZeroToADoublingBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		conf := config()
		conf.Retries = 10
		conf.Backoff = time.Duration(rapid.Int64Range(1, int64(10*time.Minute)).Draw(t, "base"))
		conf.BackoffMax = time.Duration(rapid.Int64Range(0, int64(10*time.Minute)).Draw(t, "max"))
		c := begin(t, conf, "GET", lb.Never)
		c.pool = newPool(11)
		bound := conf.Backoff
		for range 10 {
			lease, err := c.pool.Acquire(0, lb.Query{Tried: c.life.Tried})
			require.NoError(t, err)
			c.life.Sent(0, lease)
			a := c.life.After(0, status(503), rapid.Uint64().Draw(t, "rand"))
			assert.Contains(t, []retry.Do{retry.Try, retry.Wait}, a.Do)
			assert.True(t, 0 <= a.At && a.At <= lb.Time(min(bound, conf.BackoffMax)), "%s of at most %s", a.At, bound)
			bound *= 2
		}
	})
}

func TestTheBackOffUsesTheWholeOfItsRange(t *testing.T) {
	conf := config()
	conf.Backoff = 100 * time.Millisecond
	for _, c := range []struct {
		rand uint64
		want lb.Time
	}{{0, 0}, {1 << 62, 25 * ms}, {1 << 63, 50 * ms}, {1<<64 - 1, 100*ms - 1}} {
		call := begin(t, conf, "GET", lb.Never)
		lease, _ := call.pool.Acquire(0, lb.Query{})
		call.life.Sent(0, lease)
		assert.Equal(t, c.want, call.life.After(0, status(503), c.rand).At)
	}
}

func TestRoomIsHeldForARetryOnlyAndGivenBackWithItsAnswer(t *testing.T) {
	c := begin(t, config(), "GET", lb.Never)
	assert.Equal(t, 1, c.budget.Requests())
	assert.Zero(t, c.budget.Retries(), "a first attempt is no retry")
	c.attempt(0, status(503))
	assert.Equal(t, 1, c.budget.Retries())
	c.attempt(0, status(503))
	assert.Equal(t, 1, c.budget.Retries(), "the second retry takes the first one's place")
	c.attempt(0, ok)
	assert.Zero(t, c.budget.Retries())
	c.life.End()
	assert.Zero(t, c.budget.Requests())
}

func TestEndGivesBackWhateverTheRequestHolds(t *testing.T) {
	conf := config()
	conf.Backoff = time.Second
	c := begin(t, conf, "GET", lb.Never)
	a, _ := c.attempt(0, status(503))
	require.Equal(t, retry.Wait, a.Do)
	c.life.End() // the client left during the back-off
	assert.Zero(t, c.budget.Retries())
	assert.Zero(t, c.budget.Requests())
}

func TestEndTwiceIsAProgrammersMistake(t *testing.T) {
	c := begin(t, config(), "GET", lb.Never)
	c.life.End()
	assert.PanicsWithValue(t, "retry: End of a Life that has ended, or that never began", func() { c.life.End() })
	assert.Zero(t, c.budget.Requests())
}

func TestAnUnknownTriggerIsRefusedWithTheOnesThatExist(t *testing.T) {
	_, err := retry.Config{RetryOn: []string{"5xx", "reset"}}.Plan()
	assert.EqualError(t, err, `retry-on=reset: unknown; accepted: connect-failure, gateway-error, 5xx, timeout`)
	_, err = retry.Config{}.Plan()
	assert.NoError(t, err)
}

func FuzzPlan(f *testing.F) {
	for _, name := range []string{"connect-failure", "gateway-error", "5xx", "timeout", "", "5XX", "\xff"} {
		f.Add(name)
	}
	known := map[string]bool{"connect-failure": true, "gateway-error": true, "5xx": true, "timeout": true}
	f.Fuzz(func(t *testing.T, name string) {
		p, err := retry.Config{RetryOn: []string{name}}.Plan()
		assert.Equal(t, known[name], err == nil)
		assert.Equal(t, known[name], p != nil)
		if err != nil {
			var fault *param.Error
			require.ErrorAs(t, err, &fault)
			assert.Equal(t, name, fault.Value)
		}
	})
}

func TestALifeAllocatesNothing(t *testing.T) {
	conf := config()
	p, b, pool := plan(t, conf), retry.NewBudget(conf), newPool(3)
	lease, err := pool.Acquire(0, lb.Query{})
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		life := p.Begin(b, "GET", lb.Never)
		life.Sent(0, lease)
		life.After(0, status(503), 1)
		life.End()
	}))
}
