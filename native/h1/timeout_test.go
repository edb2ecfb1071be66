package h1

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// within asserts that a timeout fired between d and an eighth later.
func within(t *testing.T, d, took time.Duration) {
	t.Helper()
	assert.GreaterOrEqual(t, took, d)
	assert.LessOrEqual(t, took, d*9/8)
}

func TestEveryPhaseHasItsTimeout(t *testing.T) {
	const connect, head, body = 3 * time.Second, 20 * time.Second, 40 * time.Second
	idle := func(p *peer) { p.gone() }
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	part := func(text string) func(*peer) {
		return func(p *peer) { p.request(); p.say(text); p.gone() }
	}
	for name, x := range map[string]struct {
		script   func(*peer)
		r        *Request
		stage    Stage
		after    time.Duration
		received bool
	}{
		"write of the head": {func(p *peer) { time.Sleep(time.Hour) }, get(), Sending, body, false},
		"write of the body": {func(p *peer) { p.head(); time.Sleep(time.Hour) }, post(bytes.NewReader(make([]byte, 1<<20)), 1<<20), Sending, body, false},
		"write of a chunk":  {func(p *peer) { p.head(); time.Sleep(time.Hour) }, post(bytes.NewReader(make([]byte, 1<<20)), -1), Sending, body, false},
		"no head":           {idle, get(), Waiting, head, false},
		"half a head":       {part("HTTP/1.1 200 OK\r\nA"), get(), Waiting, head, true},
		"head after a hint": {part("HTTP/1.1 103 E\r\n\r\n"), get(), Waiting, head, true},
		"head after a body": {idle, post(strings.NewReader(strings.Repeat("a", 1<<20)), 1<<20), Waiting, head, false},
		"body by length":    {part("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi"), get(), Reading, body, true},
		"body until close":  {part("HTTP/1.1 200 OK\r\n\r\nhi"), get(), Reading, body, true},
		"chunk size":        {part(chunked), get(), Reading, body, true},
		"chunk data":        {part(chunked + "5\r\nhi"), get(), Reading, body, true},
		"chunk end":         {part(chunked + "2\r\nhi"), get(), Reading, body, true},
		"trailers":          {part(chunked + "0\r\nA: b\r\n"), get(), Reading, body, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := pipeClient(t, x.script)
				c.Timeouts = Timeouts{connect, head, body}
				began := time.Now()
				_, err := ask(c, "pipe", x.r)
				f := failure(t, err)
				within(t, x.after, time.Since(began))
				assert.True(t, f.Timeout())
				assert.Equal(t, x.stage, f.Stage)
				assert.Equal(t, x.received, f.Received)
				assert.Zero(t, c.Idle())
			})
		})
	}
}

func TestConnectHasItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient()
		c.Timeouts.Connect = 3 * time.Second
		c.Dial = func(ctx context.Context, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		body := strings.NewReader("hi")
		_, err := ask(c, "x", post(body, 2))
		f := failure(t, err)
		assert.True(t, f.Timeout() && f.Stage == Dialling && !f.Sent)
		assert.Equal(t, 2, body.Len(), "the request can be sent elsewhere")
	})
}

// slow gives a byte a second.
type slow struct{ left int }

func (s *slow) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	time.Sleep(time.Second)
	s.left--
	return copy(p, "x"), nil
}

func TestHeadsTimeoutCountsFromTheRequestsLastByte(t *testing.T) {
	for name, length := range map[string]int64{"chunks": -1, "length": smallBody + 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := pipeClient(t, func(p *peer) {
					p.request()
					time.Sleep(9 * time.Second)
					p.say(hello)
					p.gone()
				})
				c.Timeouts.Head, c.Timeouts.Body = 10*time.Second, 2*time.Second
				body := io.MultiReader(&slow{60}, bytes.NewReader(make([]byte, max(0, length-60))))
				g, err := ask(c, "pipe", post(body, length))
				assertHello(t, g, err)
				assert.Equal(t, 1, c.Idle())
			})
		})
	}
}

func TestTrailersMayComeLaterThanTheLastWritesTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := pipeClient(t, answers(hello))
		c.Timeouts.Body = 2 * time.Second
		r := post(strings.NewReader("hi"), -1)
		r.Trailer = func() http.Header { time.Sleep(time.Minute); return nil }
		g, err := ask(c, "pipe", r)
		assertHello(t, g, err)
	})
}

func TestSlowBodyThatMovesDoesNotTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := pipeClient(t, func(p *peer) {
			p.request()
			p.say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
			for range 100 {
				time.Sleep(time.Second)
				p.say("x")
			}
			p.gone()
		})
		c.Timeouts = Timeouts{Head: 2 * time.Second, Body: 2 * time.Second}
		g, err := ask(c, "pipe", get())
		require.NoError(t, err)
		assert.Len(t, g.body, 100)
	})
}

func TestNoTimeoutsMeansNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := func(p *peer) { p.request(); time.Sleep(1000 * time.Hour); p.say(hello); p.gone() }
		c := pipeClient(t, late)
		c.Timeouts = Timeouts{}
		g, err := ask(c, "pipe", post(bytes.NewReader(make([]byte, 1<<20)), -1))
		assertHello(t, g, err)
	})
}

func TestBodyErrorWakesWhoeverWaitsWithAndWithoutTimeouts(t *testing.T) {
	for _, timeouts := range []Timeouts{{}, {Head: time.Hour, Body: time.Hour}} {
		synctest.Test(t, func(t *testing.T) {
			c := pipeClient(t, func(p *peer) { p.gone() })
			c.Timeouts = timeouts
			began := time.Now()
			_, err := ask(c, "pipe", post(io.MultiReader(&slow{3}, &spoiled{0, io.ErrClosedPipe}), -1))
			var b *BodyError
			require.ErrorAs(t, err, &b)
			assert.Equal(t, 3*time.Second, time.Since(began))
		})
	}
}

func TestContextEndsAnExchangeInEveryPhase(t *testing.T) {
	const after = 7 * time.Second
	upload := func() *Request { return post(bytes.NewReader(make([]byte, 1<<20)), -1) }
	blocked := func() *Request {
		body, wake := blockingBody()
		r := post(body, -1)
		r.Interrupt = wake
		return r
	}
	for name, x := range map[string]struct {
		script func(*peer)
		r      func() *Request
		stage  Stage
	}{
		"sending the head": {func(p *peer) { time.Sleep(time.Hour) }, get, Sending},
		"sending the body": {func(p *peer) { p.head(); time.Sleep(time.Hour) }, upload, Waiting},
		"waiting":          {func(p *peer) { p.gone() }, get, Waiting},
		"waiting for body": {func(p *peer) { p.gone() }, blocked, Waiting},
		"reading":          {func(p *peer) { p.request(); p.say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi"); p.gone() }, get, Reading},
	} {
		t.Run(name, func(t *testing.T) {
			for _, timeouts := range []Timeouts{{}, {Head: time.Hour, Body: time.Hour}} {
				synctest.Test(t, func(t *testing.T) {
					c := pipeClient(t, x.script)
					c.Timeouts = timeouts
					ctx, cancel := context.WithCancel(t.Context())
					began := time.Now()
					time.AfterFunc(after, cancel)
					res, f := c.Do(ctx, "pipe", x.r())
					if f == nil {
						_, err := io.ReadAll(res)
						res.Close()
						f = failure(t, err)
					}
					assert.ErrorIs(t, f, context.Canceled)
					assert.Equal(t, x.stage, f.Stage)
					assert.Equal(t, after, time.Since(began))
					assert.False(t, f.Timeout())
					assert.Zero(t, c.Idle())
				})
			}
		})
	}
}

func TestContextThatHasEndedTakesNoConnection(t *testing.T) {
	c := clientFor(t)
	address := backend(t, answers(hello))
	g, err := ask(c, address, get())
	assertHello(t, g, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, f := c.Do(ctx, address, get())
	require.ErrorIs(t, f, context.Canceled)
	assert.Equal(t, 1, c.Idle())
}

func TestContextEndsADial(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := newClient()
	c.Dial = func(ctx context.Context, _ string) (net.Conn, error) { cancel(); <-ctx.Done(); return nil, ctx.Err() }
	_, f := c.Do(ctx, "x", get())
	require.ErrorIs(t, f, context.Canceled)
	assert.Equal(t, Dialling, f.Stage)
}

func TestDeadlineIsSetAnewOnlyWhenItHasComeCloser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l deadline
		assert.False(t, l.renew(0), "none is set")
		assert.True(t, l.renew(8*time.Second))
		assert.Equal(t, 9*time.Second, time.Until(l.at))
		time.Sleep(time.Second)
		assert.False(t, l.renew(8*time.Second))
		time.Sleep(time.Nanosecond)
		assert.True(t, l.renew(8*time.Second), "never early")
		assert.True(t, l.renew(time.Second), "never more than an eighth late")
		assert.True(t, l.renew(0), "taken back")
		assert.True(t, l.renew(1<<63-1))
		assert.Positive(t, time.Until(l.at))
	})
}
