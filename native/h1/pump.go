package h1

import (
	"errors"
	"io"
	"strconv"
	"sync/atomic"
	"time"
)

// A pump sends a request's body in a goroutine of its own.
type pump struct {
	e     *Response
	r     *Request
	last  atomic.Bool           // the body was read to its end
	fault atomic.Pointer[fault] // why the exchange cannot go on

	done  chan struct{}
	ended time.Time // when done was closed, and err why
	err   error
}

// A fault of a pump ends the exchange.
type fault struct{ err error }

func (e *Response) startPump(r *Request) {
	e.pump = &pump{e: e, r: r, done: make(chan struct{})}
	go e.pump.run()
}

// run sends the body. When that cannot be read, or the backend takes none of
// it for too long, whoever waits for the answer is woken. Any other error of a
// write is the end of the connection, which the reader comes to by itself,
// after an answer that the backend may have sent before it closed.
func (p *pump) run() {
	defer close(p.done)
	p.err = p.copy()
	p.ended = time.Now()
	var body *BodyError
	if errors.As(p.err, &body) || p.err != nil && isTimeout(p.err) {
		p.fault.Store(&fault{p.err})
		p.e.conn.interrupt()
	}
}

// copy sends the body, framed by its length or in chunks. Every piece is
// passed on as it comes, for it may be one message of a stream.
func (p *pump) copy() error {
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	if p.r.Length >= 0 {
		return p.copyLength(buf[:])
	}
	return p.copyChunks(buf[:])
}

func (p *pump) copyLength(piece []byte) error {
	for left := p.r.Length; left > 0; {
		n, err := p.r.Body.Read(piece[:min(left, bufferSize)])
		left -= int64(n)
		p.last.Store(left == 0)
		if n > 0 {
			if err := p.write(piece[:n]); err != nil {
				return err
			}
		}
		if err != nil && left > 0 {
			return bodyError(err)
		}
	}
	p.last.Store(true)
	return nil
}

// chunkHead is the room before a piece for its chunk's size, chunkTail the
// room after it.
const chunkHead, chunkTail = 8, 2

func (p *pump) copyChunks(piece []byte) error {
	for {
		n, err := p.r.Body.Read(piece[chunkHead : bufferSize-chunkTail])
		if n > 0 {
			if err := p.write(chunk(piece, n)); err != nil {
				return err
			}
		}
		if err == io.EOF {
			p.last.Store(true)
			return p.finish()
		}
		if err != nil {
			return bodyError(err)
		}
	}
}

// chunk frames the n bytes after chunkHead.
func chunk(piece []byte, n int) []byte {
	var size [chunkHead]byte
	digits := append(strconv.AppendInt(size[:0], int64(n), 16), "\r\n"...)
	from := chunkHead - len(digits)
	copy(piece[from:], digits)
	copy(piece[chunkHead+n:], "\r\n")
	return piece[from : chunkHead+n+chunkTail]
}

func (p *pump) write(piece []byte) error {
	p.e.conn.writeWithin(p.e.conn.client.Timeouts.Body)
	if err := p.e.ctx.Err(); err != nil {
		return err
	}
	_, err := p.e.conn.Write(piece)
	return err
}

// finish writes the last chunk and the trailers.
func (p *pump) finish() error {
	last := []byte("0\r\n")
	if p.r.Trailer != nil {
		var err error
		if last, err = appendFields(last, p.r.Trailer()); err != nil {
			return &BodyError{err}
		}
	}
	return p.write(append(last, "\r\n"...))
}

// settled says whether the whole body went out. A backend may answer between
// the body's last byte and the pump's own end, which is then awaited.
func (p *pump) settled() bool {
	select {
	case <-p.done:
		return p.err == nil
	default:
	}
	if !p.last.Load() {
		return false
	}
	patience := time.NewTimer(settleWait)
	defer patience.Stop()
	select {
	case <-p.done:
		return p.err == nil
	case <-patience.C:
		return false
	}
}

// settleWait is for a goroutine to be scheduled, not for a client to send.
const settleWait = 50 * time.Millisecond

// owed is how much of d is left since the body's last byte; all of it while
// the body is still being sent.
func (p *pump) owed(d time.Duration) time.Duration {
	select {
	case <-p.done:
		return d - time.Since(p.ended)
	default:
		return d
	}
}

// end waits for the pump after its connection was closed.
func (p *pump) end() {
	select {
	case <-p.done:
		return
	default:
	}
	if p.r.Interrupt != nil {
		p.r.Interrupt()
	}
	<-p.done
}

// A BodyError is a failure to read the request's body: the client's, not the
// backend's.
type BodyError struct{ Err error }

// bodyError describes a Read that should not have ended.
func bodyError(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return &BodyError{err}
}

// Error says so.
func (b *BodyError) Error() string { return "read the request's body: " + b.Err.Error() }

// Unwrap gives the cause.
func (b *BodyError) Unwrap() error { return b.Err }
