package proxy

import (
	"errors"
	"net"
	"sync"
	"time"
)

// A listener takes clients' connections, each of which fails when a write gets
// nowhere: a client that asks and does not read would hold a backend's answer,
// and its place among those in flight, for ever.
type listener struct {
	net.Listener
	limit time.Duration
}

// Accept returns the next connection.
func (l *listener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &clientConn{Conn: nc, limit: l.limit}, nil
}

// A clientConn bounds each write. net/http's own WriteTimeout would bound the
// whole answer, which may be as long as it likes.
type clientConn struct {
	net.Conn
	limit time.Duration

	mu  sync.Mutex
	due time.Time
}

// Write writes within the limit. A deadline up to an eighth late is good
// enough, and most answers set none.
func (c *clientConn) Write(p []byte) (int, error) {
	c.renew()
	return c.Conn.Write(p)
}

func (c *clientConn) renew() {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.due.Sub(now) < c.limit {
		c.due = now.Add(c.limit + c.limit/8)
		_ = c.Conn.SetWriteDeadline(c.due) // the write itself fails when that did
	}
}

// SetDeadline is the server's.
func (c *clientConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due = time.Time{}
	return c.Conn.SetDeadline(t)
}

// SetWriteDeadline is the server's.
func (c *clientConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due = time.Time{}
	return c.Conn.SetWriteDeadline(t)
}

// CloseWrite ends one direction.
func (c *clientConn) CloseWrite() error {
	half, able := c.Conn.(interface{ CloseWrite() error })
	if !able {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}
