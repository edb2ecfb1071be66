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
	mu     sync.Mutex
	src    io.Reader
	length int64 // as announced; -1: unknown
	limit  int64
	read   int64  // from src
	kept   []byte // all of it, unless it was more than limit
	err    error  // what src ended with
	used   bool   // an attempt has had some of it
	pooled *[smallBody]byte
}

// smallBody is the longest body that is read before a backend is chosen, when
// its length is known: it goes out in one piece with the head, and a client
// who is slow to send it holds nobody up.
const smallBody = 16 << 10

var smallBodies = sync.Pool{New: func() any { return new([smallBody]byte) }}

// readAll reads a small body of a known length.
func (b *replay) readAll() error {
	b.pooled = smallBodies.Get().(*[smallBody]byte)
	n, err := io.ReadFull(b.src, b.pooled[:b.length])
	b.read, b.kept = int64(n), b.pooled[:n]
	if b.err = err; err == nil {
		b.err = io.EOF
	}
	return err
}

// drop gives the memory back; whoever still reads finds nothing.
func (b *replay) drop() {
	if b == nil || b.pooled == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept, b.read, b.err = nil, 0, errClosed
	smallBodies.Put(b.pooled)
	b.pooled = nil
}

// again says whether another attempt can have the whole body. reader is that
// of the last attempt, which reads no further.
func (b *replay) again(reader *replayReader) (reason string) {
	if b == nil {
		return ""
	}
	reader.Close()
	if !b.mu.TryLock() {
		// It waits for the client, and no one else can read meanwhile.
		return "the client was still sending its body"
	}
	defer b.mu.Unlock()
	switch {
	case b.used && (b.read != int64(len(b.kept)) || b.read > b.limit):
		return "body of " + sizeText(max(b.read, b.length)) + " is over --retry-buffer"
	case b.err != nil && b.err != io.EOF:
		return "the request's body is malformed or ended early"
	}
	return ""
}

// ended says whether the whole body was read.
func (b *replay) ended() bool {
	if b == nil {
		return true
	}
	if !b.mu.TryLock() {
		return false
	}
	defer b.mu.Unlock()
	return b.err == io.EOF
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

// Read gives what earlier attempts read and then reads on. Attempts may
// overlap when one was given up: the lock makes the next one wait for a read
// under way, whose bytes it then finds kept.
func (r *replayReader) Read(p []byte) (int, error) {
	b := r.body
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.closed.Load() {
		return 0, errClosed
	}
	b.used = true
	switch {
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
	if r != nil {
		r.closed.Store(true)
	}
	return nil
}

// waiting says whether a read is under way.
func (b *replay) waiting() bool {
	if b.mu.TryLock() {
		b.mu.Unlock()
		return false
	}
	return true
}
