package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// discards reads the request and has nothing to say.
func discards(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }

// TestClientsOwnFaultIsAnsweredInItsTerms: a backend that is named in the
// answer would be taken for the one to blame.
func TestClientsOwnFaultIsAnsweredInItsTerms(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.ClientBodyTimeout = 50 * time.Millisecond }, serveHandler(t, discards))
	for body, want := range map[string]struct {
		status int
		says   string
	}{
		"zz\r\nabc\r\n0\r\n\r\n": {400, "the request's body is malformed or ended early\n"},
		"":                       {408, "the client sent nothing of its body for 50ms\n"},
	} {
		r, text := s.raw("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body).answer()
		assert.Equal(t, want.status, r.StatusCode)
		assert.Equal(t, want.says, text)
		assert.Equal(t, "b1:cancelled", r.Header.Get("x-minilb-attempts"), "which says what was tried")
	}
	s.quietAndBlameless()
}

// refused says that a stack's backend has seen nothing.
func (s *stack) refused(claim string) {
	s.t.Helper()
	assert.Zero(s.t, s.pool.Status(s.now())[0].Attempts, claim)
}

// h2Refuses sends a request over HTTP/2, with fields as they are given, and says
// that it goes nowhere.
func (s *stack) h2Refuses(fields ...string) {
	s.t.Helper()
	w := s.h2Wire()
	w.frame(frameHead, endStream|endHead, 1, h2Fields(fields...))
	w.await(1, string([]byte{frameHead, frameReset}))
	require.NoError(s.t, w.Close())
	s.refused(strings.Join(fields, " "))
}

// TestMalformedAuthorityIsRefusedOverHTTP2Too: net/http looks at it for HTTP/1
// alone.
func TestMalformedAuthorityIsRefusedOverHTTP2Too(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, discards))
	for _, authority := range []string{"a b", "h/x", "h\"x", "h\xff", "h?x", "h#x", "h\\x", "u@h"} {
		s.h2Refuses(":method", "GET", ":scheme", "http", ":authority", authority, ":path", "/")
	}
	s.h2Refuses(":method", "GET", ":scheme", "http", ":path", "/", "host", "h/x")
	for _, target := range []string{`http://h"x/`, "http://h<x/", "http://h\xff/"} {
		r, _ := s.raw("GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n").answer()
		assert.Equal(t, 400, r.StatusCode, target)
		s.refused(target)
	}
}

// TestTargetsThatAreNoneAreRefused by whichever way they come: the asterisk is
// for OPTIONS (RFC 9112 section 3.2.4), and a fragment is the client's own (RFC
// 9110 section 7.1).
func TestTargetsThatAreNoneAreRefused(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, discards))
	for _, target := range []string{"*", "/a#b", "/a?b#c", "/#"} {
		s.h2Refuses(":method", "GET", ":scheme", "http", ":authority", "h", ":path", target)
	}
	for _, target := range []string{"*", "/a#b", "/a?b#c", "http://h/a#b", "mailto:a@b"} {
		for _, more := range []string{"", "Te: trailers\r\n"} { // our loop, and net/http
			r, text := s.raw("GET " + target + " HTTP/1.1\r\nHost: h\r\n" + more + "\r\n").answer()
			assert.Equal(t, 400, r.StatusCode, target)
			assert.Contains(t, text, "malformed target", target)
			s.refused(target)
		}
	}
	r, _ := s.raw("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n").answer()
	assert.Equal(t, 200, r.StatusCode)
}

// forged are trailers that have no place after a body, and one that has.
const forged = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\nHost: h\r\nAuthorization: a\r\nCookie: a=b\r\nSet-Cookie: a=b\r\n" +
	"If-Match: a\r\nRange: bytes=0-1\r\nCache-Control: no-store\r\nLocation: /\r\nContent-Type: a/b\r\nContent-Encoding: gzip\r\n" +
	"X-Minilb-Backend: forged\r\nX-Forwarded-For: 1.2.3.4\r\nForwarded: for=1.2.3.4\r\nTrailer: a\r\nConnection: close\r\nX-Fine: 1\r\n"

// TestTrailersCarryNoFramingAndNoForgedMarks to the client.
func TestTrailersCarryNoFramingAndNoForgedMarks(t *testing.T) {
	s := newStackOver(t, quiet, serveConns(t, func(conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		for readHead(in) != "" {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTrailer: Set-Cookie, X-Fine, X-Forwarded-For\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"+forged+"\r\n")
		}
	}))
	var h2c http.Protocols
	h2c.SetUnencryptedHTTP2(true)
	for _, client := range []*http.Client{s.client, {Transport: &http.Transport{Protocols: &h2c}}} {
		r, err := client.Get("http://" + s.Addr())
		require.NoError(t, err)
		assert.Equal(t, http.Header{"X-Fine": nil}, r.Trailer, "announced")
		assert.Equal(t, "ok", body(t, r, err))
		assert.Equal(t, http.Header{"X-Fine": {"1"}}, r.Trailer)
		assert.Equal(t, "b1", r.Header.Get("x-minilb-backend"))
		client.CloseIdleConnections()
	}
}

