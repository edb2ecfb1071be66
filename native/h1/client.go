// Package h1 is an HTTP/1.1 client for proxies. An exchange runs in the
// caller's goroutine, with head and small body in one write; idle connections
// are kept per backend, last in first out, so that few stay warm rather than
// many lukewarm; and a Failure says whether a byte was sent or received, which
// retries and ejection need to know and net/http does not tell.
//
// Answers are read strictly wherever two readers could disagree about where
// one ends (RFC 9112 section 11): what net/http would repair is Malformed here,
// and its connection is never used again.
package h1

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// A Client talks to backends. Its fields are not changed once it is in use.
type Client struct {
	Dial     func(ctx context.Context, address string) (net.Conn, error) // nil: TCP
	TLS      *tls.Config                                                 // nil: clear text; without ServerName the address's host is verified
	MaxIdle  int                                                         // idle connections kept per backend
	IdleFor  time.Duration                                               // longest time a connection is kept idle; 0: no limit
	Timeouts Timeouts

	mu     sync.RWMutex
	idle   map[string]*stack
	closed bool
}

// Timeouts bound every phase of an exchange; 0 is no limit. A timeout fires
// up to an eighth late and never early: deadlines are renewed only when they
// have come that much closer, so that most exchanges set none.
type Timeouts struct {
	Connect time.Duration
	Head    time.Duration // from the request's last byte to the answer's head
	Body    time.Duration // between two reads of the answer's body, or two writes of the request's
}

// A Request is what goes to a backend: everything already decided, hop-by-hop
// fields removed.
type Request struct {
	Method string
	Target string // as in the request line
	Host   string
	// Header may hold Host, Content-Length and Transfer-Encoding; they are
	// left out, for the fields above and below say the same and two answers to
	// one question are how requests are smuggled.
	Header  http.Header
	Extra   []string           // further fields, name and value in turn, after Header's
	Body    io.Reader          // nil: none
	Length  int64              // of Body, which is not read further; -1: unknown, sent in chunks
	Trailer func() http.Header // asked for after the end of a body in chunks; nil: none

	// Interrupt wakes a Read of Body that is under way when the exchange is
	// over before the body is. nil: Body never blocks for long.
	Interrupt func()
	// Fresh leaves idle connections alone: the backend has just closed one as
	// it was used, and those that rest are older still.
	Fresh bool
	// Hold keeps the body back until the backend answers 100 (Expect:
	// 100-continue).
	Hold bool
	// Informational is told of every 1xx answer but 100 and 101.
	Informational func(status int, header http.Header)
}

// Do sends a request to a backend and reads the head of its answer. The
// response must be closed. When ctx ends, so does the exchange. A failure at
// the stage Dialling has not touched the request's body.
func (c *Client) Do(ctx context.Context, address string, r *Request) (*Response, *Failure) {
	e := new(Response)
	if f := c.DoInto(e, ctx, address, r); f != nil {
		return nil, f
	}
	return e, nil
}

// DoInto is Do with the memory of a Response that was closed: its header and
// the room for the next one's are the same.
func (c *Client) DoInto(e *Response, ctx context.Context, address string, r *Request) *Failure {
	head, err := newHead(r)
	if err != nil {
		return &Failure{Stage: Sending, Err: err}
	}
	for {
		if err := ctx.Err(); err != nil {
			return &Failure{Stage: Dialling, Err: err}
		}
		cn, err := c.conn(ctx, address, r)
		if err != nil {
			return &Failure{Stage: Dialling, Err: err}
		}
		if f, dead := e.exchange(ctx, cn, r, head); !dead {
			return f
		}
	}
}

// conn is an idle connection, or a new one.
func (c *Client) conn(ctx context.Context, address string, r *Request) (*conn, error) {
	home := c.stack(address)
	if !r.Fresh {
		if cn := home.take(c.IdleFor, r.Body == nil); cn != nil {
			return cn, nil
		}
	}
	cn, err := c.connect(ctx, address)
	if err == nil {
		cn.home = home
	}
	return cn, err
}

func (c *Client) connect(ctx context.Context, address string) (*conn, error) {
	if c.Timeouts.Connect > 0 {
		bounded, cancel := context.WithTimeout(ctx, c.Timeouts.Connect)
		defer cancel()
		ctx = bounded
	}
	nc, err := c.dial(ctx, address)
	if err != nil {
		return nil, err
	}
	if c.TLS != nil {
		secured := tls.Client(nc, c.config(address))
		if err := secured.HandshakeContext(ctx); err != nil {
			nc.Close()
			return nil, err
		}
		nc = secured
	}
	return newConn(c, nc), nil
}

func (c *Client) dial(ctx context.Context, address string) (net.Conn, error) {
	if c.Dial != nil {
		return c.Dial(ctx, address)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", address)
}

// config is the TLS configuration for one backend.
func (c *Client) config(address string) *tls.Config {
	if c.TLS.ServerName != "" {
		return c.TLS
	}
	named := c.TLS.Clone()
	if host, _, err := net.SplitHostPort(address); err == nil {
		named.ServerName = host
	} else {
		named.ServerName = address
	}
	return named
}
