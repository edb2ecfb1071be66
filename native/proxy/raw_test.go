package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A rawClient writes what it likes.
type rawClient struct {
	net.Conn
	t  testing.TB
	in *bufio.Reader
}

func (s *stack) raw(text string) *rawClient {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	require.NoError(s.t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	c := &rawClient{conn, s.t, bufio.NewReader(conn)}
	c.say(text)
	return c
}

func (c *rawClient) say(text string) {
	c.t.Helper()
	_, err := io.WriteString(c, text)
	require.NoError(c.t, err)
}

// answer reads one answer to a GET.
func (c *rawClient) answer() (*http.Response, string) {
	c.t.Helper()
	r, err := http.ReadResponse(c.in, nil)
	require.NoError(c.t, err)
	body, err := io.ReadAll(r.Body)
	require.NoError(c.t, err)
	return r, string(body)
}

// ended says that the proxy has closed the connection.
func (c *rawClient) ended() {
	c.t.Helper()
	_, err := c.in.ReadByte()
	require.Error(c.t, err)
	var late net.Error
	if assert.False(c.t, asTimeout(err, &late), "the connection is still open") {
		return
	}
}

func asTimeout(err error, late *net.Error) bool {
	n, ok := err.(net.Error)
	*late = n
	return ok && n.Timeout()
}

// TestAmbiguousRequestsAreRefused is haproxy#2237 (CVE-2023-40225), golang#71988
// (CVE-2025-22871) and their kind: two readers must never disagree about where
// a request ends.
func TestAmbiguousRequestsAreRefused(t *testing.T) {
	var reached, whole atomic.Int32
	s := newStackOver(t, quiet, serveHandler(t, func(_ http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			whole.Add(1)
		}
	}))
	const post = "POST / HTTP/1.1\r\nHost: x\r\n"
	cases := map[string]string{
		"an empty Content-Length":              post + "Content-Length: \r\n\r\n",
		"a signed Content-Length":              post + "Content-Length: +3\r\n\r\nabc",
		"a Content-Length in hexadecimal":      post + "Content-Length: 0x3\r\n\r\nabc",
		"two Content-Lengths that differ":      post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
		"a list as Content-Length":             post + "Content-Length: 3, 4\r\n\r\nabcd",
		"a space before the colon":             post + "Content-Length : 3\r\n\r\nabc",
		"an unknown transfer coding":           post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"chunked twice":                        post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"identity and chunked":                 post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
		"a vertical tab before chunked":        post + "Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n",
		"a chunk's size ends in a bare LF":     post + "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n",
		"a bare LF within a chunk's extension": post + "Transfer-Encoding: chunked\r\n\r\n3;a\nb\r\nabc\r\n0\r\n\r\n",
		"a chunk longer than its size":         post + "Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
		"a chunk without a size":               post + "Transfer-Encoding: chunked\r\n\r\n\r\nabc\r\n0\r\n\r\n",
		"a signed chunk size":                  post + "Transfer-Encoding: chunked\r\n\r\n+3\r\nabc\r\n0\r\n\r\n",
		"a chunk size beyond 64 bits":          post + "Transfer-Encoding: chunked\r\n\r\n10000000000000003\r\nabc\r\n0\r\n\r\n",
		"a field continued on the next line":   "GET / HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n",
		"a bare CR in a field":                 "GET / HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n",
		"no Host":                              "GET / HTTP/1.1\r\n\r\n",
		"two Hosts":                            "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"a space in the target":                "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
		"a null byte in a field":               "GET / HTTP/1.1\r\nHost: x\r\nA: b\x00c\r\n\r\n",
	}
	for claim, text := range cases {
		t.Run(claim, func(t *testing.T) {
			c := s.raw(text)
			r, _ := c.answer()
			assert.Contains(t, []int{400, 501}, r.StatusCode)
			c.ended()
		})
	}
	assert.Zero(t, whole.Load(), "requests that a backend took for whole")
	t.Logf("%d of %d reached a backend in part", reached.Load(), len(cases))
}

