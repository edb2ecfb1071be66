package forward

import (
	"context"
	"net/http"
	"time"

	"minilb/core/lb"
)

// A Memory is what the requests of one connection use one after the other, so
// that a request of the ordinary kind takes none of its own. The zero Memory is
// ready for use.
type Memory struct {
	x        exchange
	upstream any // the Upstream's

	inform    func(status int, header http.Header) // x's, bound once
	interrupt func()

	told  told
	first struct {
		name    string
		outcome lb.Outcome
		text    string
	}
}

// told is the last element of Forwarded and what it says: the requests of a
// connection say the same, as a rule.
type told struct {
	ip, host string
	secure   bool
	element  string
}

// A Limiter is a context that can end for a while: after d with
// context.DeadlineExceeded, until Unlimit. It spares a context with a timer for
// each attempt.
type Limiter interface {
	context.Context
	Limit(d time.Duration)
	Unlimit()
}

// begin is the exchange of the next request.
func (m *Memory) begin(h *Handler, ctx context.Context, w http.ResponseWriter, r *Request) *exchange {
	x := &m.x
	if m.inform == nil {
		m.inform = func(status int, header http.Header) { x.in.inform(status, header) }
		m.interrupt = x.interrupt
	}
	*x = exchange{Handler: h, ctx: ctx, w: w, r: *r, m: m}
	return x
}

// trail is one attempt in words. It is mostly the same as the last request's.
func (m *Memory) trail(name string, o lb.Outcome) string {
	o.Latency = 0
	if f := &m.first; f.text == "" || f.name != name || f.outcome != o {
		f.name, f.outcome, f.text = name, o, name+":"+o.String()
	}
	return m.first.text
}

// forwarded is the element of Forwarded that tells of a request's client.
func (m *Memory) forwarded(r *Request, ip string) string {
	if t := &m.told; t.element == "" || t.ip != ip || t.host != r.Host || t.secure != r.Secure {
		*t = told{ip, r.Host, r.Secure, forwarded(r, ip)}
	}
	return m.told.element
}
