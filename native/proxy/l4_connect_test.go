package proxy

import (
	"crypto/tls"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (s *stack) waiting(n int) {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return s.pool.Counts().Waiting == n }, 5*time.Second, time.Millisecond)
}

// cutOff says that a connection ends without a word.
func cutOff(t testing.TB, c net.Conn) {
	t.Helper()
	n, err := c.Read(make([]byte, 1))
	assert.Zero(t, n)
	assert.Error(t, err)
	assert.False(t, isTimeout(err))
}

func TestL4BackendsTakeAtMostMaxInflightConnections(t *testing.T) {
	s := newStackOver(t, l4(func(c *Config) { c.MaxInflight = 1 }), serveConns(t, named("b1")), serveConns(t, named("b2")))
	first, second := s.dial(), s.dial()
	assert.ElementsMatch(t, []string{"b1", "b2"}, []string{greeting(t, first), greeting(t, second)})
	cutOff(t, s.dial())
	require.NoError(t, first.Close())
	require.Eventually(t, func() bool { return s.pool.Counts().InFlight == 1 }, 5*time.Second, time.Millisecond)
	greeting(t, s.dial())
}

func TestL4ConnectionsWaitInTheQueueForAPlace(t *testing.T) {
	s := newStackOver(t, l4(func(c *Config) { c.MaxInflight, c.Queue, c.QueueTimeout = 1, 2, 20*time.Second }), serveConns(t, named("b1")))
	first := s.dial()
	greeting(t, first)
	second := s.dial()
	s.waiting(1)
	third := s.dial()
	s.waiting(2)
	cutOff(t, s.dial()) // the queue is full
	for _, next := range []*net.TCPConn{second, third} {
		require.NoError(t, first.Close())
		assert.Equal(t, "b1", greeting(t, next), "first come, first served")
		first = next
	}
	require.NoError(t, third.Close())
	assert.Contains(t, s.adminDo("GET", "metrics"), "minilb_queue_wait_seconds_count 2\n")
}

func TestL4QueueGivesUpAtItsDeadlineAndAtTheEnd(t *testing.T) {
	s := newStackOver(t, l4(func(c *Config) { c.MaxInflight, c.Queue, c.QueueTimeout = 1, 2, 50*time.Millisecond }), serveConns(t, named("b1")))
	greeting(t, s.dial())
	began := time.Now()
	cutOff(t, s.dial())
	assert.GreaterOrEqual(t, time.Since(began), 50*time.Millisecond)

	c := Default()
	l4(func(c *Config) { c.MaxInflight, c.Queue, c.QueueTimeout, c.ShutdownTimeout = 1, 2, time.Minute, 0 })(&c)
	c.Listen = "127.0.0.1:0"
	require.NoError(t, ptr(&c).UnmarshalText([]byte("b1="+s.addresses[0])))
	p, err := Start(c, Options{Log: &logBuffer{}})
	require.NoError(t, err)
	other := &stack{Proxy: p, t: t}
	greeting(t, other.dial())
	late := other.dial()
	other.waiting(1)
	assert.Equal(t, 2, p.Stop(), "it does not wait for the queue")
	cutOff(t, late)
}

func TestL4RetriesKeepToTheBudget(t *testing.T) {
	dead := func() string { return deadAddress(t) }
	s := newStackOver(t, l4(func(c *Config) {
		c.Retries, c.BudgetPercent, c.MinRetryConcurrency, c.BudgetWait = 3, 0, 1, 0
	}), dead(), dead(), serveConns(t, named("b3")))
	for range 3 { // one after the other: one retry at a time, and it ends with the connecting
		c := s.dial()
		assert.Equal(t, "b3", greeting(t, c))
		defer c.Close()
	}
	assert.Zero(t, s.handler().Budget.Retries(), "connections that live on hold no room")
	assert.Equal(t, 3, s.handler().Budget.Requests())

	none := newStackOver(t, l4(func(c *Config) { c.Retries, c.BudgetPercent, c.MinRetryConcurrency, c.BudgetWait = 3, 0, 0, 0 }), dead(), serveConns(t, named("b2")))
	cutOff(t, none.dial()) // b1 refuses, and the budget has no room
	assert.Equal(t, "b2", greeting(t, none.dial()))
}

func TestL4RefusesFlagsThatWouldHaveNoEffect(t *testing.T) {
	c := Default()
	require.NoError(t, ptr(&c).UnmarshalText([]byte("b1=127.0.0.1:1")))
	c.Layer, c.HashOn, c.RequestTimeout, c.Via = "l4", "header:X-User", time.Second, true
	err := c.Check()
	for _, flag := range []string{"hash-on", "request-timeout", "via"} {
		assert.ErrorContains(t, err, "--"+flag+": it is about requests, and l4 sees connections alone; accepted: --layer l7 with it")
	}
	names := map[string]bool{}
	for _, p := range c.Params().All() {
		names[p.Name] = true
	}
	for _, name := range aboutRequests {
		assert.True(t, names[name], "%s is a parameter", name)
	}
}

// TestL4CarriesWhateverHTTPIsSpoken: what passes unread includes HTTP/2, TLS
// and keep-alive of a real client.
func TestL4CarriesWhateverHTTPIsSpoken(t *testing.T) {
	k := newCertificate(t)
	secured := serveWith(t, &http.Server{Handler: http.HandlerFunc(protocols), TLSConfig: &tls.Config{Certificates: []tls.Certificate{k.pair}}, ErrorLog: discardLog()})
	s := newStackOver(t, l4(nil), secured)
	client := tlsClient(t, k)
	for range 3 {
		r, err := client.Get("https://" + s.Addr() + "/a")
		assert.Equal(t, "HTTP/2.0 true  /a", body(t, r, err))
	}
	assert.Equal(t, uint64(1), s.pool.Status(s.now())[0].Attempts, "one connection, one choice")
	client.CloseIdleConnections()
}
