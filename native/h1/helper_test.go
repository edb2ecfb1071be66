package h1

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// guard bounds what should happen at once.
const guard = 10 * time.Second

func newClient() *Client {
	return &Client{MaxIdle: 8, IdleFor: time.Minute, Timeouts: Timeouts{Connect: guard, Head: guard, Body: guard}}
}

func clientFor(t testing.TB) *Client {
	c := newClient()
	t.Cleanup(c.Close)
	return c
}

// A peer is the backend's side of one connection.
type peer struct {
	t testing.TB
	net.Conn
	in *bufio.Reader
}

// request reads a request to its end and returns it, its body read.
func (p *peer) request() (*http.Request, string) {
	r, err := http.ReadRequest(p.in)
	if err != nil {
		return nil, ""
	}
	body, _ := io.ReadAll(r.Body)
	return r, string(body)
}

// head reads a request's head and nothing of its body.
func (p *peer) head() string {
	var b strings.Builder
	for {
		line, err := p.in.ReadString('\n')
		b.WriteString(line)
		if err != nil || line == "\r\n" {
			return b.String()
		}
	}
}

func (p *peer) say(s string) {
	if s != "" { // an empty write wakes the reader of a pipe
		io.WriteString(p, s)
	}
}

// gone returns when the client has closed the connection.
func (p *peer) gone() bool {
	_, err := io.Copy(io.Discard, p.in)
	return err == nil || !isTimeout(err)
}

// backend runs one script per connection, in the order of arrival, and closes
// each connection at its script's end.
func backend(t testing.TB, scripts ...func(p *peer)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var running sync.WaitGroup
	var open []net.Conn
	accepting := make(chan struct{})
	go func() {
		defer close(accepting)
		for _, script := range scripts {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			nc.SetDeadline(time.Now().Add(guard))
			open = append(open, nc)
			running.Go(func() {
				defer nc.Close()
				script(&peer{t, nc, bufio.NewReader(nc)})
			})
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-accepting
		for _, nc := range open {
			nc.Close()
		}
		running.Wait()
	})
	return l.Addr().String()
}

// answers sends the next text after each request, then waits for the client to
// close.
func answers(texts ...string) func(*peer) {
	return func(p *peer) {
		for _, text := range texts {
			if r, _ := p.request(); r == nil {
				return
			}
			p.say(text)
		}
		p.gone()
	}
}

// once sends one text and closes.
func once(text string) func(*peer) {
	return func(p *peer) { p.request(); p.say(text) }
}

func get() *Request { return &Request{Method: "GET", Target: "/", Host: "h"} }

// got is a whole answer.
type got struct {
	status  int
	body    string
	header  http.Header
	trailer http.Header
}

// ask makes a whole exchange.
func ask(c *Client, address string, r *Request) (got, error) {
	res, f := c.Do(context.Background(), address, r)
	if f != nil {
		return got{}, f
	}
	body, err := io.ReadAll(res)
	res.Close()
	return got{res.Status, string(body), res.Header, res.Trailer()}, err
}

// failure is what an exchange must fail with.
func failure(t testing.TB, err error) *Failure {
	t.Helper()
	f, ok := err.(*Failure)
	require.True(t, ok, "%v", err)
	return f
}

func malformed(t testing.TB, err error) {
	t.Helper()
	var m Malformed
	require.ErrorAs(t, err, &m)
}

const hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

func assertHello(t testing.TB, g got, err error) {
	t.Helper()
	require.NoError(t, err)
	assert.Equal(t, 200, g.status)
	assert.Equal(t, "hello", g.body)
}
