//go:build unix

package front

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A watch is the context of the request in flight. It costs nothing as long as
// nothing happens: it has no timer and no goroutine, for the look-out comes by
// and ends it; its channel is made when somebody asks for it, and it takes one
// function, by Watch, where context.AfterFunc would take memory.
type watch struct {
	server *Server

	mu    sync.Mutex
	live  bool // a request is in flight
	left  bool // its client has left, or the server was closed
	done  chan struct{}
	lent  bool             // a channel was given away: somebody may look at it later
	after map[*func()]bool // AfterFunc's
	wake  func()
	woken bool
	limit time.Duration // when the attempt ends; 0: never
	exact *time.Timer   // for limits that come before the look-out

	// err is what Err says: it is asked more often than anything changes.
	err atomic.Pointer[error]
}

func newWatch(s *Server) *watch { return &watch{server: s} }

// begin is a request's begin.
func (w *watch) begin() {
	w.mu.Lock()
	w.live = true
	w.mu.Unlock()
}

// finish is its end. Whoever still looks at the context sees that it is over,
// and then it must not become another request's.
func (w *watch) finish() (spent bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live, w.wake = false, nil
	w.noLimit()
	if spent = w.lent || w.err.Load() != nil; spent {
		w.over(context.Canceled)
	}
	return spent
}

// end ends the context for good.
func (w *watch) end(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = true
	w.over(why)
}

// over is called with the lock. Watch's function is, too: when Unwatch
// returns it is not running.
func (w *watch) over(why error) {
	if w.err.Load() != nil {
		return
	}
	w.err.Store(&why)
	if w.done != nil {
		close(w.done)
	}
	for f := range w.after {
		go (*f)()
	}
	clear(w.after)
	if w.wake != nil {
		w.woken = true
		w.wake()
	}
}

// Watch calls wake when the context ends, or at once when it has.
func (w *watch) Watch(wake func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wake, w.woken = wake, false
	if w.err.Load() != nil {
		w.woken = true
		wake()
	}
}

// Unwatch says whether the function was called. Afterwards it will not be.
func (w *watch) Unwatch() (called bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wake = nil
	return w.woken
}

// AfterFunc spares package context a goroutine for each context that is derived
// from this one.
func (w *watch) AfterFunc(f func()) (stop func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lent = true; w.err.Load() != nil {
		go f()
		return func() bool { return false }
	}
	if w.after == nil {
		w.after = map[*func()]bool{}
	}
	w.after[&f] = true
	return func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		waited := w.after[&f]
		delete(w.after, &f)
		return waited
	}
}

// Limit ends the context after d with context.DeadlineExceeded, until Unlimit.
func (w *watch) Limit(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = max(w.server.now()+d, 1)
	if d < 2*w.server.tick {
		w.exact = time.AfterFunc(d, w.expire)
	}
}

// Unlimit takes the limit away: the client is still there, and another attempt
// may begin.
func (w *watch) Unlimit() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noLimit()
	if err := w.err.Load(); err != nil && !w.left {
		w.err.Store(nil)
		w.done = nil
	}
}

func (w *watch) noLimit() {
	if w.limit = 0; w.exact != nil {
		w.exact.Stop()
		w.exact = nil
	}
}

// expire ends the context if its limit has passed.
func (w *watch) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.live && 0 < w.limit && w.limit <= w.server.now() {
		w.over(context.DeadlineExceeded)
	}
}

// due is when the limit passes; 0: there is none.
func (w *watch) due() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limit
}

// look ends the context if the client has left. gone is asked only while a
// request is in flight.
func (w *watch) look(gone func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.live && !w.left && gone() {
		w.left = true
		if w.err.Load() != nil { // late already, and not to be tried again
			return
		}
		w.over(context.Canceled)
	}
}

// Err is nil as long as the request has somebody to answer to.
func (w *watch) Err() error {
	if err := w.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Done is closed when the context ends.
func (w *watch) Done() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lent = true; w.done == nil {
		w.done = make(chan struct{})
		if w.err.Load() != nil {
			close(w.done)
		}
	}
	return w.done
}

// Deadline is not known: that of an attempt is not the request's.
func (w *watch) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value is nil: nothing is carried.
func (w *watch) Value(any) any { return nil }
