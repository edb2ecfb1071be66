package forward

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"minilb/core/lb"
)

// sameProtocol says whether the backend changes to the protocol that the
// request asked for among its extra fields.
func sameProtocol(extra []string, answered []string) bool {
	for i := 0; i+1 < len(extra); i += 2 {
		if extra[i] == "Upgrade" {
			return len(answered) == 1 && strings.EqualFold(answered[0], extra[i+1])
		}
	}
	return false
}

// tunnel joins client and backend for the rest of their connections' lives,
// after a 101. The request stays in flight meanwhile; what its backend is
// measured by is the time to its 101.
func (x *exchange) tunnel() {
	a := &x.now
	a.outcome.Latency = max(1, x.Now().Sub(a.lease.Start))
	protocol := a.header["Upgrade"]
	x.head(a.header)
	up, able := a.resp.(Upgrader)
	client, buffered, err := http.NewResponseController(x.w).Hijack()
	if !able || err != nil {
		x.abort(lb.Cancelled) // the client's connection cannot change
	}
	defer client.Close()
	backend, early := up.Upgraded()
	defer backend.Close()
	h := x.w.Header()
	h["Connection"], h["Upgrade"] = []string{"Upgrade"}, protocol
	// The server has no part in the connection any more: what ends the request
	// must end this as well, also while the client takes nothing of the head.
	stop := context.AfterFunc(x.ctx, func() { _, _ = client.Close(), backend.Close() })
	defer stop()
	if writeSwitch(buffered.Writer, h, early) != nil {
		return // the client has left
	}
	join(client, unread(buffered.Reader, client), backend, x.BodyTimeout)
}

// unread is what a server has read already, and then the connection itself:
// the end of the client's direction must not look to the server like that of
// the request.
func unread(buffered *bufio.Reader, conn net.Conn) io.Reader {
	n := buffered.Buffered()
	if n == 0 {
		return conn
	}
	early, _ := buffered.Peek(n)
	return io.MultiReader(bytes.NewReader(early), conn)
}

// writeSwitch writes the head of a 101, and what the backend has said already.
func writeSwitch(w *bufio.Writer, h http.Header, early []byte) error {
	_, _ = w.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	_ = h.Write(w)
	_, _ = w.WriteString("\r\n")
	_, _ = w.Write(early)
	return w.Flush() // which tells of every error before
}

// join copies both ways until both have ended. An end is passed on as one: the
// other direction may go on, until it falls silent for too long. An end that has
// only lost its network would hold the other for ever.
func join(client net.Conn, said io.Reader, backend net.Conn, silence time.Duration) {
	up := &direction{from: client, to: backend, reader: said, silence: silence}
	down := &direction{from: backend, to: client, reader: backend, silence: silence}
	var running sync.WaitGroup
	running.Go(func() {
		up.pass()
		down.remain()
	})
	down.pass()
	up.remain()
	running.Wait()
}

// A direction is one of the two of a tunnel.
type direction struct {
	from, to net.Conn
	reader   io.Reader     // of from, and of what was read of it before
	silence  time.Duration // longest wait for a piece when the other has ended; 0: no limit
	last     atomic.Bool   // the other has ended
}

// pass copies until the end. An error, unlike an end, is that of both.
func (d *direction) pass() {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	_, err := io.CopyBuffer(struct{ io.Writer }{d.to}, struct{ io.Reader }{d}, buffer[:])
	half, able := d.to.(interface{ CloseWrite() error })
	if err != nil || !able || half.CloseWrite() != nil {
		_, _ = d.to.Close(), d.from.Close()
	}
}

// Read waits for the next piece.
func (d *direction) Read(p []byte) (int, error) {
	if d.last.Load() {
		d.bound()
	}
	return d.reader.Read(p)
}

// remain says that the other direction has ended. It is said before the
// deadline is set: a read begins with it or is under way, and both are bound.
func (d *direction) remain() {
	if d.silence > 0 {
		d.last.Store(true)
		d.bound()
	}
}

func (d *direction) bound() { _ = d.from.SetReadDeadline(time.Now().Add(d.silence)) }
