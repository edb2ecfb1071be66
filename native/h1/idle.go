package h1

import (
	"sync"
	"time"
)

// A stack is the idle connections of one backend, the freshest last. A
// connection keeps the stack it came from, and one that was dropped takes none
// back: a backend that is forgotten and added again starts with a new stack.
type stack struct {
	mu      sync.Mutex
	conns   []*conn
	dropped bool
	sweeper *time.Timer // set while connections rest, when they may not rest for ever
}

func (c *Client) stack(address string) *stack {
	c.mu.RLock()
	s := c.idle[address]
	c.mu.RUnlock()
	if s != nil {
		return s
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return &stack{dropped: true}
	}
	if s = c.idle[address]; s == nil {
		if c.idle == nil {
			c.idle = map[string]*stack{}
		}
		s = new(stack)
		c.idle[address] = s
	}
	return s
}

// take returns the connection that was used last and is still alive. One that
// looks by itself before it sends is not looked at here, when that is in time:
// before a request's body is read.
func (s *stack) take(idleFor time.Duration, inTime bool) *conn {
	for {
		cn := s.pop()
		if cn == nil {
			return nil
		}
		if (idleFor <= 0 || time.Since(cn.since) < idleFor) && (inTime && cn.probe.direct() || cn.alive()) {
			cn.reused = true
			return cn
		}
		cn.Close()
	}
}

func (s *stack) pop() *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.conns)
	if n == 0 {
		return nil
	}
	cn := s.conns[n-1]
	s.conns[n-1] = nil
	s.conns = s.conns[:n-1]
	return cn
}

// put keeps a connection for the next request; it says no when there are
// enough.
func (s *stack) put(cn *conn, atMost int, idleFor time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dropped || len(s.conns) >= atMost {
		return false
	}
	cn.since = time.Now()
	s.conns = append(s.conns, cn)
	if idleFor > 0 && s.sweeper == nil {
		s.sweeper = time.AfterFunc(idleFor, func() { s.sweep(idleFor) })
	}
	return true
}

// sweep closes what has rested too long. Without it a backend that gets no
// more requests would keep its connections open, or half closed, for ever.
func (s *stack) sweep(idleFor time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := 0
	for old < len(s.conns) && time.Since(s.conns[old].since) >= idleFor {
		s.conns[old].abort()
		old++
	}
	n := copy(s.conns, s.conns[old:])
	clear(s.conns[n:])
	s.conns = s.conns[:n]
	if s.sweeper = nil; n > 0 && !s.dropped {
		rest := idleFor - time.Since(s.conns[0].since)
		s.sweeper = time.AfterFunc(rest, func() { s.sweep(idleFor) })
	}
}

// drop closes all, and those that would come back later.
func (s *stack) drop() {
	s.mu.Lock()
	s.dropped = true
	if s.sweeper != nil {
		s.sweeper.Stop()
	}
	s.mu.Unlock()
	for cn := s.pop(); cn != nil; cn = s.pop() {
		cn.Close()
	}
}

func (s *stack) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Forget closes the idle connections to a backend that has left, and those in
// use when their exchange ends.
func (c *Client) Forget(address string) {
	c.mu.Lock()
	s := c.idle[address]
	delete(c.idle, address)
	c.mu.Unlock()
	if s != nil {
		s.drop()
	}
}

// Close closes all idle connections; those in use are closed when their
// exchange ends.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	stacks := c.idle
	c.idle = nil
	c.mu.Unlock()
	for _, s := range stacks {
		s.drop()
	}
}

// Idle is how many connections rest, over all backends.
func (c *Client) Idle() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	n := 0
	for _, s := range c.idle {
		n += s.len()
	}
	return n
}
