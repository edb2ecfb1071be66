package proxy

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An h2Wire writes HTTP/2 frames as it likes (RFC 9113 section 4.1).
type h2Wire struct{ net.Conn }

// h2Wire is a client that has said its first words.
func (s *stack) h2Wire() h2Wire {
	w := h2Wire{s.dial()}
	_, _ = io.WriteString(w, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	w.frame(frameSettings, 0, 0, "")
	return w
}

// Frames by their numbers, and two flags.
const (
	frameHead, frameReset, frameSettings, framePush, frameMore = 1, 3, 4, 5, 9

	endStream, endHead = 1, 4
)

func (w h2Wire) frame(kind, flags byte, stream uint32, payload string) {
	head := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	_, _ = w.Write(append(binary.BigEndian.AppendUint32(head, stream), payload...))
}

// h2Fields are a header block: literals that nobody remembers, in no code. Each
// text is shorter than 127 bytes.
func h2Fields(pairs ...string) string {
	var block strings.Builder
	for i, text := range pairs {
		if i%2 == 0 {
			block.WriteByte(0)
		}
		block.WriteByte(byte(len(text)))
		block.WriteString(text)
	}
	return block.String()
}

// await reads until a frame of one of the kinds comes on a stream, or the end.
func (w h2Wire) await(stream uint32, kinds string) bool {
	for {
		var head [9]byte
		if _, err := io.ReadFull(w, head[:]); err != nil {
			return false
		}
		length := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, w, length); err != nil {
			return false
		}
		if binary.BigEndian.Uint32(head[5:]) == stream && strings.IndexByte(kinds, head[3]) >= 0 {
			return true
		}
	}
}

// TestHTTP2HeadsThatHTTP1CannotSayAreRefused: what would be two lines, or
// another request, on the way to an HTTP/1 backend goes nowhere.
func TestHTTP2HeadsThatHTTP1CannotSayAreRefused(t *testing.T) {
	heads := make(chan string, 1)
	s := newStackOver(t, quiet, serveConns(t, func(conn *net.TCPConn) {
		in := bufio.NewReader(conn)
		for head := readHead(in); head != ""; head = readHead(in) {
			heads <- head
			_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		}
	}))
	for claim, c := range map[string][2]string{
		"a space in the target":            {":path", "/a b"},
		"a version in the target":          {":path", "/a HTTP/1.1"},
		"a line end in the target":         {":path", "/ HTTP/1.1\r\nX-Bad: 1\r\n\r\n"},
		"a tab in the target":              {":path", "/a\tb"},
		"a null byte in the target":        {":path", "/a\x00"},
		"a target without a slash":         {":path", "a"},
		"a request line as method":         {":method", "GET /bad HTTP/1.1"},
		"a request as method":              {":method", "GET / HTTP/1.1\r\nX-Bad: 1\r\n\r\nGET"},
		"no method":                        {":method", ""},
		"a line end in the authority":      {":authority", "h\r\nX-Bad: 1"},
		"a user in the authority":          {":authority", "u:p@h"},
		"a line end in the scheme":         {":scheme", "http\r\nX-Bad: 1"},
		"a line end in a value":            {"a", "b\r\nX-Bad: 1"},
		"a line feed in a value":           {"a", "b\nX-Bad: 1"},
		"a null byte in a value":           {"a", "b\x00"},
		"a colon in a name":                {"a:b", "c"},
		"a space in a name":                {"a b", "c"},
		"a line end in a name":             {"a\r\nx-bad", "1"},
		"a name in capitals":               {"X-Bad", "1"},
		"a transfer coding":                {"transfer-encoding", "chunked"},
		"fields of the connection":         {"connection", "x-forwarded-for"},
		"an upgrade":                       {"upgrade", "h2c"},
		"a pseudo-field after the others":  {":path", "/again"},
		"CONNECT with a protocol, unasked": {":protocol", "websocket"},
	} {
		request := []string{":method", "GET", ":scheme", "http", ":authority", "h", ":path", "/"}
		replaced := false
		for i := 0; i < len(request) && claim != "a pseudo-field after the others"; i += 2 {
			if request[i] == c[0] {
				request[i+1], replaced = c[1], true
			}
		}
		if !replaced {
			request = append(request, c[0], c[1])
		}
		w := s.h2Wire()
		w.frame(frameHead, endStream|endHead, 1, h2Fields(request...))
		w.await(1, string([]byte{frameHead, frameReset})) // or the connection's end
		require.NoError(t, w.Close())
		go func() { _, _ = s.do("GET", "/good") }()
		assert.True(t, strings.HasPrefix(<-heads, "GET /good HTTP/1.1\r\n"), claim)
	}
	s.quietAndBlameless()
}

