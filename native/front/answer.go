//go:build unix

package front

import (
	"net"
	"net/http"
	"strconv"
	"time"
)

// An answer is the http.ResponseWriter of the request in flight. What it is
// told is gathered and goes out in as few writes as there can be: one, for a
// small answer.
type answer struct {
	c      *conn
	header http.Header
	out    []byte // not written yet

	head   bool // to a HEAD
	close  bool // the connection ends with it
	status int  // 0: nothing was said yet
	framed framing
	left   int64    // of the length that was promised
	fields []field  // room for sorting
	later  []string // the trailers that were announced
	failed error    // of a write

	pieces [3][]byte
	vector net.Buffers
	due    time.Duration // when a write fails
}

type framing uint8

const (
	byNothing framing = iota
	byLength
	byChunks
)

// firstOut holds an ordinary answer; what is longer goes past it.
const firstOut = 4 << 10

func (a *answer) init(c *conn) {
	a.c, a.header, a.out = c, http.Header{}, make([]byte, 0, firstOut)
}

// begin is a new request's. head and close were set by its head.
func (a *answer) begin() {
	clear(a.header)
	a.out, a.status, a.framed, a.left, a.later = a.out[:0], 0, byNothing, 0, a.later[:0]
	a.failed = nil
	a.c.uploading.Store(a.c.body != nil && !a.c.body.buffered())
}

// trim gives back what a large head took.
func (a *answer) trim() {
	if len(a.header) > maxKept {
		a.header = http.Header{}
	}
	if cap(a.fields) > 2*maxKept {
		a.fields = nil
	}
	if cap(a.later) > maxKept {
		a.later = nil
	}
}

// Header is the fields of the next head, and after it the trailers.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader sends a head: an interim one at once, the final one together
// with what follows.
func (a *answer) WriteHeader(status int) {
	switch {
	case a.status != 0:
		a.c.server.logf("superfluous WriteHeader(%d) after %d", status, a.status)
	case 100 <= status && status <= 199 && status != http.StatusSwitchingProtocols:
		a.interim(status)
	default:
		a.final(status)
	}
}

// Write sends a piece of the body.
func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	switch {
	case a.head || len(p) == 0:
		return len(p), a.failed
	case a.framed == byNothing:
		return 0, http.ErrBodyNotAllowed
	case a.framed == byChunks:
		return a.chunk(p)
	case int64(len(p)) > a.left:
		a.left = -1 // nor may the next request be answered here
		return 0, http.ErrContentLength
	}
	a.left -= int64(len(p))
	return len(p), a.add(p, nil)
}

func (a *answer) chunk(p []byte) (int, error) {
	a.out = append(strconv.AppendInt(a.out, int64(len(p)), 16), "\r\n"...)
	return len(p), a.add(p, crlf)
}

var crlf = []byte("\r\n")

// add sends what is short with what comes after it, and what is long at once.
func (a *answer) add(p, end []byte) error {
	if len(a.out)+len(p)+len(end) <= firstOut {
		a.out = append(append(a.out, p...), end...)
		return a.failed
	}
	a.pieces = [3][]byte{a.out, p, end}
	a.vector = a.pieces[:]
	if a.failed == nil {
		a.renew()
		_, a.failed = a.vector.WriteTo(a.c.nc)
	}
	a.pieces, a.out = [3][]byte{}, a.out[:0]
	return a.failed
}

// flush sends what was gathered.
func (a *answer) flush() error {
	if len(a.out) > 0 && a.failed == nil {
		a.renew()
		_, a.failed = a.c.nc.Write(a.out)
	}
	if cap(a.out) > 2*firstOut {
		a.out = make([]byte, 0, firstOut)
	}
	a.out = a.out[:0]
	return a.failed
}

// FlushError is for http.ResponseController.
func (a *answer) FlushError() error {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	return a.flush()
}

// Flush is http.Flusher's.
func (a *answer) Flush() { _ = a.FlushError() }

// renew limits a write. A deadline up to an eighth late is good enough, and
// most answers set none.
func (a *answer) renew() {
	limit := a.c.server.WriteTimeout
	if limit <= 0 {
		return
	}
	if now := a.c.server.now(); a.due-now < limit {
		a.due = now + limit + limit/8
		_ = a.c.nc.SetWriteDeadline(a.c.server.start.Add(a.due)) // the write itself fails when that did
	}
}

// SetReadDeadline limits the reading of the request's body. When that is here
// already there is nothing to limit.
func (a *answer) SetReadDeadline(t time.Time) error {
	if a.c.uploading.Load() {
		a.c.bind(t)
	}
	return nil
}

// EnableFullDuplex is how it is anyway.
func (a *answer) EnableFullDuplex() error { return nil }

// finish ends the answer, and says whether it is whole and out.
func (a *answer) finish() (whole bool) {
	if a.status == 0 {
		if a.header["Content-Length"] == nil && !a.head {
			a.header["Content-Length"] = []string{"0"}
		}
		a.WriteHeader(http.StatusOK)
	}
	if a.framed == byChunks && !a.head {
		a.out = append(a.out, "0\r\n"...)
		a.out = a.trailers(a.out)
		a.out = append(a.out, "\r\n"...)
	}
	err := a.flush()
	return err == nil && (a.framed != byLength || a.left == 0 || a.head)
}
