package forward

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// A replay is a request's body that may have to be sent again. It streams: the
// first attempt reads the client directly, and what was read is kept as long
// as it fits the limit. A later attempt reads what was kept and then goes on
// with the client.
type replay struct {
	mu    sync.Mutex
	src   io.Reader
	limit int64
	read  int64  // from src
	kept  []byte // all of it, unless it was more than limit
	err   error  // what src ended with
}

// again says whether another attempt can have the whole body.
func (b *replay) again() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read == int64(len(b.kept))
}

// size is how much of the body was read.
func (b *replay) size() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read
}

// broke says whether the client failed to send its body.
func (b *replay) broke() bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err != nil && b.err != io.EOF
}

// open returns the body from its start, for one attempt.
func (b *replay) open() *replayReader { return &replayReader{body: b} }

// fill reads from the client into p and keeps what was read.
func (b *replay) fill(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.src.Read(p)
	if whole := b.read == int64(len(b.kept)); whole && b.read+int64(n) <= b.limit {
		b.kept = append(b.kept, p[:n]...)
	} else if n > 0 {
		b.kept = nil
	}
	b.read += int64(n)
	b.err = err
	return n, err
}

// A replayReader is one attempt's view of the body.
type replayReader struct {
	body   *replay
	at     int64
	closed atomic.Bool
}

var errClosed = errors.New("the attempt is over")

// Read gives what earlier attempts read and then reads on. Attempts overlap
// when one was given up: the lock makes the next one wait for a read under way,
// whose bytes it then finds kept.
func (r *replayReader) Read(p []byte) (int, error) {
	b := r.body
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case r.closed.Load():
		return 0, errClosed
	case r.at < int64(len(b.kept)):
		n := copy(p, b.kept[r.at:])
		r.at += int64(n)
		return n, nil
	case r.at < b.read:
		return 0, errClosed // what it would need is gone
	}
	n, err := b.fill(p)
	r.at += int64(n)
	return n, err
}

// Close ends the attempt's reading; the client's body stays open. It does not
// wait for a read under way: whoever gives an attempt up must not be held by a
// client that has stopped sending.
func (r *replayReader) Close() error {
	r.closed.Store(true)
	return nil
}
