package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func quiet(c *Config) { c.CheckInterval, c.Consecutive5xx = 0, 0 }

func TestRefusedConnectionIsRetriedElsewhere(t *testing.T) {
	s := newStackOver(t, quiet, deadAddress(t), serveBackend(t, "b2", 0))
	body := bytes.Repeat([]byte("x"), 1<<20)
	for range 3 {
		r, err := s.client.Post("http://"+s.Addr()+"/orders", "text/plain", bytes.NewReader(body))
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, r.Body)
		require.NoError(t, r.Body.Close())
		assert.Equal(t, 200, r.StatusCode)
		assert.Equal(t, "b2", r.Header.Get("x-minilb-backend"))
	}
}

func TestConnectionFailureIs502(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.Retries = 0 }, deadAddress(t))
	r, body := s.do("POST", "/")
	assert.Equal(t, 502, r.StatusCode)
	assert.Equal(t, "backend b1: connection refused\n", body)
	assert.Equal(t, "b1:refused", r.Header.Get("x-minilb-attempts"))
}

func TestBackendThatHangsUpIs502(t *testing.T) {
	address := serveHandler(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	})
	s := newStackOver(t, quiet, address)
	r, body := s.do("POST", "/")
	assert.Equal(t, 502, r.StatusCode)
	assert.Contains(t, body, "backend b1: the connection broke before an answer: ")
	assert.Equal(t, "not retried: POST is not idempotent", r.Header.Get("x-minilb-note"))
}

func TestSilentBackendIs504(t *testing.T) {
	s := newStack(t, func(c *Config) { quiet(c); c.ResponseHeaderTimeout = 30 * time.Millisecond }, time.Minute)
	r, body := s.do("GET", "/")
	assert.Equal(t, 504, r.StatusCode)
	assert.Equal(t, "backend b1: no answer within 30ms\n", body)
	assert.Equal(t, "b1:timeout", r.Header.Get("x-minilb-attempts"))
}

func TestRequestTimeoutCoversAllAttempts(t *testing.T) {
	s := newStack(t, func(c *Config) { quiet(c); c.RequestTimeout = 50 * time.Millisecond }, time.Minute, time.Minute)
	r, _ := s.do("GET", "/")
	assert.Equal(t, 504, r.StatusCode)
	assert.Contains(t, r.Header.Get("x-minilb-note"), "not retried: ")
}

func TestClientThatLeavesCancelsItsRequest(t *testing.T) {
	started, cancelled := make(chan struct{}), make(chan struct{})
	address := serveHandler(t, func(_ http.ResponseWriter, r *http.Request) {
		close(started)
		<-r.Context().Done()
		close(cancelled)
	})
	s := newStackOver(t, quiet, address)
	conn, err := net.Dial("tcp", s.Addr())
	require.NoError(t, err)
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	<-started
	require.NoError(t, conn.Close())
	<-cancelled
	require.Eventually(t, func() bool { return s.pool.Counts().InFlight == 0 }, 5*time.Second, time.Millisecond)
	assert.Zero(t, s.status().Backends[0].Failures)
}

func TestBothDirectionsStreamAtOnce(t *testing.T) {
	address := serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		in := bufio.NewScanner(r.Body)
		for in.Scan() {
			fmt.Fprintln(w, strings.ToUpper(in.Text()))
			_ = http.NewResponseController(w).Flush()
		}
	})
	s := newStackOver(t, quiet, address)
	body, in := io.Pipe()
	request, err := http.NewRequest("POST", "http://"+s.Addr()+"/", body)
	require.NoError(t, err)
	go func() { _, _ = io.WriteString(in, "one\n") }()
	r, err := s.client.Do(request)
	require.NoError(t, err)
	defer r.Body.Close()
	out := bufio.NewScanner(r.Body)
	require.True(t, out.Scan())
	assert.Equal(t, "ONE", out.Text())
	_, err = io.WriteString(in, "two\n")
	require.NoError(t, err)
	require.True(t, out.Scan())
	assert.Equal(t, "TWO", out.Text())
	require.NoError(t, in.Close())
	assert.False(t, out.Scan())
}

func TestDrainUnderTrafficLosesNothing(t *testing.T) {
	s := newStack(t, func(c *Config) { quiet(c); c.StickyCookie = "MINILB" }, time.Millisecond, time.Millisecond, time.Millisecond)
	var lost, afterDrain atomic.Int32
	var drained atomic.Bool
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				late := drained.Load()
				r, _ := s.do("GET", "/", "Cookie", "MINILB=b2")
				if r.StatusCode != 200 {
					lost.Add(1)
				}
				if late && r.Header.Get("x-minilb-backend") == "b2" {
					afterDrain.Add(1)
				}
			}
		})
	}
	require.Eventually(t, func() bool { return s.status().Backends[1].Attempts > 100 }, 10*time.Second, time.Millisecond)
	r, body := s.do("POST", "/_minilb/drain?backend=b2&timeout=30")
	require.Equal(t, 200, r.StatusCode, body)
	drained.Store(true)
	require.Eventually(t, func() bool { return len(s.status().Backends) == 2 }, 10*time.Second, time.Millisecond)
	close(stop)
	clients.Wait()
	assert.Zero(t, lost.Load(), "answers other than 200")
	assert.Zero(t, afterDrain.Load(), "requests to b2 that began after the drain, sticky ones included")
	events := s.happened("b2")
	assert.Contains(t, events[0], "draining: ")
	assert.Equal(t, "removed: drained: no requests in flight", events[len(events)-1])
}

