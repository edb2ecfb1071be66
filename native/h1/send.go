package h1

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// smallBody is the largest body that goes out in one write with its head.
const smallBody = 16 << 10

// heads are the buffers that requests are written in.
var heads = sync.Pool{New: func() any { return new(make([]byte, 0, 4<<10)) }}

// largeHead is the largest buffer kept: a head of its own or a small body.
const largeHead = 2 * smallBody

// send writes the head, and the body with it when that is small. A larger body
// is pumped beside the reading of the answer, for a backend may answer before
// it has read everything, or while it reads.
func (e *Response) send(r *Request, head *[]byte) error {
	out := *head
	small := r.Body != nil && !r.Hold && 0 <= r.Length && r.Length <= smallBody
	if small {
		at := len(out)
		out = append(out, make([]byte, r.Length)...)
		if _, err := io.ReadFull(r.Body, out[at:]); err != nil {
			return bodyError(err)
		}
	}
	err := e.write(out, r.Body == nil || small)
	if cap(out) <= largeHead && err != errDead {
		*head = out
		heads.Put(head)
	}
	if err == nil && r.Body != nil && !small && !r.Hold {
		e.startPump(r)
	}
	return err
}

// write sends what it is given. When that is the whole request, it may wait for
// the answer as well.
func (e *Response) write(out []byte, whole bool) error {
	if whole && e.conn.probe.direct() {
		return e.ask(out)
	}
	return e.writeRest(out)
}

func (e *Response) writeRest(out []byte) error {
	e.conn.writeWithin(e.conn.client.Timeouts.Body)
	if err := e.ctx.Err(); err != nil {
		return err
	}
	n, err := e.conn.Write(out)
	e.sent = e.sent || n > 0
	return err
}

// errDead is a connection that was closed, or spoken into, while it rested.
var errDead = errors.New("the backend has closed the connection")

// ask sends a request and waits for the first bytes of its answer, after a look
// at a connection that has rested. All of it is one use of the descriptor.
func (e *Response) ask(out []byte) error {
	c := e.conn
	if err := e.readWithin(c.client.Timeouts.Head); err != nil {
		return err
	}
	c.room()
	sent, got, err := c.probe.ask(out, c.buf[c.w:], c.reused)
	e.sent, e.waited = sent > 0, sent == len(out)
	if c.w += got; got > 0 {
		e.received = true
	}
	if err != nil || e.waited {
		return err
	}
	return e.writeRest(out[sent:])
}

// newHead writes a request's head into a buffer of heads. It is called before
// a connection is taken: a request that cannot be sent costs none.
func newHead(r *Request) (*[]byte, error) {
	if !isToken(r.Method) || r.Method == "CONNECT" {
		return nil, Unsendable("method " + quote(r.Method))
	}
	if !isTarget(r.Target) {
		return nil, Unsendable("target " + quote(r.Target))
	}
	buf := heads.Get().(*[]byte)
	b := append(append((*buf)[:0], r.Method...), ' ')
	b = append(append(b, r.Target...), " HTTP/1.1\r\n"...)
	b, err := appendField(b, "Host", r.Host)
	if err == nil {
		b, err = appendFields(b, r.Header)
	}
	for i := 0; err == nil && i+1 < len(r.Extra); i += 2 {
		if !framesMessage(r.Extra[i]) {
			b, err = appendField(b, r.Extra[i], r.Extra[i+1])
		}
	}
	if err != nil {
		return nil, err
	}
	*buf = append(appendFraming(b, r), "\r\n"...)
	return buf, nil
}

// appendFraming says how the body's end is known.
func appendFraming(b []byte, r *Request) []byte {
	switch {
	case r.Body == nil && !carriesBody(r.Method):
		return b
	case r.Body == nil:
		return append(b, "Content-Length: 0\r\n"...)
	case r.Length >= 0:
		return append(strconv.AppendInt(append(b, "Content-Length: "...), r.Length, 10), "\r\n"...)
	default:
		return append(b, "Transfer-Encoding: chunked\r\n"...)
	}
}

// carriesBody says whether a request of this method without a body says so
// (RFC 9110 section 8.6).
func carriesBody(method string) bool {
	return method == "POST" || method == "PUT" || method == "PATCH"
}

func appendFields(b []byte, header http.Header) ([]byte, error) {
	var err error
	for name, values := range header {
		if framesMessage(name) {
			continue
		}
		for _, value := range values {
			if b, err = appendField(b, name, value); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// framesMessage names the fields that say where a request goes and ends. They
// are this package's to write, and never trailers (RFC 9110 section 6.5.1).
func framesMessage(name string) bool {
	switch len(name) {
	case len("Host"):
		return strings.EqualFold(name, "Host")
	case len("Content-Length"):
		return strings.EqualFold(name, "Content-Length")
	case len("Transfer-Encoding"):
		return strings.EqualFold(name, "Transfer-Encoding")
	}
	return false
}

// appendField refuses what would be read as more than one field.
func appendField(b []byte, name, value string) ([]byte, error) {
	if !isToken(name) || !isValue(value) {
		return nil, Unsendable("field " + quote(name) + ": " + quote(value))
	}
	b = append(append(b, name...), ": "...)
	return append(append(b, value...), "\r\n"...), nil
}
