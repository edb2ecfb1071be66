//go:build unix

// Package front is the server loop that stands before the forwarding: plain
// HTTP/1.1, read strictly and without a byte of memory per request that the
// connection does not keep.
//
// It takes only what it recognises beyond doubt. Everything else (another
// version, an upgrade, a body in chunks, anything malformed) goes to net/http
// with its connection, whose bytes are replayed from the first that was not
// answered. So there is one loop that is fast because it knows little, and one
// that knows everything; which of them answers is not to be seen from outside.
package front

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"minilb/native/forward"
)

// A Config says what a Server serves and how long it waits.
type Config struct {
	// Forward answers one request. ctx ends when the client has left. Request
	// and writer are used again for the connection's next request: nothing of
	// them may be kept. A panic closes the connection, and is printed unless
	// it is http.ErrAbortHandler.
	Forward func(ctx context.Context, w http.ResponseWriter, r *forward.Request)

	// Other says whether the requests of a target are net/http's business; nil: none.
	Other func(target string) bool

	HeadTimeout  time.Duration // longest time for a head, from the connection or its first byte on; 0: no limit
	IdleTimeout  time.Duration // longest time between two requests; 0: no limit
	WriteTimeout time.Duration // longest time in which the client takes nothing of its answer; 0: no limit
	ErrorLog     *log.Logger   // panics; nil: the standard logger
}

// A Server serves the connections of one listener. Run it, and serve what it
// hands over beside it.
type Server struct {
	Config
	start   time.Time
	tick    time.Duration // between two looks at the connections
	others  *handedOver
	date    atomic.Pointer[date]
	closing atomic.Bool
	awake   atomic.Bool   // the look-out comes by soon
	poke    chan struct{} // wakes it

	mu       sync.Mutex
	listener net.Listener
	conns    []*conn
	running  sync.WaitGroup
}

// New makes a server.
func New(c Config) *Server {
	s := &Server{Config: c, start: time.Now(), tick: lookEvery, poke: make(chan struct{}, 1)}
	for _, limit := range [...]time.Duration{c.HeadTimeout, c.IdleTimeout} {
		if limit > 0 {
			s.tick = max(min(s.tick, limit/8), time.Millisecond)
		}
	}
	s.others = &handedOver{conns: make(chan net.Conn), closed: make(chan struct{})}
	return s
}

// now is the time since the server was made.
func (s *Server) now() time.Duration { return time.Since(s.start) }

// Others are the connections that are handed over, as a listener for net/http.
// It is closed when the server has ended.
func (s *Server) Others() net.Listener { return s.others }

// Run takes connections until the server is shut down or closed, and returns
// http.ErrServerClosed then. A listener that fails for good closes the server:
// one that answers old connections and hears no new ones helps nobody.
func (s *Server) Run(l net.Listener) error {
	s.mu.Lock()
	s.listener, s.others.address = l, l.Addr()
	s.mu.Unlock()
	if s.closing.Load() {
		_ = l.Close()
		return http.ErrServerClosed
	}
	ctx, stop := context.WithCancel(context.Background())
	var looking sync.WaitGroup
	looking.Go(func() { s.lookOut(ctx) })
	err := s.accept(l)
	s.running.Wait()
	stop()
	looking.Wait()
	return err
}

// accept starts a goroutine for each connection.
func (s *Server) accept(l net.Listener) error {
	for pause := time.Duration(0); ; {
		nc, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.welcome(nc)
		case s.closing.Load():
			return http.ErrServerClosed
		case !temporary(err):
			_ = s.Close()
			return err
		default: // no descriptors left, most likely: some will be given back
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			time.Sleep(pause)
		}
	}
}

// temporary says whether accept(2) may do better next time. Package net does
// not count all that tells of a lack, or of one connection rather than of the
// listener.
func temporary(err error) bool {
	for _, passing := range [...]syscall.Errno{
		syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.ECONNRESET, syscall.EPROTO, syscall.EPERM,
		syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.EHOSTUNREACH,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// welcome serves a new connection.
func (s *Server) welcome(nc net.Conn) {
	c := newConn(s, nc)
	if c == nil {
		s.running.Go(func() { s.others.give(nc, nil) })
		return
	}
	if !s.add(c) {
		_ = nc.Close()
		return
	}
	s.stir()
	s.running.Go(c.serve)
}

func (s *Server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	c.at = len(s.conns)
	s.conns = append(s.conns, c)
	return true
}

// remove forgets a connection that has ended or was handed over.
func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.conns) - 1
	s.conns[c.at], s.conns[last].at = s.conns[last], c.at
	s.conns[last] = nil
	s.conns = s.conns[:last]
}

// close ends the listener.
func (s *Server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Store(true); s.listener != nil {
		_ = s.listener.Close()
	}
}

// freshFor is how old a connection without a request must be to be closed at
// once when the server is shut down: its first may be on its way.
const freshFor = time.Second

// Shutdown takes no more connections, closes what is idle and waits until the
// requests in flight have ended, or ctx has.
func (s *Server) Shutdown(ctx context.Context) error {
	s.close()
	defer s.others.Close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if s.endIdle() {
			return nil
		}
		timer.Reset(pause)
	}
}

// endIdle closes the connections without a request, and says whether there is
// none left at all.
func (s *Server) endIdle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for _, c := range s.conns {
		phase := c.phase.Load()
		if phase == idle || phase == inHead || phase == fresh && now-c.since() >= freshFor {
			c.quit(phase)
		}
	}
	return len(s.conns) == 0
}

// Close ends everything at once: requests in flight as if their clients had
// left.
func (s *Server) Close() error {
	s.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.abort()
	}
	return s.others.Close()
}