func TestDrainDeadlinePassesWithoutTraffic(t *testing.T) {
	hold, started := make(chan struct{}), make(chan struct{})
	address := serveHandler(t, func(http.ResponseWriter, *http.Request) { close(started); <-hold })
	s := newStackOver(t, quiet, address)
	var client sync.WaitGroup
	client.Go(func() { s.do("GET", "/") })
	<-started
	s.do("POST", "/_minilb/drain?backend=b1&timeout=20ms")
	require.Eventually(t, func() bool {
		return strings.Contains(s.log.String(), "b1 removed: drain deadline passed with 1 in flight")
	}, 5*time.Second, time.Millisecond)
	close(hold)
	client.Wait()
	r, body := s.do("GET", "/")
	assert.Equal(t, 503, r.StatusCode)
	assert.Equal(t, "no healthy upstream\n", body)
}

func TestUndrainTakesABackendBack(t *testing.T) {
	hold, started := make(chan struct{}), make(chan struct{}, 10)
	address := serveHandler(t, func(http.ResponseWriter, *http.Request) { started <- struct{}{}; <-hold })
	s := newStackOver(t, quiet, address)
	var client sync.WaitGroup
	client.Go(func() { s.do("GET", "/") })
	<-started
	s.do("POST", "/_minilb/drain?backend=b1")
	assert.Equal(t, "draining", s.status().Backends[0].State)
	assert.Equal(t, 1, s.status().Backends[0].InFlight)
	r, body := s.do("POST", "/_minilb/undrain?backend=b1")
	assert.Equal(t, 200, r.StatusCode, body)
	assert.Equal(t, "healthy", s.status().Backends[0].State)
	r, body = s.do("POST", "/_minilb/undrain?backend=b1")
	assert.Equal(t, 409, r.StatusCode, body)
	close(hold)
	client.Wait()
}

func TestProbeResultsAreToldApart(t *testing.T) {
	hang := serveHandler(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	cut := serveHandler(t, func(w http.ResponseWriter, _ *http.Request) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	})
	redirect := serveHandler(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/else", http.StatusFound) })
	s := newStackOver(t, func(c *Config) {
		quiet(c)
		c.CheckInterval, c.CheckTimeout, c.CheckJitter, c.Fall = 100*time.Millisecond, 500*time.Millisecond, 0, 1
	}, hang, cut, deadAddress(t), redirect)
	s.until("b1", "unhealthy")
	s.until("b2", "unhealthy")
	s.until("b3", "unhealthy")
	assert.Contains(t, s.happened("b1")[0], "down: 1 consecutive failed check (last: timeout after 500ms)")
	assert.Contains(t, s.happened("b2")[0], "down: 1 consecutive failed check (last: connection broken")
	assert.Contains(t, s.happened("b3")[0], "down: 1 consecutive failed check (last: connection refused)")
	s.until("b4", "healthy")
	assert.Equal(t, "302", s.probed("b4").Result, "a redirection passes and is not followed")
}

func TestTCPProbeOnlyConnects(t *testing.T) {
	s := newStackOver(t, func(c *Config) {
		quiet(c)
		c.CheckInterval, c.CheckJitter, c.CheckType, c.Fall = 20*time.Millisecond, 0, "tcp", 1
	}, serveHandler(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }), deadAddress(t))
	s.until("b2", "unhealthy")
	s.until("b1", "healthy")
	assert.Equal(t, "ok", s.probed("b1").Result)
}

func TestPortInUseIsNamedAndNothingIsLeft(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	c := Default()
	c.Listen = l.Addr().String()
	_, err = Start(c, Options{Log: io.Discard})
	assert.EqualError(t, err, "cannot listen on "+c.Listen+": address already in use")
}

func TestStopCutsWhatDoesNotEnd(t *testing.T) {
	started := make(chan struct{})
	address := serveHandler(t, func(_ http.ResponseWriter, r *http.Request) { close(started); <-r.Context().Done() })
	c := Default()
	quiet(&c)
	c.Listen, c.ShutdownTimeout = "127.0.0.1:0", 10*time.Millisecond
	require.NoError(t, c.Params().Lookup("backend").Set("b1="+address))
	p, err := Start(c, Options{Log: io.Discard})
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{}}
	var running sync.WaitGroup
	running.Go(func() {
		if r, err := client.Get("http://" + p.Addr()); err == nil {
			_ = r.Body.Close()
		}
	})
	<-started
	assert.Equal(t, 1, p.Stop())
	running.Wait()
	client.CloseIdleConnections()
	require.Eventually(t, func() bool { return p.handler().Budget.Requests() == 0 }, 5*time.Second, time.Millisecond)
}
