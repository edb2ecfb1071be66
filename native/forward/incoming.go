package forward

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// An incoming is the client's side of a request: its body, read within limits,
// and the interim answers.
type incoming struct {
	w    http.ResponseWriter
	src  io.Reader
	idle time.Duration // longest wait for a piece of the body; 0: no limit

	heads   sync.Mutex // one head at a time
	expects bool       // the client waits for a 100 before it sends
	final   bool       // the final head is out, or on its way

	limits sync.Mutex
	due    time.Time // when a read of the body fails, unless it is cut off before
	cut    bool      // nothing more is read
	broke  *clientFault
}

// A clientFault is a request that the client did not send as it had said.
type clientFault struct {
	status int
	why    string
	err    error
}

func (c *clientFault) Error() string { return c.why }
func (c *clientFault) Unwrap() error { return c.err }

// Read reads the client's body.
func (in *incoming) Read(p []byte) (int, error) {
	in.sayContinue()
	if !in.bound() {
		return 0, errClosed
	}
	n, err := in.src.Read(p)
	switch {
	case err == io.EOF:
		in.unbound()
	case err != nil:
		err = in.fault(err)
	}
	return n, err
}

// fault remembers why the body broke off, for that can come back in other
// words: net/http takes the client for gone from then on. A read that was cut
// off is no fault of the client.
func (in *incoming) fault(err error) error {
	in.limits.Lock()
	defer in.limits.Unlock()
	fault := &clientFault{http.StatusBadRequest, "the request's body is malformed or ended early", err}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if in.cut && (in.due.IsZero() || time.Now().Before(in.due)) {
			return errClosed
		}
		fault.status = http.StatusRequestTimeout
		fault.why = fmt.Sprintf("the client sent nothing of its body for %s", in.idle)
	}
	in.broke = fault
	return fault
}

// bound limits the next read, and says whether there may be one. A deadline
// that fires up to an eighth late is good enough, and is set less often.
func (in *incoming) bound() bool {
	in.limits.Lock()
	defer in.limits.Unlock()
	if in.cut || in.idle <= 0 {
		return !in.cut
	}
	now := time.Now()
	if in.due.Sub(now) < in.idle {
		in.due = now.Add(in.idle + in.idle/8)
		_ = http.NewResponseController(in.w).SetReadDeadline(in.due) // a server without them has its own limits
	}
	return true
}

// unbound takes the limit away at the body's end. The server watches the
// connection from then on, and must not take a silent client for a lost one.
func (in *incoming) unbound() {
	in.limits.Lock()
	defer in.limits.Unlock()
	if !in.due.IsZero() {
		in.due = time.Time{}
		_ = http.NewResponseController(in.w).SetReadDeadline(time.Time{})
	}
}

// interrupt ends a read under way. There is no going on after that: the
// client's connection is fit for nothing but the answer.
func (in *incoming) interrupt() {
	in.limits.Lock()
	defer in.limits.Unlock()
	in.cut = true
	_ = http.NewResponseController(in.w).SetReadDeadline(time.Unix(1, 0))
}

// lingerFor is how long a client who has its answer may go on sending its body.
// To close at once would reset the connection, and the answer on it with it.
const lingerFor = 500 * time.Millisecond

// linger lets the server take in a little of what is still on its way.
func (in *incoming) linger() {
	in.limits.Lock()
	defer in.limits.Unlock()
	_ = http.NewResponseController(in.w).SetReadDeadline(time.Now().Add(lingerFor))
}

// state says why the body broke off, if it did, and whether it was cut off.
func (in *incoming) state() (broke *clientFault, cut bool) {
	in.limits.Lock()
	defer in.limits.Unlock()
	return in.broke, in.cut
}

// sayContinue asks for a body that the client holds back. net/http would do so
// by itself, but at any moment: between the lines of another interim answer.
func (in *incoming) sayContinue() {
	in.heads.Lock()
	defer in.heads.Unlock()
	if in.expects && !in.final {
		in.w.WriteHeader(http.StatusContinue)
	}
	in.expects = false
}

// inform passes an interim answer on. Its fields must not stay for the next.
func (in *incoming) inform(status int, header http.Header) {
	in.heads.Lock()
	defer in.heads.Unlock()
	h := in.w.Header()
	removeHopByHop(header)
	for name, values := range header {
		h[name] = values
	}
	in.w.WriteHeader(status)
	for name := range header {
		delete(h, name)
	}
}

// finish says that the final head comes now; no interim one may follow.
func (in *incoming) finish() {
	in.heads.Lock()
	in.final = true
	in.heads.Unlock()
}
