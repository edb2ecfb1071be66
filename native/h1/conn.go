package h1

import (
	"io"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// A conn is one connection to a backend and what has been read from it.
type conn struct {
	net.Conn
	client *Client
	home   *stack
	since  time.Time // when it began to rest
	reused bool

	buf  []byte // bytes read and not used: buf[r:w]
	r, w int

	reads, writes deadline
	wake          func() // interrupt, bound once
	probe         probe
}

// firstBuffer holds the head of an ordinary answer.
const firstBuffer = 4 << 10

func newConn(client *Client, nc net.Conn) *conn {
	c := &conn{Conn: nc, client: client, buf: make([]byte, firstBuffer)}
	c.wake = c.interrupt
	raw, _ := bottom(nc).(syscall.Conn)
	_, plain := nc.(*net.TCPConn)
	c.probe.open(raw, plain)
	return c
}

// bottom is what a TLS connection runs over.
func bottom(nc net.Conn) net.Conn {
	if over, ok := nc.(interface{ NetConn() net.Conn }); ok {
		return over.NetConn()
	}
	return nc
}

// alive looks whether a resting connection is still open and silent. Bytes
// nobody asked for would be taken for the next request's answer.
func (c *conn) alive() bool { return c.probe.silent() }

// rest makes the connection ready for the next request.
func (c *conn) rest() {
	if len(c.buf) > firstBuffer {
		c.buf = make([]byte, firstBuffer)
	}
	if !c.home.put(c, c.client.MaxIdle, c.client.IdleFor) {
		c.Close()
	}
}

// abort closes at once: TLS would wait seconds to send its farewell to a
// backend that does not read.
func (c *conn) abort() error { return bottom(c.Conn).Close() }

// interrupt wakes whatever read or write is under way. Whoever sets a deadline
// afterwards must look whether the exchange is over, and none may be begun.
func (c *conn) interrupt() { c.SetDeadline(time.Unix(1, 0)) }

// room makes room in the buffer, which grows when it is full.
func (c *conn) room() {
	if c.r == c.w {
		c.r, c.w = 0, 0
	}
	if c.w == len(c.buf) {
		if c.r > 0 {
			copy(c.buf, c.buf[c.r:c.w])
			c.r, c.w = 0, c.w-c.r
		} else {
			c.buf = append(c.buf, make([]byte, len(c.buf))...)
		}
	}
}

// fill reads more bytes into the buffer.
func (c *conn) fill() error {
	c.room()
	n, err := c.Conn.Read(c.buf[c.w:])
	if c.w += n; n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// fillUpTo is fill for something that must not be longer than limit.
func (c *conn) fillUpTo(limit int, what string) error {
	if c.w-c.r >= limit {
		return Malformed(what + " over " + strconv.Itoa(limit>>10) + " kB")
	}
	return c.fill()
}

// readWithin bounds the reads to come.
func (c *conn) readWithin(d time.Duration) {
	if c.reads.renew(d) {
		c.SetReadDeadline(c.reads.at)
	}
}

// writeWithin bounds the writes to come.
func (c *conn) writeWithin(d time.Duration) {
	if c.writes.renew(d) {
		c.SetWriteDeadline(c.writes.at)
	}
}

// A deadline remembers what was last set, since setting it anew costs more
// than the rest of a small exchange's bookkeeping.
type deadline struct{ at time.Time }

// renew says whether the deadline has to be set to at. One that is due between
// d and d*9/8 from now is good enough.
func (l *deadline) renew(d time.Duration) bool {
	if d <= 0 {
		was := !l.at.IsZero()
		l.at = time.Time{}
		return was
	}
	now := time.Now()
	late := d + min(d/8, 1<<63-1-d)
	if rest := l.at.Sub(now); d <= rest && rest <= late {
		return false
	}
	l.at = now.Add(late)
	return true
}

// buffers are for bodies on their way through.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

const bufferSize = 32 << 10
