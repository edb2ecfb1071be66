package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInterimAnswersPassWithoutTheirHopByHopFields is golang#81320.
func TestInterimAnswersPassWithoutTheirHopByHopFields(t *testing.T) {
	s := newStackOver(t, quiet, serveWire(t, func(conn net.Conn, in *bufio.Reader) {
		readHead(in)
		_, _ = io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n\r\n"+
			"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	}))
	c := s.raw("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	assert.Equal(t, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n", readHead(c.in))
	assert.Equal(t, "HTTP/1.1 102 Processing\r\n\r\n", readHead(c.in))
	r, body := c.answer()
	assert.Equal(t, "ok", body)
	assert.Empty(t, r.Header["Link"], "hints are not the answer's")
}

func TestOldClientsGetNoInterimAnswers(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(103)
		fmt.Fprint(w, "ok")
	}))
	r, body := s.raw("GET / HTTP/1.0\r\nHost: x\r\n\r\n").answer()
	assert.Equal(t, 200, r.StatusCode)
	assert.Equal(t, "ok", body)
}

// TestHintsAndContinueDoNotMix is golang#80949: both are written while the
// request's body begins to move.
func TestHintsAndContinueDoNotMix(t *testing.T) {
	hints := strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n", 5)
	s := newStackOver(t, quiet, serveWire(t, func(conn net.Conn, in *bufio.Reader) {
		readHead(in)
		_, _ = io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n"+hints)
		n, _ := io.CopyN(io.Discard, in, 20000)
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%d", n)
	}))
	for range 50 {
		c := s.raw("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 20000\r\n\r\n" + strings.Repeat("x", 20000))
		var heads []string
		for len(heads) < 6 {
			head := readHead(c.in)
			heads = append(heads, head[:len("HTTP/1.1 100")])
			if !strings.HasPrefix(head, "HTTP/1.1 10") {
				break
			}
		}
		assert.ElementsMatch(t, []string{"HTTP/1.1 100", "HTTP/1.1 103", "HTTP/1.1 103", "HTTP/1.1 103", "HTTP/1.1 103", "HTTP/1.1 103"}, heads)
		_, body := c.answer()
		assert.Equal(t, "20000", body)
	}
}

func TestHintsReachANetHTTPClient(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a.css>")
		w.WriteHeader(103)
	}))
	var hints []string
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		hints = append(hints, fmt.Sprint(code, h["Link"]))
		return nil
	}}
	r, err := http.NewRequest("GET", "http://"+s.Addr(), nil)
	require.NoError(t, err)
	resp, err := s.client.Do(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, []string{"103 [</a.css>]"}, hints)
}

// trailers answers with what it was sent, and trailers of its own, one of them
// announced.
func trailers(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Trailer", "Grpc-Status")
	body, _ := io.ReadAll(r.Body)
	if len(body) > 0 {
		fmt.Fprintf(w, "%s %s", body, r.Trailer.Get("X-Sum"))
	}
	w.Header().Set("Grpc-Status", "0")
	w.Header().Set(http.TrailerPrefix+"Grpc-Message", "fine "+r.Trailer.Get("X-Late"))
}

// TestTrailersPassBothWays is golang#20437 and golang#29031.
func TestTrailersPassBothWays(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, trailers))
	c := s.raw("POST / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: s1\r\nX-Late: l1\r\n\r\n")
	r, err := http.ReadResponse(c.in, nil)
	require.NoError(t, err)
	assert.Equal(t, http.Header{"Grpc-Status": nil}, r.Trailer, "announced")
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	assert.Equal(t, "hello s1", string(body))
	assert.Equal(t, http.Header{"Grpc-Status": {"0"}, "Grpc-Message": {"fine l1"}}, r.Trailer)
}

func TestTrailersOfAnEmptyBodyPass(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, trailers))
	r, body := s.do("GET", "/")
	assert.Empty(t, body)
	assert.Equal(t, http.Header{"Grpc-Status": {"0"}, "Grpc-Message": {"fine"}}, r.Trailer)
}

// In HTTP/2 an answer with trailers may say its length, and one without a body
// says 0.
func TestTrailersOfHTTP2AnswersPassWhateverTheLength(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.BackendProtocol = "h2c" }, serveH2C(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/unannounced" {
			trailers(w, r)
			return
		}
		w.Header().Set("Content-Length", "2")
		_, _ = io.WriteString(w, "ok")
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	}))
	whole := func(trailer http.Header) string {
		return trailer.Get("Grpc-Status") + " " + strings.TrimSpace(trailer.Get("Grpc-Message"))
	}
	r, err := s.client.Get("http://" + s.Addr())
	assert.Empty(t, body(t, r, err))
	assert.Equal(t, "0 fine", whole(r.Trailer), "to HTTP/1.1")
	c := h2Client(t)
	r, err = c.Get("http://" + s.Addr())
	assert.Empty(t, body(t, r, err))
	assert.Equal(t, "0 fine", whole(r.Trailer), "to HTTP/2")
	r, err = c.Get("http://" + s.Addr() + "/unannounced")
	assert.Equal(t, "ok", body(t, r, err))
	assert.Equal(t, http.Header{"Grpc-Status": {"0"}}, r.Trailer)
	assert.Equal(t, int64(2), r.ContentLength)
}

func TestCompressedAnswersAreLeftAlone(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		fmt.Fprint(w, "not really gzip; asked for "+r.Header.Get("Accept-Encoding"))
	}))
	r, body := s.raw("GET / HTTP/1.1\r\nHost: x\r\n\r\n").answer()
	assert.Equal(t, "gzip", r.Header.Get("Content-Encoding"))
	assert.Equal(t, "not really gzip; asked for ", body)
}

func TestServerSentEventsArriveAtOnce(t *testing.T) {
	next := make(chan string)
	s := newStackOver(t, quiet, serveHandler(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		for text := range next {
			fmt.Fprintf(w, "data: %s\n\n", text)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	r, err := s.client.Get("http://" + s.Addr())
	require.NoError(t, err, "the head comes before the first event")
	defer r.Body.Close()
	in := bufio.NewReader(r.Body)
	for _, text := range []string{"one", "two"} {
		next <- text
		line, err := in.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, "data: "+text+"\n", line)
		_, _ = in.ReadString('\n')
	}
	close(next)
	_, err = in.ReadByte()
	assert.Equal(t, io.EOF, err)
}