// TestTwoWaysToFindTheBodysEndAreRefused: somebody before us may have taken the
// other one (RFC 9112 section 6.1).
func TestTwoWaysToFindTheBodysEndAreRefused(t *testing.T) {
	var reached atomic.Int32
	s := newStackOver(t, quiet, serveHandler(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	for claim, head := range map[string]string{
		"the length first":                 "HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n",
		"the coding first":                 "HTTP/1.1\r\nHost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n",
		"in HTTP/1.0":                      "HTTP/1.0\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n",
		"in lines that end in a bare LF":   "HTTP/1.1\nHost: x\nContent-Length: 4\nTransfer-Encoding: chunked\n",
		"with an unknown coding":           "HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: xchunked\r\n",
		"with a length that is no length ": "HTTP/1.1\r\nHost: x\r\nContent-Length: four\r\nTransfer-Encoding: chunked\r\n",
	} {
		c := s.raw("POST / " + head + "\r\n3\r\nabc\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
		r, text := c.answer()
		assert.Equal(t, 400, r.StatusCode, claim)
		assert.Equal(t, "400 Bad Request: both Content-Length and Transfer-Encoding", text, claim)
		assert.True(t, r.Close, claim)
		c.ended()
	}
	assert.Zero(t, reached.Load())
}

// TestTransferEncodingOverrulesContentLengthForNetHTTP: it drops the length
// without a word, as RFC 9112 section 6.3 lets it; only one of them goes on.
// That is how it is over TLS, and after a request that was handed over.
func TestTransferEncodingOverrulesContentLengthForNetHTTP(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprint(w, r.Header["Content-Length"], r.ContentLength, r.TransferEncoding, " ", string(body))
	}))
	c := s.raw("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
	c.answer()
	c.say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
	_, text := c.answer()
	assert.Equal(t, "[] -1 [chunked] abc", text)
}

// TestHeadWithBareLineFeedsIsReadOneWay: RFC 9112 section 2.2 allows it in a
// head; what goes on has none.
func TestHeadWithBareLineFeedsIsReadOneWay(t *testing.T) {
	var head string
	s := newStackOver(t, quiet, serveWire(t, func(conn net.Conn, in *bufio.Reader) {
		head = readHead(in)
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
	}))
	r, _ := s.raw("GET / HTTP/1.1\nHost: x\nA: b\n\n").answer()
	assert.Equal(t, 204, r.StatusCode)
	assert.Contains(t, head, "A: b\r\n")
	assert.Equal(t, strings.Count(head, "\n"), strings.Count(head, "\r\n"))
}

// serveWire runs a backend that writes what it likes; f has each connection for
// itself.
func serveWire(t testing.TB, f func(conn net.Conn, in *bufio.Reader)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
			f(conn, bufio.NewReader(conn))
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

// readHead is a request's head, as it came; empty when the connection ended.
func readHead(in *bufio.Reader) string {
	var head strings.Builder
	for {
		line, err := in.ReadString('\n')
		head.WriteString(line)
		if err != nil || line == "\r\n" {
			return head.String()
		}
	}
}

func TestConnectIsNotForwarded(t *testing.T) {
	s := newStackOver(t, quiet, deadAddress(t))
	r, body := s.raw("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n").answer()
	assert.Equal(t, 405, r.StatusCode)
	assert.Equal(t, "CONNECT is not forwarded\n", body)
	assert.Zero(t, s.pool.Status(s.now())[0].Attempts)
}

func TestTargetIsNotRewritten(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Method, " ", r.RequestURI, " ", r.Host, " ", strings.Join(r.Header["Accept"], "|"))
	}))
	for _, target := range []string{"/a%2Fb//c/?x=1&&y=%20", "/a/../b", "/?", "//double", "/%7euser/", "/a;b=c", "/a?b?c=http://d", "/%00", "/caf\xc3\xa9"} {
		c := s.raw("GET " + target + " HTTP/1.1\r\nHost: h:1\r\nAccept: b\r\nAccept: a\r\n\r\n")
		_, body := c.answer()
		assert.Equal(t, "GET "+target+" h:1 b|a", body)
	}
	_, body := s.raw("GET http://other:2/p?q HTTP/1.1\r\nHost: h:1\r\n\r\n").answer()
	assert.Equal(t, "GET /p?q other:2 ", body, "an absolute target's host is the one that counts")
	_, body = s.raw("OPTIONS * HTTP/1.1\r\nHost: h:1\r\n\r\n").answer()
	assert.Empty(t, body, "net/http answers that itself")
}

