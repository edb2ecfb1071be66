//go:build unix

package front

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A pair is the fast loop with net/http behind it, and net/http alone. Nobody
// may be able to tell them apart.
type pair struct {
	ours *stand
	std  *httptest.Server
}

func newPair(t testing.TB, f answerer) pair {
	std := &httptest.Server{Listener: listenLocally(t), Config: &http.Server{Handler: f}}
	std.Start()
	t.Cleanup(std.Close)
	return pair{newStandOn(t, listenLocally(t), Config{}, f), std}
}

// listenLocally has no ports, of which a fuzz test would need too many.
func listenLocally(t testing.TB) net.Listener {
	folder, err := os.MkdirTemp("", "front") // that of the test may be too long a name for a socket
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	l, err := net.Listen("unix", filepath.Join(folder, "s"))
	require.NoError(t, err)
	return l
}

// hear is everything that a server answers to some bytes, one answer after the
// other, dates left out.
func hear(t testing.TB, address net.Addr, text string) []string {
	c := dial(t, address)
	defer c.Close()
	go func() { // a server that closes early does not read all of it
		_, _ = io.WriteString(c, text)
		_ = closeWrite(c.Conn)
	}()
	var all []string
	for {
		if _, err := c.in.Peek(1); errors.Is(err, os.ErrDeadlineExceeded) {
			return append(all, "still open")
		} else if err != nil {
			return all
		}
		all = append(all, hearOne(c.in, methodAt(text, len(all))))
	}
}

// methodAt is HEAD when the n-th request is one. It is good enough for texts
// in which nothing else looks like a request line.
func methodAt(text string, n int) string {
	lines := strings.Split(text, "\n")
	i := 0
	for _, line := range lines {
		if strings.Contains(line, " HTTP/1.") {
			if i == n {
				method, _, _ := strings.Cut(line, " ")
				return method
			}
			i++
		}
	}
	return "GET"
}

func hearOne(in *bufio.Reader, method string) string {
	if start, _ := in.Peek(len("HTTP/1.1 400")); string(start) == "HTTP/1.1 400" {
		method = "GET" // who was not understood gets to read why
	}
	r, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		return "no answer: " + err.Error()
	}
	body, err := io.ReadAll(r.Body)
	if errors.Is(err, syscall.ECONNRESET) {
		err = nil // who closes with bytes unread resets; how much was read differs
	}
	var names []string
	for name, values := range r.Header {
		if name != "Date" && len(values) > 0 {
			names = append(names, fmt.Sprint(name, values))
		}
	}
	slices.Sort(names)
	return fmt.Sprint(r.Status, names, r.ContentLength, r.TransferEncoding, r.Close, r.Trailer, " ", string(body), err)
}

// verify compares what both say. What is refused is the one difference there is
// meant to be, and ends the comparison.
func (p pair) verify(t testing.TB, text string) {
	t.Helper()
	ours, std := hear(t, p.ours.address, text), hear(t, p.std.Listener.Addr(), text)
	for i, answer := range ours {
		if strings.Contains(answer, "both Content-Length and Transfer-Encoding") {
			ours = ours[:i]
			require.GreaterOrEqual(t, len(std), i)
			std = std[:i]
			break
		}
	}
	require.Equal(t, std, ours, "%q", text)
}

func TestNobodyCanTellTheLoopsApart(t *testing.T) {
	p := newPair(t, tell)
	for claim, way := range ways {
		t.Run(claim, func(t *testing.T) {
			p.verify(t, way.text)
			p.verify(t, get+way.text)
			p.verify(t, "POST /first HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"+way.text+get)
		})
	}
}

// FuzzNobodyCanTellTheLoopsApart: for any bytes, hostile ones above all, the
// answers are those of net/http.
func FuzzNobodyCanTellTheLoopsApart(f *testing.F) {
	for _, way := range ways {
		f.Add([]byte(way.text))
		f.Add([]byte(get + way.text))
	}
	f.Add([]byte("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n" + get))
	f.Add([]byte("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 30\r\n\r\nabc"))
	f.Add([]byte("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n" + get))
	p := newPair(f, tell)
	f.Fuzz(func(t *testing.T, text []byte) { p.verify(t, string(text)) })
}

