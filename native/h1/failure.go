package h1

import (
	"context"
	"errors"
	"net"
	"os"
)

// Stage is how far an exchange had come when it failed.
type Stage uint8

// The stages.
const (
	Dialling Stage = iota // no connection
	Sending               // the request's head or body could not be written
	Waiting               // sent, and no whole head of an answer came back
	Reading               // the answer's body broke off
)

// A Failure is an exchange that did not end in a whole answer. Retries and
// ejection depend on what it says of the bytes on the wire.
type Failure struct {
	Stage    Stage
	Sent     bool // a byte of the request may have reached the backend
	Received bool // a byte of the answer came back
	Reused   bool // on a connection that had been idle: the backend may just have closed it
	Err      error
}

// Error names the stage and the cause.
func (f *Failure) Error() string {
	words := [...]string{"connect", "send", "wait for an answer", "read the answer"}
	return words[f.Stage] + ": " + f.Err.Error()
}

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Stale says that a connection which had been idle ended before a byte of an
// answer: the backend may have closed it just as it was used. A request that
// may be repeated is then sent again, Fresh (RFC 9112 section 9.3.1).
func (f *Failure) Stale() bool { return f.Reused && !f.Received }

// Timeout says whether one of the timeouts, or the context's, was the cause. A
// client that is slow to send its body is not the backend's timeout.
func (f *Failure) Timeout() bool {
	var body *BodyError
	return !errors.As(f.Err, &body) && isTimeout(f.Err)
}

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// Malformed is an answer that breaks the rules of HTTP/1.1. Such a connection
// is closed: nobody knows where the next answer would begin.
type Malformed string

// Error says which rule.
func (m Malformed) Error() string { return "malformed answer: " + string(m) }

// Unsendable is a request that would not be read as the one that was meant. No
// byte was sent and no connection taken: it is the caller's fault.
type Unsendable string

// Error says what is wrong with it.
func (u Unsendable) Error() string { return "unsendable request: " + string(u) }
