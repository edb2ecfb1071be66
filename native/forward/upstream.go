// Package forward is what happens to one request between a client and the
// pool: it chooses a backend, sends the request, tries again when that is
// safe, and passes the answer back. It opens no socket and reads no clock;
// both are handed to it, so that another server or transport can stand in.
package forward

import (
	"context"
	"io"
	"net"
	"net/http"

	"minilb/core/lb"
)

// An Upstream carries one attempt to one backend, and returns when the head of
// the answer is there. The caller reads the body and closes the Response; when
// ctx ends, so does the attempt.
//
// An error that is not a *Failure counts as lb.Broken, unless it is ctx's or
// came out of the request's Body.
type Upstream interface {
	RoundTrip(ctx context.Context, b lb.Backend, o *Outgoing) (Response, error)
}

// An Outgoing is one attempt as a backend is to get it: everything is decided,
// and the hop-by-hop fields are those of this hop. It must not be kept or
// changed after its Response is closed.
type Outgoing struct {
	Method string
	Target string // as in the request line, exactly as the client wrote it
	Host   string
	Header http.Header
	Extra  []string // further fields, name and value in turn: what minilb adds

	Body    io.Reader          // nil: none
	Length  int64              // of Body; -1: unknown
	Trailer func() http.Header // asked for after the end of Body; nil: none

	Hold          bool                                 // Body waits for the backend's 100 (Expect: 100-continue)
	Fresh         bool                                 // on a connection that has not been used before
	Interrupt     func()                               // wakes a Read of Body; nil without a Body that can block
	Informational func(status int, header http.Header) // told of 1xx other than 100 and 101, before RoundTrip returns

	// Memory is where an Upstream may keep what its next answer can be made of:
	// attempts with the same Memory follow one another, and an answer is not
	// looked at when the next RoundTrip begins.
	Memory *any
}

// A Response is a backend's answer. Read gives its body; closing it before the
// end gives its connection up.
type Response interface {
	io.ReadCloser
	// Head is the answer's head; the caller may change the header. length is
	// -1 when it is unknown.
	Head() (status int, header http.Header, length int64)
	// Trailer is the fields after the body, complete when that was read.
	Trailer() http.Header
}

// An Upgrader is a Response with status 101 that can give its connection away,
// with the bytes of the new protocol that were read already.
type Upgrader interface {
	Upgraded() (conn net.Conn, early []byte)
}

// A Failure is why there is no answer, in the terms that retries and ejection
// need: above all whether a byte of the request was sent.
type Failure struct {
	Kind lb.Kind // Refused, TimedOut, Broken; Cancelled when the request itself is at fault
	Why  string  // for people: "connection refused"

	// Stale says that the backend closed an idle connection just as it was
	// used again. That is nobody's failure: it does not count against the
	// backend, and an idempotent request is sent once more on a fresh
	// connection before anything else is decided.
	Stale bool
}

// Error is the reason in words.
func (f *Failure) Error() string { return f.Why }
