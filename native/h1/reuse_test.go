package h1

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// numbered answers every request with the number of its connection.
func numbered(n int) func(*peer) {
	return func(p *peer) {
		for {
			if r, _ := p.request(); r == nil {
				return
			}
			p.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d", n))
		}
	}
}

// begin sends a request and leaves its answer open.
func begin(t testing.TB, c *Client, address string) *Response {
	t.Helper()
	res, f := c.Do(context.Background(), address, get())
	require.Nil(t, f)
	return res
}

// end reads an answer and gives its connection back.
func end(t testing.TB, res *Response) string {
	t.Helper()
	body, err := io.ReadAll(res)
	require.NoError(t, err)
	require.NoError(t, res.Close())
	return string(body)
}

func TestLastUsedConnectionIsTakenFirst(t *testing.T) {
	c := clientFor(t)
	address := backend(t, numbered(0), numbered(1), numbered(2))
	a, b, d := begin(t, c, address), begin(t, c, address), begin(t, c, address)
	end(t, b)
	end(t, d)
	end(t, a)
	assert.Equal(t, 3, c.Idle())
	x, y, z := begin(t, c, address), begin(t, c, address), begin(t, c, address)
	assert.Equal(t, "0 2 1", end(t, x)+" "+end(t, y)+" "+end(t, z))
}

func TestNoMoreConnectionsRestThanMaxIdle(t *testing.T) {
	c := clientFor(t)
	c.MaxIdle = 2
	address := backend(t, numbered(0), numbered(1), numbered(2))
	a, b, d := begin(t, c, address), begin(t, c, address), begin(t, c, address)
	end(t, a)
	end(t, b)
	end(t, d)
	assert.Equal(t, 2, c.Idle())
	assert.Equal(t, "1", end(t, begin(t, c, address)))
}

func TestConnectionRestsNoLongerThanIdleFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan time.Time, 2)
		script := func(p *peer) {
			numbered(0)(p)
			closed <- time.Now()
		}
		c := pipeClient(t, script, script)
		c.IdleFor = time.Minute
		began := time.Now()
		a, b := begin(t, c, "x"), begin(t, c, "x")
		end(t, a)
		time.Sleep(40 * time.Second)
		end(t, b)
		assert.Equal(t, 2, c.Idle())
		assert.Equal(t, time.Minute, (<-closed).Sub(began), "though nobody asks for it")
		assert.Equal(t, 100*time.Second, (<-closed).Sub(began))
		assert.Zero(t, c.Idle())
	})
}

func TestForgottenBackendKeepsNoConnection(t *testing.T) {
	c := clientFor(t)
	gone := make(chan bool, 2)
	script := func(p *peer) { numbered(0)(p); gone <- true }
	address := backend(t, script, script, numbered(2))
	a, b := begin(t, c, address), begin(t, c, address)
	end(t, a)
	c.Forget(address)
	<-gone
	c.Forget(address)
	assert.Equal(t, "2", end(t, begin(t, c, address)), "added again")
	end(t, b)
	<-gone
	assert.Equal(t, 1, c.Idle(), "what was in use when the backend left does not come back")
}

func TestClosedClientKeepsNoConnection(t *testing.T) {
	c := clientFor(t)
	address := backend(t, numbered(0), numbered(1), numbered(2))
	a, b := begin(t, c, address), begin(t, c, address)
	end(t, a)
	c.Close()
	end(t, b)
	end(t, begin(t, c, address))
	assert.Zero(t, c.Idle())
}

func TestIdleAndCloseMayRunBesideExchanges(t *testing.T) {
	scripts := make([]func(*peer), 200)
	for i := range scripts {
		scripts[i] = numbered(1)
	}
	address := backend(t, scripts...)
	c := clientFor(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 50 {
				ask(c, address, get())
				c.Idle()
				if i%10 == 9 {
					c.Forget(address)
				}
			}
		})
	}
	all.Wait()
	c.Close()
	assert.Zero(t, c.Idle())
}

func TestConnectionClosedWhileRestingIsNotUsed(t *testing.T) {
	c := clientFor(t)
	now := make(chan struct{})
	address := backend(t, func(p *peer) { p.request(); p.say(hello); <-now }, answers(hello))
	g, err := ask(c, address, get())
	assertHello(t, g, err)
	assert.True(t, c.stack(address).conns[0].alive())
	close(now)
	waitDead(t, c, address)
	r := get()
	res, f := c.Do(t.Context(), address, r)
	require.Nil(t, f)
	assert.False(t, res.conn.reused)
	assert.Equal(t, "hello", end(t, res))
}

