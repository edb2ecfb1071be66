package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const short = 50 * time.Millisecond

func TestSlowHeadMeetsTheHeaderTimeout(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.ClientHeaderTimeout = short }, deadAddress(t))
	c := s.raw("GET / HTTP/1.1\r\nHost: x\r\nA: ")
	c.ended()
}

func TestIdleClientIsClosed(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.ClientIdleTimeout = short }, serveBackend(t, "b1", 0))
	c := s.raw("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	r, _ := c.answer()
	assert.Equal(t, 200, r.StatusCode)
	c.ended()
}

// TestSlowBodyMeetsTheBodyTimeout is the slow-loris client. Its backend is not
// to blame.
func TestSlowBodyMeetsTheBodyTimeout(t *testing.T) {
	for claim, body := range map[string]string{
		"short":     "Content-Length: 100\r\n\r\nhalf",
		"long":      "Content-Length: 1000000\r\n\r\nhalf",
		"in chunks": "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
	} {
		t.Run(claim, func(t *testing.T) {
			s := newStackOver(t, func(c *Config) { quiet(c); c.ClientBodyTimeout = short }, serveHandler(t, func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
			}))
			c := s.raw("PUT / HTTP/1.1\r\nHost: x\r\n" + body)
			r, text := c.answer()
			assert.Equal(t, 408, r.StatusCode)
			assert.Contains(t, text, "the client sent nothing of its body for 50ms\n")
			c.ended()
			assert.Zero(t, s.status().Backends[0].Failures)
		})
	}
}

// TestRefusedRequestDoesNotWaitForItsBody: nobody reads that, and the server
// would for as long as it takes.
func TestRefusedRequestDoesNotWaitForItsBody(t *testing.T) {
	s := newStackOver(t, quiet, serveBackend(t, "b1", 0))
	require.NoError(t, s.pool.Drain(s.now(), "b1", 0))
	for _, length := range []string{"Content-Length: 20000", "Content-Length: 1000000", "Transfer-Encoding: chunked"} {
		c := s.raw("PUT / HTTP/1.1\r\nHost: x\r\n" + length + "\r\n\r\n")
		r, _ := c.answer()
		assert.Equal(t, 503, r.StatusCode)
		c.ended()
	}
}

func TestBodyThatKeepsComingIsInTime(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.ClientBodyTimeout = 4 * short }, serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		time.Sleep(8 * short) // the limit ends with the body
		fmt.Fprint(w, n)
	}))
	c := s.raw("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
	for range 10 {
		c.say("4\r\nhalf\r\n")
		time.Sleep(short)
	}
	c.say("0\r\n\r\n")
	_, text := c.answer()
	assert.Equal(t, "40", text)
}

func TestClientThatDoesNotReadIsCut(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.ClientBodyTimeout = short }, serveHandler(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, &zeros{64 << 20})
	}))
	s.raw("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.Eventually(t, func() bool { return s.status().Backends[0].Attempts == 1 && s.pool.Counts().InFlight == 0 }, 10*time.Second, time.Millisecond)
	assert.Zero(t, s.status().Backends[0].Failures)
}

func TestBackendThatDoesNotAcceptMeetsTheConnectTimeout(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.Retries, c.ConnectTimeout = 0, short }, fullBacklog(t))
	r, body := s.do("POST", "/")
	assert.Equal(t, 502, r.StatusCode)
	assert.Equal(t, "backend b1: no connection within 50ms\n", body)
}

// TestSilentAnswerMeetsTheIdleTimeout is a body that stops in the middle.
func TestSilentAnswerMeetsTheIdleTimeout(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.ResponseIdleTimeout = short }, serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "half")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	r, err := s.client.Get("http://" + s.Addr())
	require.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	assert.Equal(t, "half", string(body))
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, uint64(1), s.status().Backends[0].Failures)
}

// TestBackendThatDoesNotReadMeetsTheIdleTimeout is a request's body that gets
// stuck at the backend.
func TestBackendThatDoesNotReadMeetsTheIdleTimeout(t *testing.T) {
	stop := make(chan struct{})
	s := newStackOver(t, func(c *Config) { quiet(c); c.ResponseIdleTimeout = short }, serveWire(t, func(net.Conn, *bufio.Reader) { <-stop }))
	defer close(stop)
	r, err := http.NewRequest("PUT", "http://"+s.Addr(), &zeros{64 << 20})
	require.NoError(t, err)
	resp, err := s.client.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	assert.Equal(t, 504, resp.StatusCode)
	assert.Equal(t, "backend b1: it took nothing of the request for 50ms\n", string(body))
}

func TestAnswerBeforeTheBodysEndReachesTheClient(t *testing.T) {
	s := newStackOver(t, quiet, serveWire(t, func(conn net.Conn, in *bufio.Reader) {
		readHead(in)
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
		readHead(in) // keeps the connection open
	}))
	for _, sent := range []string{"Content-Length: 1000000\r\n\r\nsome", "Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n"} {
		c := s.raw("POST / HTTP/1.1\r\nHost: x\r\n" + sent)
		r, _ := c.answer() // while the client sends no more
		assert.Equal(t, 413, r.StatusCode)
		assert.True(t, r.Close, "what is left of the body is no request")
		c.ended()
	}
	assert.Zero(t, s.status().Backends[0].Failures)
}

// TestIdleConnectionThatTheBackendClosesIsNobodysFailure: the backend closes
// just as the request comes, which nobody can see beforehand.
func TestIdleConnectionThatTheBackendClosesIsNobodysFailure(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.Retries = 0 }, serveWire(t, func(conn net.Conn, in *bufio.Reader) {
		readHead(in)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		readHead(in) // and closes instead of an answer
	}))
	for range 3 {
		r, body := s.do("GET", "/")
		assert.Equal(t, 200, r.StatusCode)
		assert.Equal(t, "ok", body)
		assert.Equal(t, "b1:200", r.Header.Get("x-minilb-attempts"))
	}
	r, _ := s.do("POST", "/")
	assert.Equal(t, 502, r.StatusCode, "it may have been carried out")
	assert.Equal(t, "b1:broken", r.Header.Get("x-minilb-attempts"))
	assert.Zero(t, s.status().Backends[0].Failures)
}

// fullBacklog is an address whose connections are never accepted, and no
// longer made.
func fullBacklog(t testing.TB) string {
	t.Helper()
	l := listenBacklog(t)
	address := l.Addr().String()
	for range 64 {
		conn, err := net.DialTimeout("tcp", address, 100*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Fatal("the backlog does not fill")
	return ""
}
