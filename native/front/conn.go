//go:build unix

package front

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"minilb/native/forward"
)

// The phases of a connection. Whoever wants to end one between two requests
// takes its phase to over, and so does the request that begins: only one of
// them gets it.
const (
	fresh  uint32 = iota // nothing has come yet
	inHead               // a part of a head has come
	busy                 // a request is in flight
	idle                 // between two requests
	over
)

// What a connection does when it has left its reading.
type course uint8

const (
	readOn course = iota
	serveOutside
	handOver
	leave
	drainAndLeave
)

const (
	firstBuffer = 4 << 10 // holds an ordinary head
	maxHead     = 8 << 10 // longer ones are net/http's
)

// A conn is one client's connection and everything that its requests use, one
// after the other.
type conn struct {
	server *Server
	nc     net.Conn
	raw    syscall.RawConn
	step   func(fd uintptr) bool // turn, bound once
	at     int                   // in the server's list

	phase   atomic.Uint32
	began   atomic.Int64 // the phase, in nanoseconds since the server was made
	looked  int64        // the look-out's: the phase it has looked at
	nudging sync.Mutex

	buf    []byte // bytes read and not used: buf[r:w]
	r, w   int
	head   scan
	post   bool // the last request was one
	served bool // one was answered
	begun  bool // and so much of the next has come that net/http would begin to read it
	todo   course

	request   forward.Request
	header    http.Header
	values    []string
	large     bool // the request's head is
	memory    forward.Memory
	answer    answer
	body      *body
	watch     atomic.Pointer[watch]
	uploading atomic.Bool // the request's body is awaited
	bound     atomic.Bool // the reading has a deadline
}

// newConn is nil for a connection that is not the socket itself: reading past
// what wraps it would miss whatever that does.
func newConn(s *Server, nc net.Conn) *conn {
	var raw syscall.RawConn
	switch socket := nc.(type) {
	case *net.TCPConn:
		raw, _ = socket.SyscallConn()
	case *net.UnixConn:
		raw, _ = socket.SyscallConn()
	}
	if raw == nil {
		return nil
	}
	c := &conn{server: s, nc: nc, raw: raw, buf: make([]byte, firstBuffer)}
	c.step = c.turn
	c.began.Store(int64(s.now()))
	c.watch.Store(newWatch(s))
	c.request.Remote, c.request.Memory = nc.RemoteAddr().String(), &c.memory
	c.answer.init(c)
	return c
}

func (c *conn) since() time.Duration { return time.Duration(c.began.Load()) }

// enter takes the connection from one phase to another, unless it is over.
func (c *conn) enter(phase uint32) bool {
	was := c.phase.Load()
	if was == phase {
		return true
	}
	c.began.Store(int64(c.server.now()))
	return was != over && c.phase.CompareAndSwap(was, phase)
}

// quit ends the connection if it is still in that phase.
func (c *conn) quit(phase uint32) {
	if c.phase.CompareAndSwap(phase, over) {
		c.wakeReader()
	}
}

// nudge is the look-out's: the reader is to look again, unless it has gone on
// meanwhile.
func (c *conn) nudge(phase uint32, began time.Duration) {
	c.nudging.Lock()
	defer c.nudging.Unlock()
	if c.phase.Load() == phase && c.since() == began {
		c.wakeReader()
	}
}

// settle takes back a nudge that came in the moment in which the request did.
// Its body could not be read.
func (c *conn) settle() {
	c.nudging.Lock()
	defer c.nudging.Unlock()
	_ = c.nc.SetReadDeadline(time.Time{})
}

// wakeReader lets the reading return, whose goroutine closes the connection:
// Close would wait for it.
func (c *conn) wakeReader() { _ = c.nc.SetReadDeadline(time.Unix(1, 0)) }

// abort ends whatever there is. Close returns when nobody uses the socket any
// more, which may be after the request in flight has noticed.
func (c *conn) abort() {
	c.phase.Store(over)
	c.watch.Load().end(context.Canceled)
	c.server.running.Go(func() { _ = c.nc.Close() })
}

// serve is the connection's life.
func (c *conn) serve() {
	c.run()
	c.server.remove(c)
	switch {
	case c.todo == handOver && c.phase.Swap(over) != over && !c.server.closing.Load():
		_ = c.nc.SetDeadline(time.Time{})
		c.server.others.give(c.nc, c.buf[c.r:c.w])
		return
	case c.todo == drainAndLeave:
		c.drain()
	}
	_ = c.nc.Close()
}

// run answers requests until there is something else to do.
func (c *conn) run() {
	defer func() {
		if fault := recover(); fault != nil {
			c.todo = leave
			c.printPanic(fault)
		}
	}()
	for c.todo == readOn {
		if err := c.raw.Read(c.step); err != nil && !c.woken(err) {
			return
		}
		if c.todo == serveOutside {
			c.todo = readOn
			if !c.exchange() {
				c.todo = leave
			}
		}
	}
}

// woken says whether an error of the reading is no more than the look-out's
// wish that it should look again.
func (c *conn) woken(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	_ = c.nc.SetReadDeadline(time.Time{})
	return c.phase.Load() != over
}

func closeWrite(nc net.Conn) error {
	half, able := nc.(interface{ CloseWrite() error })
	if !able {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}
