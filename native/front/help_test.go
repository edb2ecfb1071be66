//go:build unix

package front

import (
	"bufio"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"minilb/native/forward"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// guard bounds what should happen at once.
const guard = 10 * time.Second

// An answerer is what stands behind both loops.
type answerer func(ctx context.Context, w http.ResponseWriter, r *forward.Request)

// ServeHTTP shows net/http's requests to an answerer as the fast loop's are.
func (f answerer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := forward.Request{
		Method: r.Method, Target: r.RequestURI, Host: r.Host, Header: r.Header, Remote: r.RemoteAddr,
		Major: r.ProtoMajor, Minor: r.ProtoMinor, Length: r.ContentLength,
	}
	if r.ContentLength != 0 {
		q.Body = r.Body
	}
	f(r.Context(), w, &q)
}

// A stand is a server with net/http behind it.
type stand struct {
	*Server
	t       testing.TB
	address net.Addr
	others  *http.Server
	log     *logLines
	handed  counter
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
}

func (c *counter) get() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

type logLines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newStand serves f by the fast loop, and what that does not take by net/http.
func newStand(t testing.TB, c Config, f answerer) *stand {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return newStandOn(t, l, c, f)
}

func newStandOn(t testing.TB, l net.Listener, c Config, f answerer) *stand {
	t.Helper()
	s := &stand{t: t, address: l.Addr(), log: &logLines{}}
	c.Forward, c.ErrorLog = f, log.New(s.log, "", 0)
	s.Server = New(c)
	s.others = &http.Server{Handler: f, ErrorLog: c.ErrorLog, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.handed.add()
		}
	}}
	var running sync.WaitGroup
	running.Go(func() { assert.Equal(t, http.ErrServerClosed, s.Run(l)) })
	running.Go(func() { _ = s.others.Serve(s.Others()) })
	t.Cleanup(func() {
		_ = s.Server.Close()
		_ = s.others.Close()
		running.Wait()
	})
	return s
}

// A client says and hears bytes.
type client struct {
	net.Conn
	t  testing.TB
	in *bufio.Reader
}

func (s *stand) dial() *client { return dial(s.t, s.address) }

func dial(t testing.TB, address net.Addr) *client {
	t.Helper()
	conn, err := net.Dial(address.Network(), address.String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(guard)))
	return &client{conn, t, bufio.NewReader(conn)}
}

func (c *client) say(text string) *client {
	c.t.Helper()
	_, err := io.WriteString(c, text)
	require.NoError(c.t, err)
	return c
}

// answer reads the answer to a request of a method.
func (c *client) answer(method string) (*http.Response, string) {
	c.t.Helper()
	r, err := http.ReadResponse(c.in, &http.Request{Method: method})
	require.NoError(c.t, err)
	body, err := io.ReadAll(r.Body)
	require.NoError(c.t, err)
	return r, string(body)
}

func (c *client) get() (*http.Response, string) {
	c.t.Helper()
	return c.answer("GET")
}

// ended says that the server has closed the connection, with nothing after
// what was read.
func (c *client) ended() {
	c.t.Helper()
	rest, err := io.ReadAll(c.in)
	var late net.Error
	if n, is := err.(net.Error); is {
		late = n
	}
	assert.False(c.t, late != nil && late.Timeout(), "the connection is still open")
	assert.Empty(c.t, string(rest))
}

const get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

// tell answers with the request as it was understood.
func tell(_ context.Context, w http.ResponseWriter, r *forward.Request) {
	var b strings.Builder
	b.WriteString(r.Method + " " + r.Target + " " + r.Host + "\n")
	var names []string
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.WriteString(name + ": " + strings.Join(r.Header[name], "|") + "\n")
	}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		b.WriteString("\n" + string(body))
		if err != nil {
			b.WriteString(" and then " + err.Error())
		}
	}
	w.Header()["Content-Type"] = []string{"text/plain"}
	w.Header()["Content-Length"] = []string{strconv.Itoa(b.Len())} // or net/http would find it out
	_, _ = io.WriteString(w, b.String())
}

type (
	contextType = context.Context
	request     = forward.Request
)
