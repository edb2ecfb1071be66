package h1

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// deadStack fills a stack with connections that the backend closes.
func deadStack(t *testing.T, c *Client, last ...func(*peer)) (address string) {
	t.Helper()
	now := make(chan struct{})
	dying := func(p *peer) { p.request(); p.say(hello); <-now }
	address = backend(t, append([]func(*peer){dying, dying, dying}, last...)...)
	open := []*Response{begin(t, c, address), begin(t, c, address), begin(t, c, address)}
	for _, res := range open {
		end(t, res)
	}
	require.Equal(t, 3, c.Idle())
	close(now)
	for _, cn := range c.stack(address).conns {
		raw, err := cn.Conn.(*net.TCPConn).SyscallConn()
		require.NoError(t, err)
		require.Eventually(t, func() bool { return readable(raw) }, guard, time.Millisecond)
	}
	return address
}

func TestDeadConnectionsArePassedOver(t *testing.T) {
	c := clientFor(t)
	address := deadStack(t, c, answers(hello, hello))
	res := begin(t, c, address)
	assert.False(t, res.conn.reused)
	assert.Equal(t, "hello", end(t, res))
	assert.Equal(t, 1, c.Idle())
	res = begin(t, c, address)
	assert.True(t, res.conn.reused)
	assert.Equal(t, "hello", end(t, res))
}

func TestDeadConnectionsCostNoBody(t *testing.T) {
	c := clientFor(t)
	body := make(chan string, 1)
	address := deadStack(t, c, func(p *peer) {
		_, text := p.request()
		body <- text
		p.say(hello)
		p.gone()
	})
	g, err := ask(c, address, &Request{Method: "POST", Target: "/", Host: "h", Body: strings.NewReader("order"), Length: 5})
	assertHello(t, g, err)
	assert.Equal(t, "order", <-body)
}

func TestDeadConnectionsAndNoOtherIsAFailureToConnect(t *testing.T) {
	c := clientFor(t)
	dialled := 0
	c.Dial = func(ctx context.Context, address string) (net.Conn, error) {
		if dialled++; dialled > 3 {
			return nil, context.DeadlineExceeded
		}
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	address := deadStack(t, c)
	_, f := c.Do(t.Context(), address, get())
	require.NotNil(t, f)
	assert.Equal(t, Dialling, f.Stage)
	assert.False(t, f.Sent)
	assert.Zero(t, c.Idle())
}

func TestMemoryOfAResponseServesTheNext(t *testing.T) {
	c := clientFor(t)
	address := backend(t, answers("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: 1\r\nA: 2\r\nB: 1\r\n\r\nfirst",
		"HTTP/1.1 103 Early Hints\r\nLink: l\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 6\r\nB: 2\r\n\r\nsecond", hello))
	var e Response
	for _, want := range []got{
		{200, "first", map[string][]string{"Content-Length": {"5"}, "A": {"1", "2"}, "B": {"1"}}, nil},
		{404, "second", map[string][]string{"Content-Length": {"6"}, "B": {"2"}}, nil},
		{200, "hello", map[string][]string{"Content-Length": {"5"}}, nil},
	} {
		require.Nil(t, c.DoInto(&e, t.Context(), address, get()))
		assert.Equal(t, want.status, e.Status)
		assert.Equal(t, want.header, e.Header)
		assert.Equal(t, want.body, end(t, &e))
	}
	assert.Equal(t, 1, c.Idle())
}

// A follower is a Watched context.
type follower struct {
	context.Context
	wake  func()
	ended bool
}

func (f *follower) Watch(wake func()) { f.wake = wake }
func (f *follower) Unwatch() bool     { f.wake = nil; return f.ended }

func (f *follower) Err() error {
	if f.ended {
		return context.Canceled
	}
	return nil
}

func TestWatchedContextIsFollowedAndLetGo(t *testing.T) {
	c := clientFor(t)
	address := backend(t, answers(hello, hello), answers(hello))
	f := &follower{Context: context.Background()}
	res, failed := c.Do(f, address, get())
	require.Nil(t, failed)
	assert.NotNil(t, f.wake)
	end(t, res)
	assert.Nil(t, f.wake)
	assert.Equal(t, 1, c.Idle())
	res, failed = c.Do(f, address, get())
	require.Nil(t, failed)
	f.wake()
	f.ended = true
	res.Close()
	assert.Zero(t, c.Idle(), "a deadline in the past may be set on it")
}

func TestWatchedContextEndsTheWait(t *testing.T) {
	c := clientFor(t)
	asked := make(chan struct{})
	address := backend(t, func(p *peer) { p.request(); close(asked); p.gone() })
	f := newEnding()
	go func() { <-asked; f.end() }()
	_, failed := c.Do(f, address, get())
	require.NotNil(t, failed)
	assert.ErrorIs(t, failed, context.Canceled)
	assert.True(t, failed.Sent)
}

// An ending context ends when it is told, from any goroutine.
type ending struct {
	context.Context
	cancel context.CancelFunc
	wake   chan func()
}

func newEnding() *ending {
	ctx, cancel := context.WithCancel(context.Background())
	return &ending{ctx, cancel, make(chan func(), 1)}
}

func (e *ending) Watch(wake func()) { e.wake <- wake }
func (e *ending) Unwatch() bool     { return e.Err() != nil }
func (e *ending) end()              { e.cancel(); (<-e.wake)() }

// TestRequestThatTheSocketDoesNotTakeAtOnceGoesOutWhole: what is left over is
// written by a connection that can wait.
func TestRequestThatTheSocketDoesNotTakeAtOnceGoesOutWhole(t *testing.T) {
	c := clientFor(t)
	on, body := make(chan struct{}), make(chan string, 1)
	address := backend(t, func(p *peer) {
		p.request()
		p.say(hello)
		_ = p.Conn.(*net.TCPConn).SetReadBuffer(1)
		<-on
		_, text := p.request()
		body <- text
		p.say(hello)
		p.gone()
	})
	end(t, begin(t, c, address))
	_ = c.stack(address).conns[0].Conn.(*net.TCPConn).SetWriteBuffer(1)
	time.AfterFunc(10*time.Millisecond, func() { close(on) })
	text := strings.Repeat("x", smallBody)
	r := &Request{Method: "POST", Target: "/", Host: "h", Body: strings.NewReader(text), Length: smallBody}
	g, err := ask(c, address, r)
	assertHello(t, g, err)
	assert.Equal(t, text, <-body)
}
