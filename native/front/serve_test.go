//go:build unix

package front

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/native/forward"
)

// A paper connection has no socket: what is read is put into the buffer by the
// test, and what is written is kept.
type paper struct {
	net.Conn
	out    bytes.Buffer
	writes int
}

func (p *paper) Write(b []byte) (int, error)     { p.writes++; return p.out.Write(b) }
func (p *paper) SetReadDeadline(time.Time) error { return nil }

func onPaper(f answerer) (*conn, *paper) {
	p, s := &paper{}, New(Config{Forward: f})
	c := &conn{server: s, nc: p, buf: make([]byte, firstBuffer), header: http.Header{}}
	c.watch.Store(newWatch(s))
	c.request.Memory = &c.memory
	c.answer.init(c)
	return c, p
}

// feed is what turn does with what it reads.
func (c *conn) feed(text string) {
	for text != "" {
		n := copy(c.room(), text)
		c.w += n
		text = text[n:]
		if c.work() {
			return
		}
	}
}

// dated answers with a date, so that two answers can be compared.
func dated(ctx context.Context, w http.ResponseWriter, r *forward.Request) {
	w.Header()["Date"] = []string{"then"}
	tell(ctx, w, r)
}

func TestHeadsMayBreakAnywhere(t *testing.T) {
	text := get + "GET /2 HTTP/1.1\r\nhost: h\r\nA: b\r\n\r\nPOST /3 HTTP/1.1\r\nHost: h\r\n\r\n\r\nGET /4 HTTP/1.1\r\nHost: h\r\nA: " + strings.Repeat("a", 6000) + "\r\n\r\n" + get
	c, whole := onPaper(dated)
	c.feed(text)
	want := whole.out.String()
	require.Equal(t, 5, strings.Count(want, "HTTP/1.1 200 OK\r\n"))
	for at := range len(text) {
		c, p := onPaper(dated)
		c.feed(text[:at])
		if c.feed(text[at:]); p.out.String() != want {
			require.Equal(t, want, p.out.String(), "split at %d", at)
		}
	}
	c, p := onPaper(dated)
	for i := range len(text) {
		c.feed(text[i : i+1])
	}
	assert.Equal(t, want, p.out.String())
}

func TestPipelinedBodiesMayBreakAnywhere(t *testing.T) {
	s := newStand(t, Config{}, dated)
	text := "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\nhello again" + get + "PUT /3 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n." + get
	for at := range len(text) {
		c := s.dial().say(text[:at])
		time.Sleep(100 * time.Microsecond) // most pieces are read apart; the test does not rest on it
		c.say(text[at:])
		for _, want := range []string{"POST /1 h\nContent-Length: 11\n\nhello again", "GET / h\n", "PUT /3 h\nContent-Length: 1\n\n.", "GET / h\n"} {
			_, body := c.get()
			require.Equal(t, want, body, "split at %d", at)
		}
		require.NoError(t, c.Close())
	}
	assert.Zero(t, s.handed.get())
}

func TestAnswerGoesOutInOneWrite(t *testing.T) {
	c, p := onPaper(tell)
	c.feed(get)
	assert.Equal(t, 1, p.writes)
	assert.True(t, strings.HasSuffix(p.out.String(), "\r\n\r\nGET / h\n"), p.out.String())
}

// The one allocation is the head's text.
func TestRequestTakesNoMemoryOfItsOwn(t *testing.T) {
	hello, value := []byte("hello"), []string{"5"}
	c, p := onPaper(func(_ context.Context, w http.ResponseWriter, r *forward.Request) {
		w.Header()["Content-Length"] = value
		_, _ = w.Write(hello)
	})
	text := "GET /path?query HTTP/1.1\r\nHost: h\r\nUser-Agent: test\r\nAccept: */*\r\nCookie: a=b\r\n\r\n"
	assert.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		p.out.Reset()
		c.feed(text)
	}), 1.)
}