// TestConnectionNamesWhatMinilbAdds is CVE-2024-45410 and golang#50580, with an
// empty first field as in golang#46313 (CVE-2021-33197).
func TestConnectionNamesWhatMinilbAdds(t *testing.T) {
	var head string
	s := newStackOver(t, func(c *Config) {
		quiet(c)
		c.XForwarded, c.Forwarded, c.Via, c.StickyCookie = []string{"proto", "host"}, true, true, "MINILB"
	}, serveWire(t, func(conn net.Conn, in *bufio.Reader) {
		head = readHead(in)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection:\r\nConnection: close, X-Hop, Set-Cookie, X-Minilb-Backend\r\nX-Hop: 1\r\nContent-Length: 0\r\n\r\n")
	}))
	r, _ := s.raw("GET / HTTP/1.1\r\nHost: h\r\nConnection:\r\nConnection: X-Forwarded-For, X-Forwarded-Host, Forwarded, Via, X-Secret, Cookie\r\nX-Secret: 1\r\n" +
		"X-Forwarded-For: 6.6.6.6\r\nKeep-Alive: 1\r\n\r\n").answer()
	for _, line := range []string{"X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: h", "X-Forwarded-Proto: http", `Forwarded: for=127.0.0.1;proto=http;host="h"`, "Via: 1.1 minilb"} {
		assert.Contains(t, head, line+"\r\n")
	}
	for _, name := range []string{"X-Secret", "Keep-Alive", "Connection", "6.6.6.6"} {
		assert.NotContains(t, head, name)
	}
	assert.Empty(t, r.Header["X-Hop"])
	assert.Equal(t, "b1", r.Header.Get("x-minilb-backend"))
	assert.Len(t, r.Cookies(), 1)
	assert.Equal(t, "1.1 minilb", r.Header.Get("Via"))
}

func TestAnswerThatBreaksOffCountsAgainstItsBackend(t *testing.T) {
	s := newStackOver(t, quiet, serveWire(t, func(conn net.Conn, in *bufio.Reader) {
		readHead(in)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
	}))
	c := s.raw("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	r, err := http.ReadResponse(c.in, nil)
	require.NoError(t, err)
	body, err := io.ReadAll(r.Body)
	assert.Equal(t, "half", string(body))
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "the client sees that it is not whole")
	assert.Equal(t, uint64(1), s.status().Backends[0].Failures)
}

func TestRequestThatMayHaveBeenCarriedOutIsSentOnce(t *testing.T) {
	for _, method := range []string{"POST", "PATCH"} {
		var calls atomic.Int32
		fail := func(w http.ResponseWriter, _ *http.Request) { calls.Add(1); w.WriteHeader(503) }
		s := newStackOver(t, quiet, serveHandler(t, fail), serveHandler(t, fail))
		r, _ := s.do(method, "/")
		assert.Equal(t, 503, r.StatusCode)
		assert.Equal(t, int32(1), calls.Load())
		assert.Equal(t, "not retried: "+method+" is not idempotent", r.Header.Get("x-minilb-note"))
	}
}

// TestFailedExpectationDoesNotPoisonTheConnection is golang#67555
// (CVE-2024-24791), seen from both sides.
func TestFailedExpectationDoesNotPoisonTheConnection(t *testing.T) {
	var bodies []string
	s := newStackOver(t, quiet, serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Expect") != "" {
			w.WriteHeader(http.StatusExpectationFailed)
			return
		}
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, r.Method+string(body))
	}))
	for range 3 {
		r, _ := s.raw("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n").answer()
		assert.Equal(t, 417, r.StatusCode)
		r, _ = s.do("GET", "/")
		assert.Equal(t, 200, r.StatusCode)
	}
	assert.Equal(t, []string{"GET", "GET", "GET"}, bodies)
}

func TestExpectationIsTheBackendsToMeet(t *testing.T) {
	asked := make(chan struct{})
	s := newStackOver(t, quiet, serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		<-asked
		body, _ := io.ReadAll(r.Body) // which sends the 100
		fmt.Fprint(w, r.Header.Get("Expect"), " ", string(body))
	}))
	c := s.raw("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	require.NoError(t, c.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err := c.in.Peek(1)
	require.Error(t, err, "no 100 before the backend asks for the body")
	require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
	close(asked)
	line, err := c.in.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
	_, _ = c.in.ReadString('\n')
	c.say("hello")
	_, body := c.answer()
	assert.Equal(t, "100-continue hello", body)
}