// TestRandomRequestsAreUnderstoodAlike puts requests together from parts of
// which some are foul.
func TestRandomRequestsAreUnderstoodAlike(t *testing.T) {
	p := newPair(t, tell)
	pick := func(t *rapid.T, label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	rapid.Check(t, func(r *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(1, 4).Draw(r, "requests") {
			text.WriteString(pick(r, "method", "GET", "GET", "POST", "HEAD", "get", "G@T", "OPTIONS") + pick(r, "space", " ", " ", " ", "  ", "\t"))
			text.WriteString(pick(r, "target", "/", "/a?b", "/a%20b", "/%", "//x", "*", "http://o/", "/\x80", "/#f", "/a\"<>") + pick(r, "version", " HTTP/1.1", " HTTP/1.1", " HTTP/1.1", " HTTP/1.0", " http/1.1", ""))
			end := pick(r, "end", "\r\n", "\r\n", "\r\n", "\r\n", "\n")
			text.WriteString(end)
			for range rapid.IntRange(0, 5).Draw(r, "fields") {
				text.WriteString(pick(r, "field", "Host: h", "Host: h", "host:h", "A: b", "a:", "A: \t", "X-y: caf\xe9", "Content-Length: 3", "Content-Length: 3", "content-length: 03", "Content-Length: -1",
					"Connection: close", "Connection: keep-alive", "Connection: closed", "Transfer-Encoding: chunked", "Pragma: no-cache", "Cache-Control: x", " folded", "A : b", ": a", "A", "A\x00: b", "A: \x7f", "Cookie: a=b", "Cookie: c", "Expect: 100-continue", "Upgrade: x", "TE: trailers"))
				text.WriteString(pick(r, "end", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r"))
			}
			text.WriteString(end + pick(r, "body", "", "", "abc", "abc", "3\r\nabc\r\n0\r\n\r\n", "ab"))
		}
		p.verify(t, text.String())
	})
}

// TestAnswersAreTheSame is for the handler's side.
func TestAnswersAreTheSame(t *testing.T) {
	handlers := map[string]func(w http.ResponseWriter){
		"nothing":                func(http.ResponseWriter) {},
		"a body with its length": func(w http.ResponseWriter) { w.Header().Set("Content-Length", "2"); fmt.Fprint(w, "ok") },
		"an empty one":           func(w http.ResponseWriter) { w.Header().Set("Content-Length", "0"); w.WriteHeader(500) },
		"more than was said": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "2")
			fmt.Fprint(w, "ok")
			fmt.Fprint(w, "more")
		},
		"less than was said": func(w http.ResponseWriter) { w.Header().Set("Content-Length", "9"); fmt.Fprint(w, "ok") },
		"in pieces":          func(w http.ResponseWriter) { fmt.Fprint(w, "one"); flush(w); fmt.Fprint(w, "two") },
		"a long one":         func(w http.ResponseWriter) { flush(w); fmt.Fprint(w, strings.Repeat("long ", 10_000)) },
		"a long one of a length": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "50000")
			fmt.Fprint(w, strings.Repeat("long ", 10_000))
		},
		"204": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "3")
			w.WriteHeader(204)
			fmt.Fprint(w, "no")
		},
		"304": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "3")
			w.Header().Set("ETag", "x")
			w.WriteHeader(304)
		},
		"a status of its own": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1")
			w.WriteHeader(599)
			fmt.Fprint(w, "x")
		},
		"the last one": func(w http.ResponseWriter) {
			w.Header().Set("Connection", "close")
			w.Header().Set("Content-Length", "1")
			fmt.Fprint(w, "x")
		},
		"a date of its own":      func(w http.ResponseWriter) { w.Header().Set("Date", "then"); w.WriteHeader(204) },
		"fields twice":           func(w http.ResponseWriter) { w.Header()["A"] = []string{"1", "", "2"}; w.WriteHeader(204) },
		"a value with line ends": func(w http.ResponseWriter) { w.Header()["A"] = []string{" a\r\nB: c "}; w.WriteHeader(204) },
		"a name that is none": func(w http.ResponseWriter) {
			w.Header()["A b"] = []string{"a"}
			w.Header()["C"] = nil
			w.WriteHeader(204)
		},
		"a coding of its own": func(w http.ResponseWriter) {
			w.Header().Set("Transfer-Encoding", "chunked")
			fmt.Fprint(w, "ok")
			flush(w)
		},
		"two heads":    func(w http.ResponseWriter) { w.WriteHeader(204); w.WriteHeader(500) },
		"a late field": func(w http.ResponseWriter) { w.WriteHeader(204); w.Header().Set("Late", "1") },
		"trailers that are known": func(w http.ResponseWriter) {
			w.Header().Set("Trailer", "A, B,Content-Length")
			fmt.Fprint(w, "ok")
			w.Header().Set("A", "1")
		},
		"trailers that are not":   func(w http.ResponseWriter) { flush(w); w.Header().Set(http.TrailerPrefix+"A", "1") },
		"a panic before the head": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"a panic in the body":     func(w http.ResponseWriter) { fmt.Fprint(w, "half"); flush(w); panic(http.ErrAbortHandler) },
		"a panic before the end": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "9")
			fmt.Fprint(w, "half")
			flush(w)
			panic(http.ErrAbortHandler)
		},
		"a panic of another kind": func(http.ResponseWriter) { panic("on purpose") },
		"an early hint": func(w http.ResponseWriter) {
			w.Header().Set("Link", "x")
			w.WriteHeader(103)
			w.Header().Del("Link")
			w.WriteHeader(204)
		},
		"a hint with a length": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1")
			w.WriteHeader(103)
			fmt.Fprint(w, "x")
		},
		"a body without its reads": func(w http.ResponseWriter) { w.Header().Set("Content-Length", "1"); fmt.Fprint(w, "x") },
	}
	for claim, f := range handlers {
		t.Run(claim, func(t *testing.T) {
			p := newPair(t, func(_ contextType, w http.ResponseWriter, _ *request) {
				w.Header()["Content-Type"] = nil // both must not guess
				f(w)
			})
			p.std.Config.ErrorLog = p.ours.ErrorLog
			for _, text := range []string{
				get, "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", get + get, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" + get,
				"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" + get,
			} {
				p.verify(t, text)
			}
			assert.Zero(t, p.ours.handed.get())
		})
	}
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

func TestEveryAnswerHasADate(t *testing.T) {
	s := newStand(t, Config{}, tell)
	c := s.dial().say(get)
	r, _ := c.get()
	at, err := http.ParseTime(r.Header.Get("Date"))
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), at, 3*time.Second)
}