func TestHeaderOfOneRequestIsNotTheNextOnes(t *testing.T) {
	s := newStand(t, Config{}, tell)
	c := s.dial().say("GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nX-A: 2\r\n\r\nGET / HTTP/1.1\r\nHost: b\r\nX-B: 1\r\n\r\n" + get)
	for _, want := range []string{"GET / a\nX-A: 1|2\n", "GET / b\nX-B: 1\n", "GET / h\n"} {
		_, body := c.get()
		assert.Equal(t, want, body)
	}
}

// slow says when a request has come, and how its context ended.
type slow struct {
	begun chan struct{}
	ended chan error
}

func newSlow() *slow { return &slow{make(chan struct{}, 8), make(chan error, 8)} }

func (s *slow) answer(ctx context.Context, _ http.ResponseWriter, _ *forward.Request) {
	s.begun <- struct{}{}
	<-ctx.Done()
	s.ended <- ctx.Err()
	panic(http.ErrAbortHandler)
}

func TestClientThatLeavesEndsItsRequest(t *testing.T) {
	h := newSlow()
	s := newStand(t, Config{}, h.answer)
	for claim, leave := range map[string]func(*client){
		"by closing":         func(c *client) { require.NoError(t, c.Close()) },
		"by a reset":         func(c *client) { _ = c.Conn.(*net.TCPConn).SetLinger(0); require.NoError(t, c.Close()) },
		"with half a closed": func(c *client) { require.NoError(t, closeWrite(c.Conn)) },
	} {
		for _, text := range []string{get, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"} {
			c := s.dial().say(text)
			<-h.begun
			leave(c)
			assert.Equal(t, context.Canceled, <-h.ended, claim)
		}
	}
}

func TestPipelinedBytesAreNoEnd(t *testing.T) {
	begun, on := make(chan struct{}), make(chan struct{})
	s := newStand(t, Config{}, func(ctx context.Context, w http.ResponseWriter, r *forward.Request) {
		if r.Target == "/slow" {
			close(begun)
			<-on
			assert.NoError(t, ctx.Err())
		}
		tell(ctx, w, r)
	})
	c := s.dial().say("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
	<-begun
	c.say(get)
	time.Sleep(3 * lookEvery) // the look-out comes by
	close(on)
	_, body := c.get()
	assert.Equal(t, "GET /slow h\n", body)
	_, body = c.get()
	assert.Equal(t, "GET / h\n", body)
}

func TestAnswerThatIsGivenUpIsCutOff(t *testing.T) {
	s := newStand(t, Config{}, func(_ context.Context, w http.ResponseWriter, r *forward.Request) {
		if r.Target == "/length" {
			w.Header().Set("Content-Length", "100")
		}
		fmt.Fprint(w, "half")
		if r.Method == "PUT" {
			flush(w)
		}
		panic(http.ErrAbortHandler)
	})
	for _, method := range []string{"GET", "PUT"} {
		for _, target := range []string{"/length", "/chunks"} {
			c := s.dial().say(method + " " + target + " HTTP/1.1\r\nHost: h\r\n\r\n" + get)
			r, err := http.ReadResponse(c.in, nil)
			require.NoError(t, err)
			body, err := io.ReadAll(r.Body)
			assert.Equal(t, "half", string(body))
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
			c.ended()
		}
	}
	assert.Empty(t, s.log.String())
}

func TestPanicIsPrintedAndClosesItsConnection(t *testing.T) {
	s := newStand(t, Config{}, func(context.Context, http.ResponseWriter, *forward.Request) { panic("on purpose") })
	s.dial().say(get).ended()
	assert.Contains(t, s.log.String(), "panic serving 127.0.0.1:")
	assert.Contains(t, s.log.String(), ": on purpose\n")
	assert.Contains(t, s.log.String(), "serve_test.go:")
}

func TestAnswersWithoutABodyKeepTheConnection(t *testing.T) {
	s := newStand(t, Config{}, func(_ context.Context, w http.ResponseWriter, r *forward.Request) {
		switch r.Target {
		case "/204":
			w.WriteHeader(204)
		case "/304":
			w.Header()["Content-Length"] = []string{"7"}
			w.WriteHeader(304)
		case "/known":
			w.Header()["Content-Length"] = []string{"7"}
		default:
			flush(w) // in chunks
		}
		_, err := fmt.Fprint(w, "a body.")
		assert.Equal(t, r.Method != "HEAD" && (r.Target == "/204" || r.Target == "/304"), err == http.ErrBodyNotAllowed)
	})
	c := s.dial()
	for _, way := range []struct {
		method, target string
		length         int64
		body           string
	}{
		{"GET", "/204", 0, ""}, {"GET", "/304", 0, ""}, {"HEAD", "/known", 7, ""}, {"HEAD", "/unknown", -1, ""},
		{"HEAD", "/204", -1, ""}, {"GET", "/known", 7, "a body."}, {"GET", "/unknown", -1, "a body."},
	} {
		r, body := c.say(way.method + " " + way.target + " HTTP/1.1\r\nHost: h\r\n\r\n").answer(way.method)
		assert.Equal(t, way.length, r.ContentLength, "%+v", way)
		assert.Equal(t, way.body, body, "%+v", way)
	}
}

// TestBodyThatNobodyReadIsNoRequest is what it comes to: the next request is
// found, or there is none.
func TestBodyThatNobodyReadIsNoRequest(t *testing.T) {
	s := newStand(t, Config{}, func(_ context.Context, w http.ResponseWriter, r *forward.Request) {
		w.Header()["Content-Length"] = []string{"0"}
		if r.Target == "/last" {
			w.Header()["Connection"] = []string{"close"}
		}
	})
	post := func(target string, length, sent int) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", target, length, strings.Repeat("x", sent))
	}
	c := s.dial()
	for _, sent := range []int{10, 5000, 100_000} {
		c.say(post("/", sent, sent) + get) // all of it comes
		c.get()
		c.get()
	}
	c.say(post("/", 1000, 10))
	c.get()
	c.say(strings.Repeat("x", 990) + get) // the rest comes later
	r, _ := c.get()
	assert.False(t, r.Close)
	for claim, text := range map[string]string{
		"too much of it":   post("/", 1<<20, 100),
		"the last request": post("/last", 1000, 10),
		"it does not come": post("/", 1000, 10),
	} {
		c := s.dial().say(text)
		r, _ := c.get()
		assert.Equal(t, 200, r.StatusCode, claim)
		c.ended()
	}
}

