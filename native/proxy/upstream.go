package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"minilb/core/lb"
	"minilb/native/forward"
)

// An upstream carries attempts to backends over HTTP/1.1 and keeps idle
// connections.
type upstream struct {
	transport *http.Transport
	connect   time.Duration
	header    time.Duration
}

func newUpstream(t Times) *upstream {
	u := &upstream{connect: t.ConnectTimeout, header: t.ResponseHeaderTimeout}
	u.transport = &http.Transport{
		DialContext:           u.dial,
		DisableCompression:    true, // an answer is passed on as it is
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       60 * time.Second,
		ResponseHeaderTimeout: t.ResponseHeaderTimeout,
		ExpectContinueTimeout: time.Second,
	}
	return u
}

// RoundTrip sends a request to a backend.
func (u *upstream) RoundTrip(b lb.Backend, r *http.Request) (*http.Response, error) {
	r.URL.Host = b.Address
	resp, err := u.transport.RoundTrip(r)
	if err != nil {
		return nil, u.failure(err)
	}
	return resp, nil
}

func (u *upstream) close() { u.transport.CloseIdleConnections() }

// A dialError is a connection that was never made: nothing was sent on it.
type dialError struct{ error }

func (e dialError) Unwrap() error { return e.error }

func (u *upstream) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, u.connect)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, dialError{err}
	}
	return conn, nil
}

// failure puts an error of the transport in the terms that core decides by.
func (u *upstream) failure(err error) error {
	var never dialError
	if errors.As(err, &never) {
		return &forward.Failure{Kind: lb.Refused, Why: whyNotConnected(never.error, u.connect)}
	}
	if isTimeout(err) {
		return &forward.Failure{Kind: lb.TimedOut, Why: fmt.Sprintf("no answer within %s", u.header)}
	}
	return &forward.Failure{Kind: lb.Broken, Why: "the connection broke before an answer: " + plain(err)}
}

func whyNotConnected(err error, limit time.Duration) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
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
