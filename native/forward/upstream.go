// Package forward is what happens to one request between a client and the
// pool: it chooses a backend, sends the request, tries again when that is
// safe, and passes the answer back. It opens no socket and reads no clock;
// both are handed to it, so that another server or transport can stand in.
package forward

import (
	"net/http"

	"minilb/core/lb"
)

// An Upstream carries one attempt to one backend. It fills in the address of
// the request's URL and sends the rest as it is.
//
// It returns when the head of the answer is there; the body is read and closed
// by the caller. An error that is not a *Failure counts as lb.Broken.
type Upstream interface {
	RoundTrip(b lb.Backend, r *http.Request) (*http.Response, error)
}

// A Failure is why there is no answer, in the terms that retries and ejection
// need: above all whether a byte of the request was sent.
type Failure struct {
	Kind lb.Kind // Refused, TimedOut or Broken
	Why  string  // for people: "connection refused"
}

// Error is the reason in words.
func (f *Failure) Error() string { return f.Why }
