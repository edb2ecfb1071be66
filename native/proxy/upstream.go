package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"minilb/core/lb"
	"minilb/native/forward"
	"minilb/native/h1"
)

// An upstream carries attempts to backends and keeps idle connections.
type upstream interface {
	forward.Upstream
	// forget closes the idle connections to an address that has left the pool.
	forget(address string)
	close()
}

// Idle connections are many rather than few: one that is not kept costs a
// handshake, one that is costs a descriptor.
const (
	maxIdle = 256
	idleFor = 60 * time.Second
)

// newUpstream makes the upstream that the configuration asks for. secured is
// nil for backends in clear text.
func (c Config) newUpstream(secured *tls.Config) upstream {
	if c.BackendProtocol != "h1" {
		return c.newH2Upstream(secured)
	}
	return &h1Upstream{times: c.Times, client: h1.Client{
		TLS: secured, MaxIdle: maxIdle, IdleFor: idleFor,
		Timeouts: h1.Timeouts{Connect: c.ConnectTimeout, Head: c.ResponseHeaderTimeout, Body: c.ResponseIdleTimeout},
	}}
}

// An h1Upstream speaks HTTP/1.1.
type h1Upstream struct {
	client h1.Client
	times  Times
}

// An h1Answer is a request and its answer, in one piece of memory.
type h1Answer struct {
	h1.Response
	upstream *h1Upstream
	request  h1.Request
}

// RoundTrip sends a request to a backend.
func (u *h1Upstream) RoundTrip(ctx context.Context, b lb.Backend, o *forward.Outgoing) (forward.Response, error) {
	a := u.answer(o)
	a.request = h1.Request{
		Method: o.Method, Target: o.Target, Host: o.Host, Header: o.Header, Extra: o.Extra,
		Body: o.Body, Length: o.Length, Trailer: o.Trailer,
		Interrupt: o.Interrupt, Fresh: o.Fresh, Hold: o.Hold, Informational: o.Informational,
	}
	if failure := u.client.DoInto(&a.Response, ctx, b.Address, &a.request); failure != nil {
		return nil, u.failure(failure)
	}
	return a, nil
}

// answer is the memory of the next answer: that of the last one, where the
// attempt has one.
func (u *h1Upstream) answer(o *forward.Outgoing) *h1Answer {
	if o.Memory == nil {
		return &h1Answer{upstream: u}
	}
	a, had := (*o.Memory).(*h1Answer)
	if !had {
		a = &h1Answer{upstream: u}
		*o.Memory = a
	}
	return a
}

func (u *h1Upstream) forget(address string) { u.client.Forget(address) }
func (u *h1Upstream) close()                { u.client.Close() }

// Head is the answer's head.
func (a *h1Answer) Head() (status int, header http.Header, length int64) {
	return a.Response.Status, a.Response.Header, a.Response.Length
}

// Read reads the answer's body.
func (a *h1Answer) Read(p []byte) (int, error) {
	n, err := a.Response.Read(p)
	if failure, failed := err.(*h1.Failure); failed {
		err = a.upstream.failure(failure)
	}
	return n, err
}

// failure puts what the client says in the terms that core decides by. Errors
// of the request's own body, and of its context, stay what they are.
func (u *h1Upstream) failure(f *h1.Failure) error {
	var body *h1.BodyError
	var unsendable h1.Unsendable
	var malformed h1.Malformed
	switch {
	case errors.As(f.Err, &body):
		return body.Err
	case errors.As(f.Err, &unsendable):
		return &forward.Failure{Kind: lb.Cancelled, Why: unsendable.Error()}
	case errors.Is(f.Err, context.Canceled):
		return f.Err
	case f.Stage == h1.Dialling:
		return &forward.Failure{Kind: lb.Refused, Why: whyNotConnected(f.Err, u.times.ConnectTimeout)}
	case f.Timeout():
		return &forward.Failure{Kind: lb.TimedOut, Why: u.whyLate(f)}
	case errors.As(f.Err, &malformed):
		return &forward.Failure{Kind: lb.Broken, Why: malformed.Error()}
	}
	return u.broken(f)
}

func (u *h1Upstream) whyLate(f *h1.Failure) string {
	switch f.Stage {
	case h1.Sending:
		return fmt.Sprintf("it took nothing of the request for %s", u.times.ResponseIdleTimeout)
	case h1.Reading:
		return fmt.Sprintf("nothing of its answer came for %s", u.times.ResponseIdleTimeout)
	}
	return fmt.Sprintf("no answer within %s", u.times.ResponseHeaderTimeout)
}

// broken is a connection that ended early. When it had been idle, and no byte
// came back, the backend may just have closed it.
func (u *h1Upstream) broken(f *h1.Failure) error {
	b := &forward.Failure{Kind: lb.Broken, Stale: f.Stale()}
	if !f.Sent {
		b.Kind = lb.Refused
	}
	if f.Stage == h1.Reading {
		b.Why = "the connection broke in the middle of its answer: " + plain(f.Err)
	} else {
		b.Why = "the connection broke before an answer: " + plain(f.Err)
	}
	return b
}

// A dialError is a connection that was never made: nothing was sent on it.
type dialError struct{ error }

func (e dialError) Unwrap() error { return e.error }

func whyNotConnected(err error, limit time.Duration) string {
	var certificate *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &certificate):
		return "its certificate is not accepted: " + certificate.Err.Error()
	case errors.As(err, &notTLS):
		return "it does not speak TLS; --backend-tls asks for that"
	case errors.Is(err, errNotH2) || err.Error() == "remote error: tls: no application protocol":
		return errNotH2.Error()
	case isTimeout(err):
		return fmt.Sprintf("no connection within %s", limit)
	}
	return "no connection: " + plain(err)
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// plain is an error without the operation and addresses that net puts before it.
func plain(err error) string {
	var call *os.SyscallError
	var op *net.OpError
	switch {
	case errors.As(err, &call):
		return call.Err.Error()
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}
