package forward

import (
	"errors"
	"net/http"
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
	StickyCookie   string        // name of the cookie that keeps a client on its backend; empty: off
	SecureCookie   bool          // the cookie goes over TLS only
	QueueTimeout   time.Duration // longest wait in front of a full pool; 0: none
	RequestTimeout time.Duration // longest time of a request with all its attempts; 0: no limit
	RetryBuffer    int64         // longest body that is kept to be sent again
}

// ServeHTTP takes a request through its life.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		// A tunnel through a load balancer has no use and many abuses.
		http.Error(w, "CONNECT is not forwarded", http.StatusMethodNotAllowed)
		return
	}
	x := h.begin(w, r)
	defer x.life.End()
	lease, err := x.acquire()
	if err != nil {
		x.refuse(err)
		return
	}
	x.answer(x.run(lease))
}

func (h *Handler) begin(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{Handler: h, w: w, r: r}
	deadline := lb.Never
	if h.RequestTimeout > 0 {
		deadline = h.Now().Add(h.RequestTimeout)
	}
	x.life = h.Plan.Begin(h.Budget, r.Method, deadline)
	x.query = h.query(r)
	if r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 {
		x.body = &replay{src: r.Body, limit: h.RetryBuffer}
		// The answer may begin before the body has ended. An error means that
		// the protocol can do that anyway.
		_ = http.NewResponseController(w).EnableFullDuplex()
	}
	return x
}

// query is what the choice of a backend may depend on.
func (h *Handler) query(r *http.Request) lb.Query {
	q := lb.Query{Rand: h.Rand()}
	if h.Key != nil {
		key, ok := h.Key(r)
		q.Hash, q.HasKey = hash(key), ok
	}
	if h.StickyCookie != "" {
		if c, err := r.Cookie(h.StickyCookie); err == nil {
			q.Sticky = c.Value
		}
	}
	return q
}

// refuse answers a request that no backend can take now.
func (x *exchange) refuse(err error) {
	if errors.Is(err, errGone) {
		return
	}
	h := x.w.Header()
	h.Set(backendField, "-") // no backend can have this name
	h.Set(attemptsField, "-")
	h.Set("Retry-After", "1")
	say(x.w, http.StatusServiceUnavailable, err.Error())
}

// say sends a one-line answer.
func say(w http.ResponseWriter, status int, line string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(line + "\n")) // the client may have left
}
