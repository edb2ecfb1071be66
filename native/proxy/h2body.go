package proxy

import (
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"sync"

	"minilb/native/forward"
)

// An h2Body is a request's body as net/http reads it. net/http takes Close for
// the end of a Read under way and waits for that: an answer that ends, or a
// connection that breaks, while the client is still sending would otherwise be
// stuck until it sends more.
type h2Body struct {
	io.Reader

	mu        sync.Mutex
	interrupt func() // nil: there is nothing to interrupt, or no longer
}

// newH2Body is the body, with its trailers at the end. net/http sends those
// whose names it was told before, and of an HTTP/2 client's it takes in only
// those: a trailer that such a client has not announced does not pass.
func newH2Body(r *http.Request, o *forward.Outgoing) *h2Body {
	body := &h2Body{Reader: o.Body, interrupt: o.Interrupt}
	if o.Trailer == nil || len(o.Trailer()) == 0 {
		return body
	}
	r.Trailer = http.Header{}
	for name := range o.Trailer() {
		r.Trailer[name] = nil
	}
	body.Reader = &trailing{o.Body, func() {
		for name, values := range o.Trailer() {
			if _, announced := r.Trailer[name]; announced {
				r.Trailer[name] = values
			}
		}
	}}
	return body
}

// Close ends the reading, unless the attempt is over: net/http may come late,
// when another attempt reads the same client.
func (b *h2Body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.interrupt != nil {
		b.interrupt()
	}
	return nil
}

// over says that the attempt has ended.
func (b *h2Body) over() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.interrupt = nil
}

// A trailing reader calls a function at its end.
type trailing struct {
	io.Reader
	end func()
}

func (t *trailing) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if err == io.EOF {
		t.end()
	}
	return n, err
}

// An h2Hints passes interim answers on, such as 103 Early Hints. net/http
// tells of them where it reads for all requests of a connection, and a client
// that takes nothing must not hold those up: a goroutine of the request's own
// does the telling, and only a request that has interim answers has one.
type h2Hints struct {
	tell func(status int, header http.Header)

	mu      sync.Mutex
	ended   bool
	count   int
	waiting []h2Hint
	told    chan struct{} // closed when nothing is waiting; nil: nobody is telling
}

type h2Hint struct {
	status int
	header http.Header
}

// maxHints bounds the interim answers to one request; each of them may be as
// long as a head.
const maxHints = 100

var errManyHints = errors.New("too many 1xx answers")

// add takes in an answer. 100 is net/http's own business.
func (h *h2Hints) add(status int, header textproto.MIMEHeader) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count++; h.count > maxHints {
		return errManyHints
	}
	if h.ended || status <= http.StatusSwitchingProtocols {
		return nil
	}
	h.waiting = append(h.waiting, h2Hint{status, http.Header(header)})
	if h.told == nil {
		h.told = make(chan struct{})
		go h.run()
	}
	return nil
}

func (h *h2Hints) run() {
	for {
		h.mu.Lock()
		if len(h.waiting) == 0 {
			close(h.told)
			h.told = nil
			h.mu.Unlock()
			return
		}
		next := h.waiting[0]
		h.waiting = h.waiting[1:]
		h.mu.Unlock()
		h.tell(next.status, next.header)
	}
}

// over returns when all that came was told; nothing is told after it.
func (h *h2Hints) over() {
	if h == nil {
		return
	}
	h.mu.Lock()
	h.ended = true
	told := h.told
	h.mu.Unlock()
	if told != nil {
		<-told
	}
}
