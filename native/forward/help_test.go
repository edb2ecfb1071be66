package forward

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"minilb/core/lb"
	"minilb/core/retry"
	"minilb/core/scenario"
)

// answers is an Upstream with a function for each backend, and a count.
type answers struct {
	mu    sync.Mutex
	by    map[string]func(r *http.Request) (*http.Response, error)
	calls map[string]int
}

// RoundTrip shows an attempt as a backend on net/http would see it.
func (a *answers) RoundTrip(ctx context.Context, b lb.Backend, o *Outgoing) (Response, error) {
	a.mu.Lock()
	a.calls[b.Name]++
	a.mu.Unlock()
	r := httptest.NewRequestWithContext(ctx, o.Method, o.Target, o.Body)
	r.Host, r.Header, r.ContentLength = o.Host, o.Header.Clone(), o.Length
	for i := 0; i < len(o.Extra); i += 2 {
		r.Header.Add(o.Extra[i], o.Extra[i+1])
	}
	resp, err := a.by[b.Name](r)
	if err != nil {
		return nil, err
	}
	return pretended{resp.Body, resp}, nil
}

// pretended is an answer without a connection.
type pretended struct {
	io.ReadCloser
	resp *http.Response
}

func (p pretended) Head() (int, http.Header, int64) {
	for name := range p.resp.Trailer {
		p.resp.Header.Add("Trailer", name)
	}
	return p.resp.StatusCode, p.resp.Header, p.resp.ContentLength
}
func (p pretended) Trailer() http.Header { return p.resp.Trailer }

func (a *answers) called(name string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.calls[name]
}

func response(status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"text/plain"}},
		ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)),
	}
}

func status(n int) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) { return response(n, http.StatusText(n)), nil }
}

func fails(kind lb.Kind, why string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) { return nil, &Failure{Kind: kind, Why: why} }
}

// echo answers with the body it got.
func echo(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return response(200, string(body)), nil
}

// A lab is a handler over pretended backends.
type lab struct {
	*Handler
	up *answers
}

// newLab makes a handler over backends a, b… in this order; turns go a first.
func newLab(t testing.TB, change func(*scenario.Balancer), by ...func(*http.Request) (*http.Response, error)) *lab {
	t.Helper()
	s := scenario.Default()
	c := s.Balancer
	c.Retries, c.BudgetWait = 1, 0
	if change != nil {
		change(&c)
	}
	start := time.Now()
	now := func() lb.Time { return lb.Time(time.Since(start)) }
	up := &answers{by: map[string]func(*http.Request) (*http.Response, error){}, calls: map[string]int{}}
	var backends []lb.Backend
	for i, f := range by {
		name := string(rune('a' + i))
		up.by[name] = f
		backends = append(backends, lb.Backend{Name: name, Address: name + ".test:80", Weight: 1})
	}
	pool, err := c.NewPool(now(), "round_robin", backends, scenario.Outfit{})
	require.NoError(t, err)
	plan, err := c.RetryConfig.Plan()
	require.NoError(t, err)
	h := &Handler{
		Pool: pool, Plan: plan, Budget: retry.NewBudget(c.RetryConfig), Upstream: up, Now: now,
		Rand: func() uint64 { return 1 }, RetryBuffer: 64 << 10, StickyCookie: c.StickyCookie,
	}
	if c.Queue > 0 {
		h.QueueTimeout = c.QueueTimeout
	}
	t.Cleanup(func() { requireQuiet(t, h) })
	return &lab{h, up}
}

// requireQuiet says that nothing is in flight: every lease came back.
func requireQuiet(t testing.TB, h *Handler) {
	t.Helper()
	require.Zero(t, h.Pool.Counts().InFlight, "requests in flight after the test")
	require.Zero(t, h.Budget.Requests(), "requests that did not leave the budget")
	require.Zero(t, h.Budget.Retries(), "retries that did not leave the budget")
}

func (l *lab) do(method, target, body string, header ...string) *http.Response {
	var r *http.Request
	if body == "" {
		r = httptest.NewRequest(method, target, nil)
	} else {
		r = httptest.NewRequest(method, target, strings.NewReader(body))
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	l.ServeHTTP(w, r)
	return w.Result()
}

func text(t testing.TB, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(body)
}
