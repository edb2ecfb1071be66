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
	x.tunnels.Add(1)
	defer x.tunnels.Done()
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
	if writeSwitch(buffered.Writer, h, early) != nil {
		return // the client has left
	}
	stop := context.AfterFunc(x.ctx, func() { _, _ = client.Close(), backend.Close() })
	defer stop()
	join(client, unread(buffered.Reader, client), backend)
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
// other direction may go on.
func join(client net.Conn, said io.Reader, backend net.Conn) {
	var up sync.WaitGroup
	up.Go(func() { pass(backend, said, client) })
	pass(client, backend, backend)
	up.Wait()
}

// pass copies from r, which reads conn from, to another connection. An error,
// unlike an end, is the end of both.
func pass(to net.Conn, r io.Reader, from net.Conn) {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{r}, buffer[:])
	half, able := to.(interface{ CloseWrite() error })
	if err != nil || !able || half.CloseWrite() != nil {
		_, _ = to.Close(), from.Close()
	}
}
