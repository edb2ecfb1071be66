package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A layer4 balances connections: a backend is chosen once for each, and
// whatever it carries passes unread. A connection is in flight for its life,
// so a drain waits for it, and the backend is judged by one thing alone:
// whether it took the connection.
type layer4 struct {
	proxy *Proxy

	mu      sync.Mutex
	closing bool                  // take no more
	cut     bool                  // and end those there are
	taken   map[net.Conn]struct{} // clients'
	joined  map[net.Conn]struct{} // backends'
	running sync.WaitGroup

	ctx    context.Context // of waiting and connecting: ends when all is cut
	cancel context.CancelFunc
}

func newLayer4(p *Proxy) *layer4 {
	l := &layer4{proxy: p, taken: map[net.Conn]struct{}{}, joined: map[net.Conn]struct{}{}}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// errStopped is what serve ends with when it was told to.
var errStopped = errors.New("stopped")

// serve takes connections until the listener is closed.
func (l *layer4) serve(listener net.Listener) error {
	for {
		client, err := listener.Accept()
		switch {
		case err == nil:
			l.take(client)
		case l.stopping():
			return errStopped
		case isTemporary(err):
			time.Sleep(5 * time.Millisecond) // no descriptors: others have to end first
		default:
			return err
		}
	}
}

// isTemporary says whether the next Accept may succeed. net has no other word
// for it than the deprecated one that net/http's server goes by too.
func isTemporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

func (l *layer4) stopping() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing
}

// take serves a connection in a goroutine of its own.
func (l *layer4) take(client net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		_ = client.Close()
		return
	}
	l.taken[client] = struct{}{}
	l.running.Go(func() {
		defer l.forget(l.taken, client)
		l.carry(client)
	})
}

// remember notes a backend's connection, so that it can be cut; false when all
// are being cut already.
func (l *layer4) remember(backend net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		_ = backend.Close()
		return false
	}
	l.joined[backend] = struct{}{}
	return true
}

func (l *layer4) forget(set map[net.Conn]struct{}, c net.Conn) {
	l.mu.Lock()
	delete(set, c)
	l.mu.Unlock()
	_ = c.Close()
}

// shutdown takes no more connections and waits for those there are.
func (l *layer4) shutdown(ctx context.Context) error {
	l.mu.Lock()
	l.closing = true
	l.mu.Unlock()
	_ = l.proxy.listener.Close()
	done := make(chan struct{})
	go func() {
		l.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close cuts the connections that are left, and waits for their ends.
func (l *layer4) close() {
	l.mu.Lock()
	l.closing, l.cut = true, true
	for c := range l.taken {
		_ = c.Close()
	}
	for c := range l.joined {
		_ = c.Close()
	}
	l.mu.Unlock()
	l.cancel()
	_ = l.proxy.listener.Close()
	l.running.Wait()
}

// joinL4 copies both ways until both have ended, an error ends both, or
// nothing has moved either way for the idle time.
func joinL4(client, backend net.Conn, idle time.Duration) {
	moved := &activity{idle: idle}
	moved.note()
	var up sync.WaitGroup
	up.Go(func() { moved.pass(backend, client) })
	moved.pass(client, backend)
	up.Wait()
}

// activity is when something last moved on a connection, in either direction.
type activity struct {
	idle time.Duration
	last atomic.Int64
}

func (a *activity) note() { a.last.Store(time.Now().UnixNano()) }

// left is how much of the idle time there is yet.
func (a *activity) left() time.Duration {
	return a.idle - time.Since(time.Unix(0, a.last.Load()))
}

// pieces are shared by all connections.
var pieces = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// pass copies one direction. Its end is passed on as an end, since the other
// direction may go on; an error, or silence for too long, is the end of both.
func (a *activity) pass(to, from net.Conn) {
	buffer := pieces.Get().(*[32 << 10]byte)
	defer pieces.Put(buffer)
	for {
		n, err := a.read(from, buffer[:])
		if n > 0 {
			a.note()
			if _, failed := a.write(to, buffer[:n]); failed != nil {
				break
			}
			a.note()
		}
		if err == io.EOF {
			if half, able := to.(interface{ CloseWrite() error }); able && half.CloseWrite() == nil {
				return
			}
		}
		if err != nil {
			break
		}
	}
	_, _ = to.Close(), from.Close()
}

// read waits as long as anything moves in either direction.
func (a *activity) read(from net.Conn, p []byte) (int, error) {
	for a.idle > 0 {
		_ = from.SetReadDeadline(time.Now().Add(max(a.left(), time.Millisecond)))
		n, err := from.Read(p)
		if n > 0 || err == nil || !isTimeout(err) || a.left() <= 0 {
			return n, err
		}
	}
	return from.Read(p)
}

// write is bounded by the idle time too: who reads nothing moves nothing.
func (a *activity) write(to net.Conn, p []byte) (int, error) {
	if a.idle > 0 {
		_ = to.SetWriteDeadline(time.Now().Add(a.idle))
	}
	return to.Write(p)
}
