package proxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"

	"minilb/core/lb"
	"minilb/native/forward"
)

// An h2Upstream speaks HTTP/2, by net/http's transport: many requests share a
// connection, so that there is less to gain from a client of our own.
type h2Upstream struct {
	transport *http.Transport
	times     Times
	scheme    string
}

func (c Config) newH2Upstream(secured *tls.Config) *h2Upstream {
	limit := c.ConnectTimeout
	return &h2Upstream{times: c.Times, scheme: c.backendScheme(), transport: newH2Transport(func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return dialH2(ctx, network, address, secured)
	})}
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// newH2Transport speaks HTTP/2 from the first byte; there is no upgrade. The
// dialer sees to TLS.
func newH2Transport(dial dialer) *http.Transport {
	var only http.Protocols
	only.SetHTTP2(true)
	only.SetUnencryptedHTTP2(true)
	return &http.Transport{
		DialContext: dial, DialTLSContext: dial, Protocols: &only, DisableCompression: true,
		IdleConnTimeout: idleFor, ExpectContinueTimeout: time.Second,
	}
}

var errNotH2 = errors.New("it does not speak HTTP/2; --backend-protocol h2 asks for that")

// dialH2 connects, and agrees on HTTP/2 when the connection is secured. The
// whole of it is the dial: until it is done nothing of a request was sent.
func dialH2(ctx context.Context, network, address string, secured *tls.Config) (net.Conn, error) {
	conn, err := dialProbe(ctx, network, address)
	if err != nil || secured == nil {
		return conn, err
	}
	host, _, _ := net.SplitHostPort(address)
	config := secured.Clone()
	config.NextProtos, config.ServerName = []string{"h2"}, cmp.Or(secured.ServerName, host)
	over := tls.Client(conn, config)
	if err = over.HandshakeContext(ctx); err == nil && over.ConnectionState().NegotiatedProtocol != "h2" {
		err = errNotH2
	}
	if err != nil {
		_ = conn.Close()
		return nil, dialError{err}
	}
	return over, nil
}

// RoundTrip sends a request to a backend.
func (u *h2Upstream) RoundTrip(ctx context.Context, b lb.Backend, o *forward.Outgoing) (forward.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	a := &h2Answer{upstream: u, ctx: ctx, cancel: cancel, due: callEnds(o.Header, time.Now())}
	a.arm(u.times.ResponseHeaderTimeout, errNoHead)
	if o.Informational != nil {
		a.hints = &h2Hints{tell: o.Informational}
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: a.hints.add})
	}
	r := u.request(ctx, b, o)
	a.sent, _ = r.Body.(*h2Body)
	resp, err := u.transport.RoundTrip(r)
	a.hints.over()
	if err != nil {
		err = a.failure(err)
		a.end()
		return nil, err
	}
	if !a.disarm() {
		err = a.failure(errNoHead)
	} else {
		err = checkHead(resp)
	}
	if err != nil {
		_ = resp.Body.Close()
		a.end()
		return nil, err
	}
	a.resp = resp
	return a, nil
}

// checkHead reports what net/http lets pass and HTTP/1 has no room for: a
// status of other than three digits, and a length that is said twice or is
// none.
func checkHead(resp *http.Response) error {
	lengths := resp.Header["Content-Length"]
	switch {
	case !(100 <= resp.StatusCode && resp.StatusCode <= 999):
		return &forward.Failure{Kind: lb.Broken, Why: fmt.Sprintf("malformed answer: status %d", resp.StatusCode)}
	case len(lengths) > 1 || len(lengths) == 1 && resp.ContentLength < 0:
		return &forward.Failure{Kind: lb.Broken, Why: fmt.Sprintf("malformed answer: Content-Length %.40q", strings.Join(lengths, ", "))}
	}
	return nil
}

// request is the attempt as net/http takes it.
func (u *h2Upstream) request(ctx context.Context, b lb.Backend, o *forward.Outgoing) *http.Request {
	path, query, asks := strings.Cut(o.Target, "?")
	r := (&http.Request{
		Method: o.Method, Host: o.Host, Header: h2Header(o),
		URL:  &url.URL{Scheme: u.scheme, Host: b.Address, Path: path, RawQuery: query, ForceQuery: asks && query == ""},
		Body: http.NoBody,
	}).WithContext(ctx)
	if plainPath, err := url.PathUnescape(path); err == nil {
		r.URL.Path, r.URL.RawPath = plainPath, path
	}
	if r.URL.EscapedPath() != path && !strings.HasPrefix(path, "//") {
		r.URL.Opaque = path // net/url would write it in its own way
	}
	if o.Body != nil {
		r.Body, r.ContentLength = newH2Body(r, o), o.Length
	}
	return r
}

