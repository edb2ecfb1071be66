package forward

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
	"minilb/core/scenario"
)

func TestRetryGoesToAnotherBackend(t *testing.T) {
	l := newLab(t, nil, status(502), status(200))
	r := l.do("GET", "/", "")
	assert.Equal(t, 200, r.StatusCode)
	assert.Equal(t, "b", r.Header.Get("x-minilb-backend"))
	assert.Equal(t, "a:502,b:200", r.Header.Get("x-minilb-attempts"))
	assert.Empty(t, r.Header.Get("x-minilb-note"))
}

func TestSkippedRetryIsExplained(t *testing.T) {
	big := strings.Repeat("x", 5_000_000)
	cases := []struct {
		claim        string
		change       func(*scenario.Balancer)
		method, body string
		backends     int
		note, trail  string
	}{
		{"a POST may have been carried out", nil, "POST", "order", 2, "not retried: POST is not idempotent", "a:503"},
		{"a budget of nothing", func(b *scenario.Balancer) { b.BudgetPercent, b.MinRetryConcurrency = 0, 0 }, "GET", "", 2, "not retried: retry budget exhausted", "a:503"},
		{"nobody else", nil, "GET", "", 1, "not retried: no other backend", "a:503"},
		{"a body that was not kept", nil, "PUT", big, 2, "not retried: body of 5 MB is over --retry-buffer", "a:503"},
		{"no retries, no question", func(b *scenario.Balancer) { b.Retries = 0 }, "GET", "", 2, "", "a:503"},
	}
	for _, c := range cases {
		t.Run(c.claim, func(t *testing.T) {
			failing := func(r *http.Request) (*http.Response, error) {
				_, err := echo(r) // reads the body, then fails
				require.NoError(t, err)
				return response(503, "the answer of a"), nil
			}
			by := []func(*http.Request) (*http.Response, error){failing, status(200)}[:c.backends]
			l := newLab(t, c.change, by...)
			r := l.do(c.method, "/", c.body)
			assert.Equal(t, 503, r.StatusCode)
			assert.Equal(t, "the answer of a", text(t, r), "the original answer goes out, body included")
			assert.Equal(t, c.note, r.Header.Get("x-minilb-note"))
			assert.Equal(t, c.trail, r.Header.Get("x-minilb-attempts"))
			assert.Zero(t, l.up.called("b"))
		})
	}
}

func TestLastAnswerGoesOutWhenRetriesAreUsedUp(t *testing.T) {
	l := newLab(t, nil, status(502), status(504), status(200))
	r := l.do("GET", "/", "")
	assert.Equal(t, 504, r.StatusCode)
	assert.Equal(t, "a:502,b:504", r.Header.Get("x-minilb-attempts"))
	assert.Equal(t, "Gateway Timeout", text(t, r))
}

func TestRefusedConnectionIsRetriedForAnyMethodWithItsWholeBody(t *testing.T) {
	l := newLab(t, nil, fails(lb.Refused, "connection refused"), echo)
	body := strings.Repeat("0123456789", 100_000) // far over the retry buffer, but nothing of it was sent
	r := l.do("POST", "/", body)
	assert.Equal(t, 200, r.StatusCode)
	assert.Equal(t, "a:refused,b:200", r.Header.Get("x-minilb-attempts"))
	assert.Equal(t, body, text(t, r))
}

func TestKeptBodyIsSentAgainWhole(t *testing.T) {
	half := func(r *http.Request) (*http.Response, error) {
		_, err := r.Body.Read(make([]byte, 5)) // the connection breaks half-way
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		return nil, &Failure{Kind: lb.Broken, Why: "reset"}
	}
	l := newLab(t, nil, half, echo)
	r := l.do("PUT", "/", "0123456789")
	assert.Equal(t, "0123456789", text(t, r))
	assert.Equal(t, "a:broken,b:200", r.Header.Get("x-minilb-attempts"))
}

func TestNoAnswerIsSaidInOneLine(t *testing.T) {
	cases := []struct {
		kind   lb.Kind
		status int
		trail  string
	}{{lb.Refused, 502, "a:refused"}, {lb.Broken, 502, "a:broken"}, {lb.TimedOut, 504, "a:timeout"}}
	for _, c := range cases {
		l := newLab(t, func(b *scenario.Balancer) { b.Retries = 0 }, fails(c.kind, "this is why"))
		r := l.do("GET", "/", "")
		assert.Equal(t, c.status, r.StatusCode)
		assert.Equal(t, "backend a: this is why\n", text(t, r))
		assert.Equal(t, c.trail, r.Header.Get("x-minilb-attempts"))
		assert.Equal(t, "a", r.Header.Get("x-minilb-backend"))
		assert.Equal(t, uint64(1), l.Pool.Status(l.Now())[0].Failures)
	}
}

func TestNoBackendIsSaidAtOnce(t *testing.T) {
	l := newLab(t, nil)
	r := l.do("GET", "/", "")
	assert.Equal(t, 503, r.StatusCode)
	assert.Equal(t, "no healthy upstream\n", text(t, r))
	assert.NotEmpty(t, r.Header.Get("Retry-After"))
}
