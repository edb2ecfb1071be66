package forward

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"minilb/core/lb"
	"minilb/core/retry"
)

// A Handler forwards requests to the backends of a pool.
type Handler struct {
	Pool     *lb.Pool
	Plan     *retry.Plan
	Budget   *retry.Budget
	Upstream Upstream
	Now      func() lb.Time
	Rand     func() uint64 // a random word

	Key            Key           // what the hashing policies hash; nil when nobody asks
	Fields         Fields        // what is added to requests
	StickyCookie   string        // name of the cookie that keeps a client on its backend; empty: off
	QueueTimeout   time.Duration // longest wait in front of a full pool; 0: none
	RequestTimeout time.Duration // longest time of a request with all its attempts; 0: no limit
	BodyTimeout    time.Duration // longest wait for a piece of a request's body, and of an upgraded connection one end of which has ended; 0: no limit
	RetryBuffer    int64         // longest body that is kept to be sent again

	Observe Observer // told of attempts and requests; nil: nobody
}

// ServeHTTP takes a request of net/http's server through its life.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := fromHTTP(r)
	h.Forward(r.Context(), w, &q)
}

// Forward takes a request of any server loop through its life. ctx ends when
// the client has left. Of w it may use what http.ResponseController knows:
// Flush, Hijack for upgrades, SetReadDeadline and EnableFullDuplex; a ctx that
// is a Limiter ends its attempts by itself. It panics with http.ErrAbortHandler
// when the client must see that the answer is not whole.
func (h *Handler) Forward(ctx context.Context, w http.ResponseWriter, r *Request) {
	m := r.Memory
	if m == nil {
		m = new(Memory)
	}
	h.serve(m.begin(h, ctx, w, r))
}

// serve has the request leave the budget at its very end, an upgraded one as
// well: whoever finds the budget empty finds every lease given back.
func (h *Handler) serve(x *exchange) {
	began := h.Now()
	x.begin()
	defer x.life.End()
	if h.Observe != nil {
		defer x.finished(began)
	}
	defer x.leaveBody()
	if status, why := x.r.refusal(); status != 0 {
		x.deny(status, why)
		return
	}
	if err := x.readSmall(); err != nil {
		x.refuseBody(err)
		return
	}
	lease, err := x.acquire()
	if err != nil {
		x.refuse(err)
		return
	}
	x.run(lease)
	x.answer()
}

// leaveBody sees to it that nobody reads the client any more when the server
// takes over again, and that the server does not wait long for the rest.
func (x *exchange) leaveBody() {
	if !x.body.ended() {
		if x.body.waiting() {
			x.in.interrupt()
		}
		x.in.linger()
	}
	x.body.drop()
}

func (x *exchange) begin() {
	h, r := x.Handler, &x.r
	deadline := lb.Never
	if h.RequestTimeout > 0 {
		deadline = h.Now().Add(h.RequestTimeout)
	}
	x.life = h.Plan.Begin(h.Budget, r.Method, deadline)
	x.query = h.query(r)
	if r.Body == nil {
		x.in, x.bare.w = &x.bare, x.w
		return
	}
	x.hold = hasWord(r.Header["Expect"], "100-continue")
	u := &upload{in: incoming{w: x.w, src: r.Body, idle: h.BodyTimeout, expects: x.hold && r.Major == 1}}
	u.kept = replay{src: &u.in, length: r.Length, limit: h.RetryBuffer}
	x.in, x.body = &u.in, &u.kept
}

// An upload is a request's body and all that keeps it. It is not used again
// for another request: a transport may read on for a moment when the attempt
// is over.
type upload struct {
	in   incoming
	kept replay
}

// readSmall reads a body that can be sent in one piece. A longer one streams.
func (x *exchange) readSmall() error {
	switch {
	case x.body == nil:
		return nil
	case !x.hold && 0 <= x.r.Length && x.r.Length <= smallBody:
		err := x.body.readAll()
		if err == nil {
			x.in.unbound()
		}
		return err
	}
	// The answer may begin before the body has ended. An error means that the
	// protocol can do that anyway.
	_ = http.NewResponseController(x.w).EnableFullDuplex()
	return nil
}

// query is what the choice of a backend may depend on.
func (h *Handler) query(r *Request) lb.Query {
	q := lb.Query{Rand: h.Rand()}
	if h.Key != nil {
		key, ok := h.Key(r)
		q.Hash, q.HasKey = hash(key), ok
	}
	if h.StickyCookie != "" {
		q.Sticky = r.cookie(h.StickyCookie)
	}
	return q
}

// refuse answers a request that no backend can take now.
func (x *exchange) refuse(err error) {
	if errors.Is(err, errGone) {
		return
	}
	x.w.Header().Set("Retry-After", "1")
	x.deny(http.StatusServiceUnavailable, err.Error())
}

// refuseBody answers a client that did not send the body it had announced.
func (x *exchange) refuseBody(err error) {
	status := http.StatusBadRequest
	if fault, is := errors.AsType[*clientFault](err); is {
		status = fault.status
	}
	x.deny(status, err.Error())
}

// deny answers a request that no attempt was made of.
func (x *exchange) deny(status int, why string) {
	x.denied = status
	x.head(nil)
	say(x.w, status, why)
}

// say sends a one-line answer.
func say(w http.ResponseWriter, status int, line string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(line)+1))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(line + "\n")) // the client may have left
}