// h2Header has the extra fields among the others, but for those that HTTP/2
// does not have.
func h2Header(o *forward.Outgoing) http.Header {
	h := o.Header.Clone()
	for i := 0; i+1 < len(o.Extra); i += 2 {
		switch name := o.Extra[i]; name {
		case "Connection", "Upgrade", "Trailer":
		default:
			h[name] = append(h[name], o.Extra[i+1])
		}
	}
	if _, sent := h["User-Agent"]; !sent {
		h["User-Agent"] = []string{""} // or net/http would name itself
	}
	return h
}

func (u *h2Upstream) forget(string) {} // net/http closes what rests in its own time
func (u *h2Upstream) close()        { u.transport.CloseIdleConnections() }

// An h2Answer is an answer by net/http. One stream of a connection cannot have
// a deadline of its own there, so a timer ends the request.
type h2Answer struct {
	upstream *h2Upstream
	ctx      context.Context
	cancel   context.CancelCauseFunc
	due      time.Time // when the client itself gives the call up; zero: not said
	timer    *time.Timer
	sent     *h2Body  // the request's; nil without one
	hints    *h2Hints // nil: nobody wants them
	resp     *http.Response
}

var (
	errNoHead = errors.New("no answer")
	errSilent = errors.New("nothing more of the answer")
)

func (a *h2Answer) arm(limit time.Duration, cause error) {
	if limit > 0 {
		a.timer = time.AfterFunc(limit, func() { a.cancel(cause) })
	}
}

// disarm says whether the timer had not fired.
func (a *h2Answer) disarm() bool { return a.timer == nil || a.timer.Stop() }

func (a *h2Answer) end() {
	a.disarm()
	a.cancel(nil)
	a.sent.over()
}

// Head is the answer's head, with the names of its trailers as HTTP/1 has them:
// there an answer with trailers cannot say its length.
func (a *h2Answer) Head() (status int, header http.Header, length int64) {
	for name := range a.resp.Trailer {
		a.resp.Header.Add("Trailer", name)
	}
	if len(a.resp.Trailer) > 0 {
		a.resp.Header.Del("Content-Length")
		return a.resp.StatusCode, a.resp.Header, -1
	}
	return a.resp.StatusCode, a.resp.Header, a.resp.ContentLength
}

// Read reads the answer's body.
func (a *h2Answer) Read(p []byte) (int, error) {
	a.arm(a.upstream.times.ResponseIdleTimeout, errSilent)
	n, err := a.resp.Body.Read(p)
	if !a.disarm() && err == nil {
		err = errSilent
	}
	if err != nil && err != io.EOF {
		err = a.failure(err)
	}
	return n, err
}

// Trailer is the fields after the body. They may come after its last byte, and
// also when its length was known.
func (a *h2Answer) Trailer() http.Header {
	if _, err := a.Read(make([]byte, 1)); err != io.EOF {
		return nil
	}
	return a.resp.Trailer
}

// Close ends the exchange.
func (a *h2Answer) Close() error {
	err := a.resp.Body.Close()
	a.end()
	return err
}

// failure puts an error of the transport in the terms that core decides by.
func (a *h2Answer) failure(err error) error {
	var never dialError
	t := a.upstream.times
	switch cause := context.Cause(a.ctx); {
	case cause == errNoHead:
		return &forward.Failure{Kind: lb.TimedOut, Why: fmt.Sprintf("no answer within %s", t.ResponseHeaderTimeout)}
	case cause == errSilent:
		return &forward.Failure{Kind: lb.TimedOut, Why: fmt.Sprintf("nothing of its answer came for %s", t.ResponseIdleTimeout)}
	case errors.Is(err, context.Canceled):
		return err
	case !a.due.IsZero() && !time.Now().Before(a.due):
		// The backend keeps to the deadline too, and may end the call before
		// the client is heard to have done so. That is not the backend's
		// failure, and to cut the client off first would tell it of one.
		pause(a.ctx, time.Second)
		return context.Canceled
	case errors.As(err, &never):
		return &forward.Failure{Kind: lb.Refused, Why: whyNotConnected(never.error, t.ConnectTimeout)}
	}
	return fmt.Errorf("the connection broke before an answer: %w", err)
}

// callEnds is when a gRPC call is out of time by its client's own word (the
// field grpc-timeout: digits and a unit); zero when it does not say.
func callEnds(h http.Header, now time.Time) time.Time {
	text := h.Get("Grpc-Timeout")
	units := map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond, 'n': 1}
	if len(text) < 2 || len(text) > 9 { // eight digits at most
		return time.Time{}
	}
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 32)
	unit := units[text[len(text)-1]]
	if err != nil || unit == 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(min(n, uint64(24*time.Hour/unit))) * unit)
}
