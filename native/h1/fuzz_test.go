package h1

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A recording is a connection whose answer is known beforehand; it takes
// whatever is written.
type recording struct {
	answer []byte
	left   []byte
	closed bool
}

func (r *recording) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (r *recording) Write(p []byte) (int, error)      { r.left = r.answer; return len(p), nil }
func (r *recording) Close() error                     { r.closed = true; return nil }
func (r *recording) LocalAddr() net.Addr              { return nil }
func (r *recording) RemoteAddr() net.Addr             { return nil }
func (r *recording) SetDeadline(time.Time) error      { return nil }
func (r *recording) SetReadDeadline(time.Time) error  { return nil }
func (r *recording) SetWriteDeadline(time.Time) error { return nil }

// play is a client whose connections are recordings of one answer.
func play(answer []byte) *Client {
	c := newClient()
	c.Dial = func(context.Context, string) (net.Conn, error) { return &recording{answer: answer}, nil }
	return c
}

// standard is what net/http reads, past 1xx answers, and how much was left.
func standard(method string, answer []byte) (g got, left int, ok bool) {
	src := bytes.NewReader(answer)
	in := bufio.NewReader(src)
	for range maxInformational {
		res, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return got{}, 0, false
		}
		if res.StatusCode < 200 {
			continue
		}
		body, err := io.ReadAll(res.Body)
		return got{res.StatusCode, string(body), res.Header, res.Trailer}, in.Buffered() + src.Len(), err == nil
	}
	return got{}, 0, false
}

// FuzzAnswer reads arbitrary bytes as an answer. What this package accepts,
// net/http accepts, and reads the same. The other way round there are
// differences, all of them deliberate: Content-Length beside Transfer-Encoding,
// HTTP/1.0 with Transfer-Encoding, control characters in values, lines that
// continue others, white space around a chunk's size, chunk sizes of 16 digits,
// bare LF in trailers, bytes in a name that no token has, and the limits.
func FuzzAnswer(f *testing.F) {
	for _, x := range clearAnswers {
		f.Add(x.method == "HEAD", []byte(x.text))
	}
	f.Add(false, []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n"))
	f.Fuzz(func(t *testing.T, head bool, answer []byte) {
		r := get()
		if head {
			r.Method = "HEAD"
		}
		c := play(answer)
		defer c.Close()
		g, err := ask(c, "x", r)
		if err != nil {
			assert.Zero(t, c.Idle())
			return
		}
		want, left, ok := standard(r.Method, answer)
		if !ok && lenient(answer) {
			return
		}
		require.True(t, ok, "net/http refuses %q", answer)
		assert.Equal(t, want.status, g.status)
		assert.Equal(t, want.body, g.body)
		assertTrailer(t, want.trailer, g.trailer)
		if c.Idle() > 0 {
			assert.Zero(t, left, "a connection with bytes left over was kept")
		}
	})
}

// lenient is where net/http is stricter: it takes no white space before a
// chunk's extension, which RFC 9112 section 7.1.1 allows, and no Trailer field
// that announces what cannot be one.
func lenient(answer []byte) bool {
	return bytes.Contains(bytes.ToLower(answer), []byte("trailer")) ||
		bytes.Contains(answer, []byte(" ;")) || bytes.Contains(answer, []byte("\t;"))
}

// assertTrailer compares what came; net/http also lists what was announced.
func assertTrailer(t *testing.T, want, got http.Header) {
	for name, values := range got {
		assert.Equal(t, values, want[name], name)
	}
	for name, values := range want {
		assert.Equal(t, values, got[name], name)
	}
}

// FuzzChunkSize compares with strconv on what may be a size.
func FuzzChunkSize(f *testing.F) {
	for _, s := range []string{"0\r", "5\r", "aF;x=y\r", "5 ;\r", "0x5\r", "+5\r", "5_0\r", "5", "5\r\r", "5;\x00\r", "fffffffffffffff\r", "1000000000000000\r"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		size, ok := parseChunkSize(line)
		text, ended := strings.CutSuffix(string(line), "\r")
		digits, extension, extended := strings.Cut(text, ";")
		if extended {
			digits = strings.TrimRight(digits, " \t")
		}
		clean := strings.IndexFunc(digits, func(c rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", c) }) < 0
		want, err := strconv.ParseInt(digits, 16, 64)
		may := ended && clean && err == nil && len(digits) <= 15 && isValue(extension)
		require.Equal(t, may, ok)
		if ok {
			assert.Equal(t, want, size)
		}
	})
}