func TestConnectionWithBytesNobodyAskedForIsNotUsed(t *testing.T) {
	c := clientFor(t)
	now := make(chan struct{})
	address := backend(t, func(p *peer) {
		p.request()
		p.say(hello)
		<-now
		p.say("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
		p.gone()
	}, answers(hello))
	g, err := ask(c, address, get())
	assertHello(t, g, err)
	close(now)
	waitDead(t, c, address)
	g, err = ask(c, address, get())
	assertHello(t, g, err)
}

// waitDead waits until what the backend did to the connection at rest has come
// through the kernel. It looks without taking anything.
func waitDead(t *testing.T, c *Client, address string) {
	t.Helper()
	raw, err := bottom(c.stack(address).conns[0].Conn).(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	require.Eventually(t, func() bool { return readable(raw) }, guard, time.Millisecond)
}

func TestRestingPastAnOldDeadlineIsNotDeath(t *testing.T) {
	c := clientFor(t)
	c.Timeouts.Head, c.Timeouts.Body = 50*time.Millisecond, 50*time.Millisecond
	address := backend(t, numbered(0), numbered(1))
	end(t, begin(t, c, address))
	cn := c.stack(address).conns[0]
	cn.SetDeadline(time.Unix(1, 0)) // as if all of its timeouts had passed
	cn.reads, cn.writes = deadline{time.Unix(1, 0)}, deadline{time.Unix(1, 0)}
	res := begin(t, c, address)
	assert.True(t, res.conn.reused)
	assert.Equal(t, "0", end(t, res))
}

func TestBackendThatClosesAReusedConnectionLetsTheRequestBeRepeated(t *testing.T) {
	c := clientFor(t)
	address := backend(t, func(p *peer) { p.request(); p.say(hello); p.request() })
	g, err := ask(c, address, get())
	assertHello(t, g, err)
	_, err = ask(c, address, get())
	f := failure(t, err)
	assert.True(t, f.Stale() && f.Sent && !f.Timeout(), "%+v", f)
	assert.Equal(t, Waiting, f.Stage)
	assert.ErrorContains(t, f, "wait for an answer: ")
}

func TestFreshRequestLeavesIdleConnectionsAlone(t *testing.T) {
	c := clientFor(t)
	address := backend(t, numbered(0), numbered(1))
	end(t, begin(t, c, address))
	r := get()
	r.Fresh = true
	res, f := c.Do(context.Background(), address, r)
	require.Nil(t, f)
	assert.Equal(t, "1", end(t, res))
	assert.Equal(t, 2, c.Idle(), "both rest for the next requests")
}

func TestUnreadBodyLeavesNoConnection(t *testing.T) {
	c := clientFor(t)
	address := backend(t, answers(hello))
	res := begin(t, c, address)
	_, err := res.Read(make([]byte, 4))
	require.NoError(t, err)
	res.Close()
	assert.Zero(t, c.Idle())
}

func TestBodyOfKnownLengthNeedsNoReadOfItsEnd(t *testing.T) {
	c := clientFor(t)
	address := backend(t, answers(hello))
	res := begin(t, c, address)
	_, err := io.ReadFull(res, make([]byte, 5))
	require.NoError(t, err)
	res.Close()
	assert.Equal(t, 1, c.Idle())
}

func TestLargeHeadsDoNotStayInMemory(t *testing.T) {
	c := clientFor(t)
	address := backend(t, answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: "+strings.Repeat("a", 50<<10)+"\r\n\r\n"))
	_, err := ask(c, address, get())
	require.NoError(t, err)
	assert.LessOrEqual(t, len(c.stack(address).conns[0].buf), firstBuffer)
}

// The watch on the context fires at any moment around the exchange's end; a
// connection that it may still touch must not serve the next request.
func TestContextThatEndsWithTheExchangeSpoilsNoConnection(t *testing.T) {
	scripts := make([]func(*peer), 600)
	for i := range scripts {
		scripts[i] = numbered(1)
	}
	address := backend(t, scripts...)
	c := clientFor(t)
	var all sync.WaitGroup
	defer all.Wait()
	for i := range 300 {
		ctx, cancel := context.WithCancel(context.Background())
		now := make(chan struct{})
		all.Go(func() { <-now; cancel() })
		if i%3 == 0 {
			close(now)
		}
		res, f := c.Do(ctx, address, get())
		if i%3 == 1 {
			close(now)
		}
		if f == nil {
			io.ReadAll(res)
			if i%3 == 2 {
				close(now)
			}
			res.Close()
		} else if i%3 == 2 {
			close(now)
		}
		g, err := ask(c, address, get())
		require.NoError(t, err)
		assert.Equal(t, "1", g.body)
	}
}
