package forward

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"minilb/core/lb"
)

// answer sends the last attempt's answer to the client.
func (x *exchange) answer(a *attempt) {
	defer x.end(a)
	if a.outcome.Kind != lb.Answered {
		x.answerFault(a)
		return
	}
	h := x.w.Header()
	responseHeader(h, a.resp.Header)
	x.mark(a.lease)
	for name := range a.resp.Trailer {
		h.Add("Trailer", name)
	}
	x.w.WriteHeader(a.resp.StatusCode)
	x.copyBody(a)
	x.copyTrailer(a)
}

// answerFault says which backend gave no answer, and why.
func (x *exchange) answerFault(a *attempt) {
	x.release(a, a.outcome)
	status := http.StatusBadGateway
	switch a.outcome.Kind {
	case lb.TimedOut:
		status = http.StatusGatewayTimeout
	case lb.Cancelled:
		if x.r.Context().Err() != nil {
			panic(http.ErrAbortHandler) // nobody is there to read an answer
		}
		status, a.why = http.StatusBadRequest, "the request's body ended early"
	}
	x.mark(a.lease)
	say(x.w, status, fmt.Sprintf("backend %s: %s", a.lease.Name(), a.why))
}

// mark sets the fields that say what minilb did, and the cookie that keeps the
// client on the backend that answered.
func (x *exchange) mark(lease lb.Lease) {
	h := x.w.Header()
	h.Set(backendField, lease.Name())
	h.Set(attemptsField, x.trail)
	if x.note != "" {
		h.Set(noteField, x.note)
	}
	if x.StickyCookie != "" && !lease.Sticky {
		http.SetCookie(x.w, &http.Cookie{
			Name: x.StickyCookie, Value: lease.Name(), Path: "/",
			HttpOnly: true, Secure: x.SecureCookie, SameSite: http.SameSiteLaxMode,
		})
	}
}

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copyBody passes the body on as it comes. The lease goes back when the backend
// has answered, before the client can know that it has: a client's next
// request finds this one counted. Every piece but the last is flushed at once;
// the last goes out with the end of the answer.
func (x *exchange) copyBody(a *attempt) {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	flush := http.NewResponseController(x.w).Flush
	left := a.resp.ContentLength
	if left < 0 && hasBody(x.r.Method, a.resp.StatusCode) {
		_ = flush() // the first piece may be long in coming
	}
	for {
		n, err := a.resp.Body.Read(buffer[:])
		left -= int64(n)
		last := err == io.EOF || left == 0
		if last {
			x.release(a, a.outcome)
		}
		if n > 0 {
			if _, gone := x.w.Write(buffer[:n]); gone != nil {
				x.abort(a, lb.Cancelled)
			}
		}
		switch {
		case err == io.EOF:
			return
		case err != nil:
			kind, _ := x.fault(a.ctx, err)
			x.abort(a, kind)
		case !last:
			_ = flush()
		}
	}
}

// hasBody says whether an answer may have a body (RFC 9110 section 6.4.1).
func hasBody(method string, status int) bool {
	return method != http.MethodHead && status != http.StatusNoContent && status != http.StatusNotModified
}

// abort ends an answer in the middle. The client must see that it is not
// whole, so its connection is cut.
func (x *exchange) abort(a *attempt, kind lb.Kind) {
	x.release(a, lb.Outcome{Kind: kind})
	panic(http.ErrAbortHandler)
}

// copyTrailer passes the trailers on, also those that were not announced.
func (x *exchange) copyTrailer(a *attempt) {
	removeHopByHop(a.resp.Trailer)
	h := x.w.Header()
	for name, values := range a.resp.Trailer {
		if !announced(h, name) {
			name = http.TrailerPrefix + name
		}
		h[name] = values
	}
}

func announced(h http.Header, name string) bool { return slices.Contains(h["Trailer"], name) }