// TestTrailersOfARequestCarryNoFramingAndNoForgedMarks to the backend.
func TestTrailersOfARequestCarryNoFramingAndNoForgedMarks(t *testing.T) {
	for protocol, serve := range map[string]func(testing.TB, http.HandlerFunc) string{"h1": serveHandler, "h2c": serveH2C} {
		seen := make(chan http.Header, 2)
		s := newStackOver(t, func(c *Config) { quiet(c); c.BackendProtocol = protocol }, serve(t, func(w http.ResponseWriter, r *http.Request) {
			before := r.Trailer.Clone()
			discards(w, r)
			seen <- before
			seen <- r.Trailer
		}))
		for _, announced := range []string{"X-Fine", "Cookie, X-Fine, X-Forwarded-For"} {
			r, _ := s.raw("POST / HTTP/1.1\r\nHost: x\r\nTrailer: " + announced + "\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n" + forged + "\r\n").answer()
			require.Equal(t, 200, r.StatusCode)
			assert.Equal(t, http.Header{"X-Fine": nil}, <-seen, "announced over %s", protocol)
			assert.Equal(t, http.Header{"X-Fine": {"1"}}, <-seen, protocol)
		}
	}
}

// startWebSocket is a proxy of its own over an echo, for tests that stop it.
func startWebSocket(t *testing.T, change func(*Config)) (*Proxy, *websocket.Conn) {
	c := Default()
	quiet(&c)
	c.Listen = "127.0.0.1:0"
	change(&c)
	require.NoError(t, c.Params().Lookup("backend").Set("b1="+serveWebSocket(t, echo)))
	p, err := Start(c, Options{Log: io.Discard})
	require.NoError(t, err)
	return p, (&stack{Proxy: p, t: t}).webSocket(nil)
}

// TestStopCountsNoTunnelThatHasEnded: a request leaves the budget a moment
// after its connections have closed.
func TestStopCountsNoTunnelThatHasEnded(t *testing.T) {
	for range 100 {
		p, client := startWebSocket(t, func(*Config) {})
		require.NoError(t, client.Close(websocket.StatusNormalClosure, ""))
		require.Zero(t, p.Stop())
	}
}

// TestStopWaitsForTheTunnelsItCuts: their leases are back when it returns.
func TestStopWaitsForTheTunnelsItCuts(t *testing.T) {
	for range 50 {
		p, _ := startWebSocket(t, func(c *Config) { c.ShutdownTimeout = 0 })
		assert.Equal(t, 1, p.Stop())
		require.Zero(t, p.pool.Counts().InFlight)
	}
}

// TestStopWaitsForRequestsOfAnHTTP2ClientThatHasJustLeft: net/http's server
// forgets a connection before its requests have ended.
func TestStopWaitsForRequestsOfAnHTTP2ClientThatHasJustLeft(t *testing.T) {
	started := make(chan struct{}, 1)
	address := serveHandler(t, func(_ http.ResponseWriter, r *http.Request) { started <- struct{}{}; <-r.Context().Done() })
	for range 30 {
		c := Default()
		quiet(&c)
		c.Listen = "127.0.0.1:0"
		require.NoError(t, c.Params().Lookup("backend").Set("b1="+address))
		p, err := Start(c, Options{Log: io.Discard})
		require.NoError(t, err)
		w := (&stack{Proxy: p, t: t}).h2Wire()
		w.frame(frameHead, endStream|endHead, 1, h2Fields(":method", "GET", ":scheme", "http", ":authority", "h", ":path", "/"))
		<-started
		require.NoError(t, w.Close())
		require.Zero(t, p.Stop())
		require.Zero(t, p.pool.Counts().InFlight)
	}
}

// TestTunnelWithOneEndGoneEnds: the other may go on, and a silent one would
// hold its place, and a drain, for ever.
func TestTunnelWithOneEndGoneEnds(t *testing.T) {
	for _, gone := range []string{"the backend", "the client"} {
		t.Run(gone, func(t *testing.T) {
			over := make(chan struct{})
			defer close(over)
			s := newStackOver(t, func(c *Config) { quiet(c); c.ClientBodyTimeout = 200 * time.Millisecond },
				serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
					conn, rw, err := http.NewResponseController(w).Hijack()
					if err != nil {
						return
					}
					defer conn.Close()
					_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
					_ = rw.Flush()
					if gone == "the client" {
						<-over // though it is told of the client's end
					}
				}))
			c := s.raw(wantsEcho)
			r, _ := http.ReadResponse(c.in, nil)
			assert.Equal(t, 101, r.StatusCode)
			if gone == "the client" {
				require.NoError(t, c.Close())
			}
			s.settled()
		})
	}
}
