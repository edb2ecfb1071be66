package h1

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// A Response is the answer of a backend: its head, and its body by Read. Close
// it; only a body read to its end leaves the connection fit for the next
// request.
type Response struct {
	Status int
	Header http.Header
	Length int64 // of the body, or for HEAD and 304 of the one left out; -1: unknown

	conn *conn
	ctx  context.Context
	stop func() bool // ends the watch on ctx; nil: there is none, or it is watched
	room fieldRoom

	watched Watched

	method   string
	sent     bool
	received bool
	waited   bool // the request went out whole
	held     bool // the request's body waits for a 100
	keep     bool // the connection may be used again
	pump     *pump

	framing framing
	left    int64 // bytes of the body, or of the chunk
	tail    bool  // the end of a chunk is due
	ended   bool
	failed  *Failure
	trailer http.Header
	closed  bool
}

// expectWait is how long a held-back body waits for the backend's 100 before
// it is sent all the same (RFC 9110 section 10.1.1).
const expectWait = time.Second

// A Watched context calls a function when it ends, without the memory that
// context.AfterFunc takes. It calls it at once when it has ended already, and
// not any more when Unwatch returns.
type Watched interface {
	Watch(wake func())
	Unwatch() (called bool)
}

// exchange is one request and the head of its answer. A connection that was
// dead before the request was sent has cost nothing but itself.
func (e *Response) exchange(ctx context.Context, c *conn, r *Request, head *[]byte) (f *Failure, dead bool) {
	*e = Response{conn: c, ctx: ctx, method: r.Method, keep: true, room: e.room}
	e.follow()
	if err := e.send(r, head); err == errDead {
		e.keep = false
		_ = e.Close()
		return nil, true
	} else if err != nil {
		stage := Sending
		if e.waited {
			stage = Waiting
		}
		return e.fail(stage, err), false
	}
	if err := e.receive(r); err != nil {
		return e.fail(Waiting, err), false
	}
	return nil, false
}

// follow has the connection woken when the context ends.
func (e *Response) follow() {
	if w, is := e.ctx.(Watched); is {
		e.watched = w
		w.Watch(e.conn.wake)
	} else if e.ctx.Done() != nil {
		e.stop = context.AfterFunc(e.ctx, e.conn.wake)
	}
}

// unfollow ends that, and says whether the connection is untouched: otherwise
// a deadline in the past may be set at any moment.
func (e *Response) unfollow() (untouched bool) {
	switch {
	case e.watched != nil:
		return !e.watched.Unwatch()
	case e.stop != nil:
		return e.stop()
	}
	return true
}

// fail closes the connection and describes what happened.
func (e *Response) fail(s Stage, err error) *Failure {
	f := e.failure(s, err)
	e.Close()
	return f
}

// failure is asked for before the connection is closed, for closing has the
// pump fail as well.
func (e *Response) failure(s Stage, err error) *Failure {
	e.keep = false
	f := &Failure{Stage: s, Sent: e.sent, Received: e.received, Reused: e.conn.reused, Err: err}
	if over := e.over(); over != nil {
		f.Err = over
		if s == Waiting && e.ctx.Err() == nil {
			f.Stage = Sending // the pump could not
		}
	} else if errors.Is(err, io.EOF) {
		f.Err = io.ErrUnexpectedEOF
	}
	return f
}

// over is what ended the exchange from outside: the caller, or the pump. It is
// the cause before the errors that follow from it.
func (e *Response) over() error {
	if err := e.ctx.Err(); err != nil {
		return err
	}
	if e.pump != nil {
		if f := e.pump.fault.Load(); f != nil {
			return f.err
		}
	}
	return nil
}

// maxInformational bounds the 1xx answers before the final one; each of them
// starts the timeout anew.
const maxInformational = 100