// misbehave runs an HTTP/2 backend that answers the first request of each
// connection as it likes.
func misbehave(t testing.TB, answer func(h2Wire)) string {
	return serveConns(t, func(conn *net.TCPConn) {
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		w := h2Wire{conn}
		_, _ = io.ReadFull(w, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")))
		w.frame(frameSettings, 0, 0, "")
		if !w.await(1, string([]byte{frameHead})) {
			return
		}
		answer(w)
		_ = conn.CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
	})
}

func TestHTTP2BackendsThatMisbehaveAreAnswered502(t *testing.T) {
	head := func(pairs ...string) func(h2Wire) {
		return func(w h2Wire) { w.frame(frameHead, endStream|endHead, 1, h2Fields(pairs...)) }
	}
	for claim, answer := range map[string]func(h2Wire){
		"it hangs up":                 func(h2Wire) {},
		"it resets":                   func(w h2Wire) { w.frame(frameReset, 0, 1, "\x00\x00\x00\x02") },
		"it wants HTTP/1.1":           func(w h2Wire) { w.frame(frameReset, 0, 1, "\x00\x00\x00\x0d") },
		"it speaks HTTP/1.1":          func(w h2Wire) { _, _ = io.WriteString(w, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n") },
		"no status":                   head("a", "b"),
		"a status that is none":       head(":status", "2x0"),
		"a status of one digit":       head(":status", "0"),
		"a status of two digits":      head(":status", "42"),
		"a status of four digits":     head(":status", "1234"),
		"a status below zero":         head(":status", "-200"),
		"a 101":                       head(":status", "101", "upgrade", "x"),
		"a line end in a value":       head(":status", "200", "a", "b\r\nX-Bad: 1"),
		"a line end in a name":        head(":status", "200", "a\r\nx-bad", "1"),
		"lengths that differ":         head(":status", "200", "content-length", "2", "content-length", "3"),
		"a length below zero":         head(":status", "200", "content-length", "-2"),
		"interim answers without end": func(w h2Wire) { w.flood(5000, frameHead, h2Fields(":status", "103", "link", "</a.css>")) },
		"a head without end": func(w h2Wire) {
			w.frame(frameHead, 0, 1, h2Fields(":status", "200"))
			w.flood(20_000, frameMore, strings.Repeat(h2Fields("a", strings.Repeat("x", 100)), 10))
		},
		"a code that is none": func(w h2Wire) { w.frame(frameHead, endStream|endHead, 1, "\xff\xff\xff\xff\xff\xff") },
		"a push":              func(w h2Wire) { w.frame(framePush, endHead, 1, "\x00\x00\x00\x02"+h2Fields(":method", "GET")) },
	} {
		t.Run(claim, func(t *testing.T) {
			s := newStackOver(t, func(c *Config) {
				overH2C(c)
				c.Retries, c.ResponseHeaderTimeout = 0, 5*time.Second
			}, misbehave(t, answer))
			c := s.raw("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			r, err := http.ReadResponse(c.in, nil)
			for err == nil && r.StatusCode == 103 {
				r, err = http.ReadResponse(c.in, nil)
			}
			require.NoError(t, err)
			text, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			assert.Equal(t, 502, r.StatusCode)
			assert.Contains(t, string(text), "backend b1: ")
			assert.Empty(t, r.Header["X-Bad"])
			assert.Equal(t, uint64(1), s.pool.Status(s.now())[0].Failures)
		})
	}
}

// flood writes a frame many times, for as long as anybody takes it.
func (w h2Wire) flood(n int, kind byte, payload string) {
	flags := byte(0)
	if kind == frameHead {
		flags = endHead
	}
	for range n {
		w.frame(kind, flags, 1, payload)
	}
}

func TestHTTP2BackendThatOnlyListensIsGivenUp(t *testing.T) {
	silent := make(chan struct{})
	s := newStackOver(t, func(c *Config) {
		overH2C(c)
		c.Retries, c.ResponseHeaderTimeout = 0, 100*time.Millisecond
	}, serveConns(t, func(conn *net.TCPConn) {
		w := h2Wire{conn}
		w.frame(frameSettings, 0, 0, "\x00\x03\x00\x00\x00\x00") // not one request at a time
		<-silent
	}))
	defer close(silent)
	r, text := s.do("GET", "/")
	assert.Equal(t, 504, r.StatusCode)
	assert.Equal(t, "backend b1: no answer within 100ms\n", text)
}

// TestMalformedBodiesAreTheClientsFault: whatever the size of what is wrong.
func TestMalformedBodiesAreTheClientsFault(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	const post = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
	for claim, text := range map[string]string{
		"a size below zero":            "-1\r\nabc\r\n0\r\n\r\n",
		"a size that is none":          "zz\r\nabc\r\n0\r\n\r\n",
		"an extension of a megabyte":   "3;" + strings.Repeat("a", 1<<20) + "\r\nabc\r\n0\r\n\r\n",
		"a hundred zeros before it":    strings.Repeat("0", 100) + "3\r\nabc\r\n0\r\n\r\n",
		"more extensions than content": strings.Repeat("1;"+strings.Repeat("a", 40)+"\r\na\r\n", 30_000) + "0\r\n\r\n",
		"trailers of two megabytes":    "0\r\n" + strings.Repeat("A: b\r\n", 300_000) + "\r\n",
	} {
		t.Run(claim, func(t *testing.T) {
			c := s.raw(post)
			sent := make(chan struct{})
			go func() { // the proxy need not take all of it
				defer close(sent)
				_, _ = io.WriteString(c, text)
			}()
			r, err := http.ReadResponse(c.in, nil)
			require.NoError(t, err)
			assert.Equal(t, 400, r.StatusCode)
			require.NoError(t, c.Close())
			<-sent
		})
	}
	s.quietAndBlameless()
}

// TestNothingOfAnAnswerIsTakenForTheNext: bytes after an answer, or in one that
// has no body, must not answer somebody else's request.
func TestNothingOfAnAnswerIsTakenForTheNext(t *testing.T) {
	const ok, bad = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"
	for claim, c := range map[string]struct{ method, text string }{
		"after a body":            {"GET", ok + "Content-Length: 2\r\n\r\nok" + bad},
		"after the last chunk":    {"GET", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" + bad},
		"in an answer to HEAD":    {"HEAD", ok + "Content-Length: 41\r\n\r\n" + bad},
		"in a 204":                {"GET", "HTTP/1.1 204 No Content\r\nContent-Length: 41\r\n\r\n" + bad},
		"in a 304":                {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 41\r\n\r\n" + bad},
		"after an answer of none": {"GET", ok + "Content-Length: 0\r\n\r\n" + bad},
	} {
		t.Run(claim, func(t *testing.T) {
			s := newStackOver(t, quiet, serveConns(t, func(conn *net.TCPConn) {
				in := bufio.NewReader(conn)
				for head := readHead(in); head != ""; head = readHead(in) {
					text := c.text
					if strings.Contains(head, "/next") {
						text = ok + "Content-Length: 4\r\n\r\ngood"
					}
					_, _ = io.WriteString(conn, text)
				}
			}))
			for range 20 {
				s.do(c.method, "/")
				_, text := s.do("GET", "/next")
				require.Equal(t, "good", text)
			}
		})
	}
}

// Hints of HTTP/2 backends pass as those of HTTP/1.1 do, in order and before
// the answer.
func TestHintsOfHTTP2BackendsPass(t *testing.T) {
	s := newStackOver(t, overH2C, serveH2C(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := range 5 {
			w.Header().Set("Link", fmt.Sprint("<", i, ">"))
			w.WriteHeader(http.StatusEarlyHints)
		}
		w.Header().Set("Link", "final")
	}))
	c := s.raw("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	var links []string
	for len(links) < 6 {
		r, err := http.ReadResponse(c.in, nil)
		require.NoError(t, err)
		links = append(links, r.Header.Get("Link"))
	}
	assert.Equal(t, []string{"<0>", "<1>", "<2>", "<3>", "<4>", "final"}, links)
}

func TestACallsDeadlineIsReadAsGRPCWritesIt(t *testing.T) {
	now := time.Unix(1000, 0)
	for text, want := range map[string]time.Duration{
		"1H": time.Hour, "2M": 2 * time.Minute, "3S": 3 * time.Second, "50m": 50 * time.Millisecond, "7u": 7 * time.Microsecond, "9n": 9,
		"99999999H": 24 * time.Hour, // far enough
		"":          -1, "5": -1, "S": -1, "-1S": -1, "123456789S": -1, "1x": -1, "1.5S": -1,
	} {
		got := callEnds(http.Header{"Grpc-Timeout": {text}}, now)
		if want < 0 {
			assert.Zero(t, got, text)
		} else {
			assert.Equal(t, want, got.Sub(now), text)
		}
	}
}
