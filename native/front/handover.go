//go:build unix

package front

import (
	"net"
	"sync"
)

// handedOver is a listener whose connections come from the fast loop.
type handedOver struct {
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
	address net.Addr
}

// Accept waits for a connection that is handed over.
func (h *handedOver) Accept() (net.Conn, error) {
	select {
	case nc := <-h.conns:
		return nc, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close lets Accept return. What comes later is closed.
func (h *handedOver) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr is that of the listener which the connections came by.
func (h *handedOver) Addr() net.Addr {
	if h.address == nil {
		return &net.TCPAddr{}
	}
	return h.address
}

// give hands a connection over, with what was read of it.
func (h *handedOver) give(nc net.Conn, read []byte) {
	r := &replayed{Conn: nc, read: append([]byte(nil), read...)}
	select {
	case h.conns <- r:
	case <-h.closed:
		_ = nc.Close()
	}
}

// A replayed connection gives what was read of it once more.
type replayed struct {
	net.Conn
	read []byte
}

// Read gives what was read before, and then reads on.
func (r *replayed) Read(p []byte) (int, error) {
	if len(r.read) == 0 {
		return r.Conn.Read(p)
	}
	n := copy(p, r.read)
	if r.read = r.read[n:]; len(r.read) == 0 {
		r.read = nil
	}
	return n, nil
}

// CloseWrite ends one direction.
func (r *replayed) CloseWrite() error { return closeWrite(r.Conn) }
