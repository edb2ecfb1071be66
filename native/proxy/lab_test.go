package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"minilb/core/lb"
	"minilb/native/backend"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A stack is backends b1, b2… and a proxy in front of them, on real sockets.
type stack struct {
	*Proxy
	t         testing.TB
	client    *http.Client
	log       *logBuffer
	addresses []string
}

// logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newStack starts one backend per delay and a proxy with the configuration
// that change makes of the defaults.
func newStack(t testing.TB, change func(*Config), delays ...time.Duration) *stack {
	t.Helper()
	var addresses []string
	for i, delay := range delays {
		addresses = append(addresses, serveBackend(t, "b"+fmt.Sprint(i+1), delay))
	}
	return newStackOver(t, change, addresses...)
}

func newStackOver(t testing.TB, change func(*Config), addresses ...string) *stack {
	t.Helper()
	c := Default()
	c.Listen = "127.0.0.1:0"
	for i, address := range addresses {
		c.Backends = append(c.Backends, Backend{lb.Backend{Name: "b" + fmt.Sprint(i+1), Address: address, Weight: 1}})
	}
	if change != nil {
		change(&c)
	}
	require.NoError(t, c.Check())
	s := &stack{t: t, log: &logBuffer{}, addresses: addresses}
	var err error
	s.Proxy, err = Start(c, Options{Log: s.log, Play: testSite, Version: "test"})
	require.NoError(t, err)
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 20 * time.Second}
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		require.Zero(t, s.Stop(), "requests cut off")
		require.Zero(t, s.pool.Counts().InFlight, "requests in flight at the end")
	})
	return s
}

// serveBackend runs a backend on a port of its own until the test ends.
func serveBackend(t testing.TB, name string, delay time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = backend.Serve(ctx, l, backend.New(name, delay)) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return l.Addr().String()
}

// serveHandler is serveBackend for a handler of the test's own.
func serveHandler(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: h}
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		_ = server.Close()
		running.Wait()
	})
	return l.Addr().String()
}

// deadAddress is one where nobody listens.
func deadAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// do sends a request to the proxy and reads the whole answer.
func (s *stack) do(method, path string, header ...string) (*http.Response, string) {
	s.t.Helper()
	return s.send(method, "http://"+s.Addr()+path, header...)
}

func (s *stack) send(method, url string, header ...string) (*http.Response, string) {
	s.t.Helper()
	r, err := http.NewRequest(method, url, nil)
	require.NoError(s.t, err)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := s.client.Do(r)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return resp, string(body)
}

// served is the backend that answered one GET, and the status.
func (s *stack) served() (name string, status int) {
	s.t.Helper()
	r, _ := s.do("GET", "/")
	return r.Header.Get("x-minilb-backend"), r.StatusCode
}

// mode switches a backend, b1 being 0.
func (s *stack) mode(i int, query string) {
	s.t.Helper()
	r, body := s.send("POST", "http://"+s.addresses[i]+"/_backend/mode?"+query)
	require.Equal(s.t, 200, r.StatusCode, body)
}

// state waits until a backend is in a state.
func (s *stack) until(name, state string) BackendStatus {
	s.t.Helper()
	var found BackendStatus
	require.Eventually(s.t, func() bool {
		for _, b := range s.status().Backends {
			if b.Name == name {
				found = b
			}
		}
		return found.State == state
	}, 10*time.Second, 5*time.Millisecond, "%s is not %s", name, state)
	return found
}

// probed waits until a backend's first probe is over.
func (s *stack) probed(name string) *ProbeStatus {
	s.t.Helper()
	var last *ProbeStatus
	require.Eventually(s.t, func() bool {
		for _, b := range s.status().Backends {
			if b.Name == name {
				last = b.LastProbe
			}
		}
		return last != nil
	}, 10*time.Second, 5*time.Millisecond, "%s is not probed", name)
	return last
}

func (s *stack) status() Status {
	s.t.Helper()
	r, body := s.do("GET", "/_minilb/status")
	require.Equal(s.t, 200, r.StatusCode)
	var status Status
	require.NoError(s.t, json.Unmarshal([]byte(body), &status))
	return status
}

// happened is every event of a backend so far, as "what: reason".
func (s *stack) happened(name string) []string {
	s.t.Helper()
	var lines []string
	for _, e := range s.status().Events {
		if e.Backend == name {
			lines = append(lines, e.What+": "+e.Reason)
		}
	}
	return lines
}

var _ fs.FS = testSite