func TestBodyStreamsBothWaysAtOnce(t *testing.T) {
	s := newStand(t, Config{}, func(_ context.Context, w http.ResponseWriter, r *forward.Request) {
		piece := make([]byte, 3)
		for {
			n, err := r.Body.Read(piece)
			_, _ = w.Write(piece[:n])
			flush(w)
			if err != nil {
				return
			}
		}
	})
	c := s.dial().say("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\n")
	c.say("one")
	r, err := http.ReadResponse(c.in, nil)
	require.NoError(t, err)
	three := make([]byte, 3)
	_, err = io.ReadFull(r.Body, three)
	require.NoError(t, err)
	assert.Equal(t, "one", string(three))
	c.say("two")
	rest, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	assert.Equal(t, "two", string(rest))
}

// TestEndThatComesWithTheRequestIsSeen: no event tells of it.
func TestEndThatComesWithTheRequestIsSeen(t *testing.T) {
	s := newStand(t, Config{IdleTimeout: time.Hour}, tell)
	for range 200 {
		c := s.dial().say(get)
		require.NoError(t, closeWrite(c.Conn))
		r, _ := c.get()
		assert.Equal(t, 200, r.StatusCode)
		c.ended()
	}
}

// TestUrgentBytesStopNothing: a read ends before them, though there is more.
func TestUrgentBytesStopNothing(t *testing.T) {
	s := newStand(t, Config{}, tell)
	for range 20 {
		c := s.dial()
		raw, err := c.Conn.(*net.TCPConn).SyscallConn()
		require.NoError(t, err)
		require.NoError(t, raw.Control(func(fd uintptr) {
			_, _ = syscall.Write(int(fd), []byte("GET / HT"))
			_ = syscall.Sendto(int(fd), []byte("!"), syscall.MSG_OOB, nil)
			_, _ = syscall.Write(int(fd), []byte("TP/1.1\r\nHost: h\r\n\r\n"))
		}))
		_, body := c.get()
		assert.Equal(t, "GET / h\n", body)
	}
}
