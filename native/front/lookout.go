//go:build unix

package front

import (
	"context"
	"syscall"
	"time"
)

// lookEvery is how often the look-out comes by while requests are in flight.
// Clients that leave, and limits that pass, are noticed that late at most.
const lookEvery = 25 * time.Millisecond

// lookOut walks over the connections while something is going on, and closes
// what is late. One goroutine does for all what would else take a timer, a
// deadline and a reading goroutine for each request.
func (s *Server) lookOut(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-s.poke:
		case <-ctx.Done():
			return
		}
		wait, stirring := s.look()
		if !stirring {
			s.awake.Store(false)
			if wait, stirring = s.look(); stirring { // one began just now
				s.awake.Store(true)
			}
		}
		timer.Reset(wait)
	}
}

// stir sees to it that the look-out comes by soon.
func (s *Server) stir() {
	if !s.awake.Load() && s.awake.CompareAndSwap(false, true) {
		select {
		case s.poke <- struct{}{}:
		default:
		}
	}
}

// look looks at every connection, and says when it wants to look again and
// whether something is going on that stir would have to tell of.
func (s *Server) look() (wait time.Duration, stirring bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	next := now + time.Hour
	for _, c := range s.conns {
		due, stirs := c.look(now)
		next = min(next, due)
		stirring = stirring || stirs
	}
	if stirring {
		next = min(next, now+s.tick)
	}
	return max(next-now, time.Millisecond), stirring
}

// look closes a connection that is late, and says when it will be.
func (c *conn) look(now time.Duration) (due time.Duration, stirs bool) {
	limit, phase := c.server.HeadTimeout, c.phase.Load()
	switch phase {
	case over:
		return now + time.Hour, false
	case busy:
		return c.lookBusy(now), true
	case idle:
		limit = c.server.IdleTimeout
	}
	began := c.since()
	stirs = c.lookIdle(phase, now, began)
	if due = began + limit; limit <= 0 || due > now {
		if limit <= 0 {
			due = now + time.Hour
		}
		return due, stirs
	}
	c.quit(phase)
	return now + time.Hour, stirs
}

// lookIdle looks once into each phase in which something is awaited: an end
// that came with the last bytes wakes nobody, and neither do bytes that a
// client marked as urgent.
func (c *conn) lookIdle(phase uint32, now, began time.Duration) (again bool) {
	if int64(began) == c.looked {
		return false
	}
	if now-began < c.server.tick {
		return true
	}
	c.looked = int64(began)
	if c.peek() != nothing {
		c.nudge(phase, began)
	}
	return false
}

// lookBusy looks whether the client of a slow request is still there, at first
// often and later less so.
func (c *conn) lookBusy(now time.Duration) (due time.Duration) {
	w := c.watch.Load()
	if due = w.due(); due == 0 {
		due = now + time.Hour
	} else if due <= now {
		w.expire()
	}
	age := now - c.since()
	if last := time.Duration(c.looked); age >= c.server.tick && now-last >= min(age/4, maxLook) {
		c.looked = int64(now)
		w.look(c.gone)
	}
	return due
}

// maxLook is the longest time for which a client who has left is waited for.
const maxLook = time.Second

// gone says whether the client of the request in flight has left. While its
// body is awaited nobody but its reader can tell.
func (c *conn) gone() bool {
	if c.phase.Load() != busy || c.uploading.Load() {
		return false
	}
	return c.peek() == theEnd
}

// A view is what is to be seen of a socket without reading from it.
type view uint8

const (
	nothing view = iota
	something
	theEnd
)

// peek looks at the socket. Bytes that are there hide an end after them.
func (c *conn) peek() (seen view) {
	err := c.raw.Control(func(fd uintptr) {
		var one [1]byte
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case n > 0:
			seen = something
		case err == syscall.EAGAIN || err == syscall.EINTR:
			seen = nothing
		default:
			seen = theEnd
		}
	})
	if err != nil {
		return theEnd
	}
	return seen
}
