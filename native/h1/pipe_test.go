package h1

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

func contextWithCancel() (context.Context, context.CancelFunc) {
	return context.WithCancel(context.Background())
}

// pipeClient is a client whose every connection is a pipe to the next script.
// Pipes have no buffer and work under synctest.
func pipeClient(t testing.TB, scripts ...func(*peer)) *Client {
	c := newClient()
	var all sync.WaitGroup
	c.Dial = func(context.Context, string) (net.Conn, error) {
		if len(scripts) == 0 {
			return nil, io.ErrClosedPipe
		}
		near, far := net.Pipe()
		script := scripts[0]
		scripts = scripts[1:]
		all.Go(func() {
			defer far.Close()
			script(&peer{t, far, bufio.NewReader(far)})
		})
		return near, nil
	}
	t.Cleanup(func() { c.Close(); all.Wait() })
	return c
}

// blockingBody blocks in Read until it is woken.
func blockingBody() (io.Reader, func()) {
	r, w := io.Pipe()
	return r, func() { w.CloseWithError(io.ErrClosedPipe) }
}
