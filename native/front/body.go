//go:build unix

package front

import (
	"errors"
	"io"
	"sync"
	"time"
)

// A body is a request's body of a known length. What of it came with the head
// is in the connection's buffer. It is not used again: somebody may hold it
// longer than the request takes.
type body struct {
	c *conn

	mu   sync.Mutex // one reader at a time, and none after finish
	left int64
	err  error
}

func newBody(c *conn, length int64) *body { return &body{c: c, left: length} }

// buffered says whether all that is left is in the connection's buffer.
func (b *body) buffered() bool { return b.left <= int64(b.c.w-b.c.r) }

var errBodyClosed = errors.New("the request is over")

// Read reads the body, and past the buffer when that is empty. The end comes
// with the last bytes: whoever knows the length does not ask again.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.err != nil:
		return 0, b.err
	case len(p) == 0:
		return 0, nil
	}
	n, err := b.some(p[:min(int64(len(p)), b.left)])
	switch b.left -= int64(n); {
	case b.left == 0:
		b.err = io.EOF
		b.c.uploading.Store(false)
	case err == io.EOF:
		b.err = io.ErrUnexpectedEOF
	default:
		b.err = err
	}
	return n, b.err
}

func (b *body) some(p []byte) (int, error) {
	c := b.c
	if c.r < c.w {
		n := copy(p, c.buf[c.r:c.w])
		c.r += n
		return n, nil
	}
	return c.nc.Read(p)
}

// The rest of a body that nobody wanted is read within these limits: a small
// one for the next request on the connection, others for as long as the client
// may take to read its answer. A connection that is closed with bytes unread is
// reset, and the answer on it lost.
const (
	maxRest  = 256 << 10
	restTime = 500 * time.Millisecond
)

// finish ends the reading when the answer has gone out, and says whether the
// connection is fit for another request. It reads the rest only after an answer
// that is whole: otherwise the client is to see soon that it is not.
func (b *body) finish(whole bool) (fit bool) {
	c := b.c
	if !b.mu.TryLock() {
		c.bind(time.Unix(1, 0)) // a read is under way, and nothing can follow it
		b.mu.Lock()
	}
	defer b.mu.Unlock()
	fit = b.left == 0 || b.err == nil && whole && b.skip()
	b.err = errBodyClosed
	c.uploading.Store(false)
	c.unbind()
	return fit
}

// skip reads what is left.
func (b *body) skip() (fit bool) {
	c := b.c
	n := min(b.left, int64(c.w-c.r))
	c.r += int(n)
	if b.left -= n; b.left == 0 {
		return true
	}
	if c.answer.close || b.left > maxRest {
		c.drain()
		return false
	}
	c.bind(time.Now().Add(restTime))
	_, err := io.CopyN(io.Discard, c.nc, b.left)
	return err == nil
}

// bind limits the reading outside of turn.
func (c *conn) bind(t time.Time) {
	c.bound.Store(true)
	_ = c.nc.SetReadDeadline(t)
}

// unbind takes the limit away.
func (c *conn) unbind() {
	if c.bound.Swap(false) {
		_ = c.nc.SetReadDeadline(time.Time{})
	}
}

// drain keeps a connection for a moment after its last answer, until the
// client has read it.
func (c *conn) drain() {
	_ = closeWrite(c.nc)
	c.bind(time.Now().Add(restTime))
	_, _ = io.Copy(io.Discard, struct{ io.Reader }{c.nc})
}