// receive reads heads until the final one.
func (e *Response) receive(r *Request) error {
	e.held = r.Hold && r.Body != nil
	for range maxInformational {
		if err := e.await(r); err != nil {
			return err
		}
		if err := e.readHead(); err != nil {
			return err
		}
		switch {
		case e.Status == http.StatusSwitchingProtocols:
			return e.switching(r)
		case e.Status < 200 && e.framed():
			return Malformed("1xx with a body")
		case e.Status >= 200:
			e.keep = e.keep && !e.held // the body was announced and never sent
			return e.frame()
		case e.Status == http.StatusContinue && e.held:
			e.release(r)
		case e.Status != http.StatusContinue && r.Informational != nil:
			r.Informational(e.Status, e.Header)
		}
	}
	return Malformed("too many 1xx answers")
}

// framed says whether the head has a body after it, by its fields alone.
func (e *Response) framed() bool {
	return e.Header["Content-Length"] != nil || e.Header["Transfer-Encoding"] != nil
}

func (e *Response) release(r *Request) {
	e.held = false
	e.startPump(r)
}

// switching checks a 101: one that nobody asked for, or before the request's
// end, leaves the two sides with different ideas of what comes next.
func (e *Response) switching(r *Request) error {
	if !r.upgrades() {
		return Malformed("101 to a request without Upgrade")
	}
	if e.held || e.pump != nil && !e.pump.settled() {
		return Malformed("101 before the end of the request's body")
	}
	e.framing, e.Length, e.keep = byClose, -1, false
	delete(e.Header, "Content-Length") // some send 0
	delete(e.Header, "Transfer-Encoding")
	return nil
}

// upgrades says whether the request asks for another protocol.
func (r *Request) upgrades() bool {
	for i := 0; i < len(r.Extra); i += 2 {
		if http.CanonicalHeaderKey(r.Extra[i]) == "Upgrade" {
			return true
		}
	}
	return r.Header["Upgrade"] != nil
}

// await returns when there is something to read of the next head. The head's
// timeout counts from the request's last byte, so that a deadline which passes
// before that is no more than a moment to look again.
func (e *Response) await(r *Request) error {
	limit := e.conn.client.Timeouts.Head
	for {
		err := e.awaitBytes(limit)
		switch {
		case err == nil && (e.held || e.pump != nil):
			return e.readWithin(limit) // what is set may be shorter
		case err == nil || !isTimeout(err) || e.over() != nil:
			return err
		case e.held:
			e.release(r)
		case e.pump == nil || e.pump.owed(limit) <= 0:
			return err
		}
	}
}

func (e *Response) awaitBytes(limit time.Duration) error {
	if e.held && (limit == 0 || limit > expectWait) {
		limit = expectWait
	} else if limit > 0 && e.pump != nil {
		limit = max(e.pump.owed(limit), 1)
	}
	if err := e.readWithin(limit); err != nil || e.conn.r < e.conn.w {
		return err
	}
	err := e.conn.fill()
	e.received = e.received || err == nil
	return err
}

// readWithin sets a deadline without undoing an interrupt.
func (e *Response) readWithin(d time.Duration) error {
	e.conn.readWithin(d)
	return e.over()
}

// Close ends the exchange. The connection rests for the next request when the
// answer was read to its end and nothing is left over, and is closed otherwise.
func (e *Response) Close() error {
	if e.closed {
		return nil
	}
	e.closed = true
	fit := e.keep && e.ended && e.conn.r == e.conn.w && (e.pump == nil || e.pump.settled())
	fit = e.unfollow() && fit
	if fit {
		e.conn.rest()
		return nil
	}
	err := e.conn.abort()
	if e.pump != nil {
		e.pump.end()
	}
	return err
}

// Upgraded hands the connection over after a 101, with what was read of the
// new protocol already. The caller closes it; the context's end, unless it has
// come already, no longer does.
func (e *Response) Upgraded() (nc net.Conn, early []byte) {
	e.closed = true
	if !e.unfollow() {
		e.conn.abort()
	}
	e.conn.SetDeadline(time.Time{})
	return e.conn.Conn, e.conn.buf[e.conn.r:e.conn.w]
}
