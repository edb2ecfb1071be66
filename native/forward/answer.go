package forward

import (
	"io"
	"net/http"
	"slices"
	"sync"

	"minilb/core/lb"
)

// answer sends the last attempt's answer to the client.
func (x *exchange) answer() {
	a := &x.now
	defer x.end()
	switch {
	case a.outcome.Kind != lb.Answered:
		x.answerFault()
	case a.status == http.StatusSwitchingProtocols:
		x.tunnel()
	default:
		x.head(a.header)
		x.w.WriteHeader(a.status)
		x.copyBody()
		x.copyTrailer()
	}
}

// head prepares the final head: the backend's fields, if it sent any, and those
// that say what minilb did.
func (x *exchange) head(from http.Header) {
	x.in.finish()
	h := x.w.Header()
	if from != nil {
		responseHeader(h, from)
		if x.Fields.Via {
			x.marks[3] = after(h, "Via", via11)
			h["Via"] = x.marks[3:4:4]
		}
	}
	x.mark(h)
	if x.r.Major == 1 && !x.body.ended() {
		// What is left of the body, or is still to come, must not be taken for
		// the next request.
		h["Connection"] = []string{"close"}
	}
}

// answerFault says which backend gave no answer, and why. What the client did
// wrong it is told without a backend's name: none is to blame.
func (x *exchange) answerFault() {
	a := &x.now
	x.release(a.outcome)
	status, why := http.StatusBadGateway, "backend "+a.lease.Name()+": "+a.why
	switch a.outcome.Kind {
	case lb.TimedOut:
		status = http.StatusGatewayTimeout
	case lb.Cancelled:
		if a.fault == 0 {
			panic(http.ErrAbortHandler) // nobody is there to read an answer
		}
		status, why = a.fault, a.why
	}
	x.head(nil)
	say(x.w, status, why)
}

// mark sets the fields that say what minilb did, and the cookie that keeps the
// client on the backend that answered.
func (x *exchange) mark(h http.Header) {
	lease := x.now.lease
	x.marks[0], x.marks[1], x.marks[2] = "-", "-", x.note // no backend can have this name
	if x.trail != "" {
		x.marks[0], x.marks[1] = lease.Name(), x.trail
	}
	h[backendField], h[attemptsField] = x.marks[0:1:1], x.marks[1:2:2]
	if x.note != "" {
		h[noteField] = x.marks[2:3:3]
	}
	if x.StickyCookie != "" && x.trail != "" && !lease.Sticky {
		http.SetCookie(x.w, &http.Cookie{
			Name: x.StickyCookie, Value: lease.Name(), Path: "/",
			HttpOnly: true, Secure: x.r.Secure, SameSite: http.SameSiteLaxMode,
		})
	}
}

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copyBody passes the body on as it comes. The lease goes back when the backend
// has answered, before the client can know that it has: a client's next
// request finds this one counted. Every piece but the last is flushed at once;
// the last goes out with the end of the answer.
func (x *exchange) copyBody() {
	a := &x.now
	if a.length == 0 || !hasBody(x.r.Method, a.status) {
		x.release(a.outcome)
		return
	}
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	if a.length < 0 {
		x.flush() // the first piece may be long in coming
	}
	for left := a.length; ; {
		n, err := a.resp.Read(buffer[:])
		left -= int64(n)
		last := err == io.EOF || left == 0
		if last {
			x.release(a.outcome)
		}
		if n > 0 {
			if _, gone := x.w.Write(buffer[:n]); gone != nil {
				x.abort(lb.Cancelled)
			}
		}
		switch {
		case last:
			return
		case err != nil:
			x.failed(err)
			x.abort(a.outcome.Kind)
		}
		x.flush()
	}
}

func (x *exchange) flush() { _ = http.NewResponseController(x.w).Flush() }

// hasBody says whether an answer may have a body (RFC 9110 section 6.4.1).
func hasBody(method string, status int) bool {
	return method != http.MethodHead && status != http.StatusNoContent && status != http.StatusNotModified
}

// abort ends an answer in the middle. The client must see that it is not
// whole, so its connection is cut.
func (x *exchange) abort(kind lb.Kind) {
	x.release(lb.Outcome{Kind: kind})
	panic(http.ErrAbortHandler)
}

// copyTrailer passes the trailers on, also those that were not announced.
func (x *exchange) copyTrailer() {
	trailer := x.now.resp.Trailer()
	if len(trailer) == 0 {
		return
	}
	h := x.w.Header()
	for name, values := range trailing(trailer) {
		if !announced(h, name) {
			name = http.TrailerPrefix + name
		}
		h[name] = values
	}
}

func announced(h http.Header, name string) bool { return slices.Contains(h["Trailer"], name) }
