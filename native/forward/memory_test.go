package forward

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"minilb/core/scenario"
)

// TestRequestsThatShareAMemoryShareNothingElse: what one of them was is not to
// be seen in the next.
func TestRequestsThatShareAMemoryShareNothingElse(t *testing.T) {
	l := newLab(t, func(b *scenario.Balancer) { b.StickyCookie = "S" }, status(502), echo)
	var m Memory
	for range 3 {
		for _, way := range []struct{ method, host, body, trail, note string }{
			{"PUT", "one", "some text", "a:502,b:200", ""},
			{"POST", "two", "", "a:502", "not retried: POST is not idempotent"},
			{"PUT", "three", "other", "b:200", ""},
			{"POST", "four", "", "a:502", "not retried: POST is not idempotent"},
			{"DELETE", "five", "last", "b:200", ""},
		} {
			w := httptest.NewRecorder()
			r := &Request{Method: way.method, Target: "/", Host: way.host, Header: http.Header{}, Remote: "192.0.2.1:1", Major: 1, Minor: 1, Memory: &m}
			if way.body != "" {
				r.Body, r.Length = strings.NewReader(way.body), int64(len(way.body))
			}
			l.Forward(context.Background(), w, r)
			assert.Equal(t, way.trail, w.Header().Get("x-minilb-attempts"))
			assert.Equal(t, way.note, w.Header().Get("x-minilb-note"))
			if way.note == "" {
				assert.Equal(t, way.body, w.Body.String())
			}
		}
	}
}

func TestForwardedFollowsTheClientAndTheHost(t *testing.T) {
	var m Memory
	for _, want := range []string{`for=1.2.3.4;proto=http;host="a"`, `for=1.2.3.4;proto=http;host="b"`, `for=1.2.3.5;proto=https;host="b"`, `for=1.2.3.4;proto=http;host="a"`} {
		ip, rest, _ := strings.Cut(strings.TrimPrefix(want, "for="), ";")
		host := strings.Trim(rest[strings.LastIndex(rest, "=")+1:], `"`)
		assert.Equal(t, want, m.forwarded(&Request{Host: host, Secure: strings.Contains(rest, "https")}, ip))
	}
}

// A limiter is a context with limits of its own.
type limiter struct {
	context.Context
	late     bool
	limits   []time.Duration
	unlimits int
}

func (l *limiter) Limit(d time.Duration) { l.limits, l.late = append(l.limits, d), true }
func (l *limiter) Unlimit()              { l.unlimits++; l.late = false }

func (l *limiter) Err() error {
	if l.late {
		return context.DeadlineExceeded
	}
	return nil
}

func TestContextWithLimitsEndsItsAttemptsItself(t *testing.T) {
	late := func(r *http.Request) (*http.Response, error) { return nil, r.Context().Err() }
	l := newLab(t, func(b *scenario.Balancer) { b.PerTryTimeout, b.RetryOn = time.Second, []string{"timeout"} }, late, status(200))
	ctx := &limiter{Context: context.Background()}
	w := httptest.NewRecorder()
	l.Forward(ctx, w, &Request{Method: "GET", Target: "/", Header: http.Header{}, Remote: "192.0.2.1:1", Major: 1, Minor: 1})
	assert.Equal(t, "a:timeout,b:200", w.Header().Get("x-minilb-attempts"))
	assert.Equal(t, []time.Duration{time.Second, time.Second}, ctx.limits)
	assert.Equal(t, 2, ctx.unlimits)
}
