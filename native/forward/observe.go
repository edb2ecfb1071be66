package forward

import (
	"net/http"
	"strings"
	"time"

	"minilb/core/lb"
)

// An Observer is told what became of attempts and requests, for metrics and
// logs. It is called in the request's own goroutine: quickly, and by many at
// once.
type Observer interface {
	// Attempted is told of an attempt when its lease goes back.
	Attempted(l lb.Lease, o lb.Outcome)
	// Waited is told how long a request stood in front of a full pool.
	Waited(d time.Duration)
	// Finished is told of each request at its end.
	Finished(r *Finished)
}

// A Finished is one request that is over. It must not be kept.
type Finished struct {
	Lease    lb.Lease // of the last attempt; not Valid when there was none
	Status   int      // what the client was answered; 0 when it had left before
	Attempts int
	Note     string // why there was no retry, as in x-minilb-note
	Took     time.Duration
}

// attempted passes an attempt's outcome on.
func (x *exchange) attempted(l lb.Lease, o lb.Outcome) {
	if x.Observe != nil {
		x.Observe.Attempted(l, o)
	}
}

// waited passes a wait's length on.
func (x *exchange) waited(since lb.Time) {
	if x.Observe != nil {
		x.Observe.Waited(x.Now().Sub(since))
	}
}

// finished passes a request's end on. It is deferred, so that a request that
// was cut off is told of as well.
func (x *exchange) finished(began lb.Time) {
	if x.Observe == nil {
		return
	}
	f := &x.done
	*f = Finished{Status: x.status(), Note: x.note, Took: x.Now().Sub(began)}
	if x.trail != "" {
		f.Lease, f.Attempts = x.now.lease, 1+strings.Count(x.trail, ",")
	}
	x.Observe.Finished(f)
}

// status is what the client was answered.
func (x *exchange) status() int {
	a := &x.now
	switch {
	case x.trail == "" && x.ctx.Err() != nil:
		return 0
	case x.trail == "":
		return x.denied
	case a.outcome.Kind == lb.Cancelled:
		return a.fault
	case a.status != 0:
		return a.status
	case a.outcome.Kind == lb.TimedOut:
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}
