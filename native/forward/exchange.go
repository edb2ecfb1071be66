package forward

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/retry"
	"minilb/core/stat"
)

// An exchange is one request on its way: it carries out what its Life says.
type exchange struct {
	*Handler
	w     http.ResponseWriter
	r     *http.Request
	life  retry.Life
	query lb.Query
	body  *replay // nil without one
	trail string  // b2:500,b3:200
	note  string  // why there was no retry
}

// An attempt is one try at one backend, from its lease to its release.
type attempt struct {
	lease    lb.Lease
	ctx      context.Context
	cancel   context.CancelCauseFunc
	timer    *time.Timer // nil without a limit
	resp     *http.Response
	outcome  lb.Outcome
	why      string // in words, when there is no answer
	released bool
}

var (
	errGone   = errors.New("the client left")
	errGiveUp = errors.New("out of time")
)

// run makes attempts until one of them is the answer.
func (x *exchange) run(lease lb.Lease) *attempt {
	for {
		a := x.send(lease)
		next, again := x.retry(a)
		if !again {
			return a
		}
		x.end(a)
		lease = next
	}
}

// send makes one attempt and waits for the head of its answer.
func (x *exchange) send(lease lb.Lease) *attempt {
	now := x.Now()
	giveUp := x.life.Sent(now, lease)
	ctx, cancel := context.WithCancelCause(x.r.Context())
	a := &attempt{lease: lease, ctx: ctx, cancel: cancel}
	if giveUp != lb.Never {
		a.timer = time.AfterFunc(giveUp.Sub(now), func() { cancel(errGiveUp) })
	}
	resp, err := x.Upstream.RoundTrip(lease.Backend(), x.outgoing(ctx))
	a.resp = resp
	switch {
	case err != nil:
		a.outcome.Kind, a.why = x.fault(ctx, err)
	case resp.StatusCode == http.StatusSwitchingProtocols:
		a.outcome.Kind, a.why = lb.Broken, "it switched protocols unasked"
	default:
		a.outcome = lb.Outcome{Kind: lb.Answered, Status: resp.StatusCode}
	}
	x.record(a)
	return a
}

// record adds an attempt to the trail.
func (x *exchange) record(a *attempt) {
	if x.trail != "" {
		x.trail += ","
	}
	x.trail += a.lease.Name() + ":" + a.outcome.String()
}

// fault says what an error of an attempt means. Who ended it comes first: a
// client that leaves and a time that is over both show as broken connections.
func (x *exchange) fault(ctx context.Context, err error) (lb.Kind, string) {
	var failure *Failure
	switch {
	case x.r.Context().Err() != nil || x.body.broke():
		return lb.Cancelled, errGone.Error()
	case context.Cause(ctx) == errGiveUp:
		return lb.TimedOut, "no whole answer in the time there was"
	case errors.As(err, &failure):
		return failure.Kind, failure.Why
	}
	return lb.Broken, err.Error()
}

// outgoing is the request as a backend gets it, but for its address.
func (x *exchange) outgoing(ctx context.Context) *http.Request {
	out := (&http.Request{
		Method: x.r.Method, URL: target(x.r), Host: x.r.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        requestHeader(x.r.Header, ClientIP(x.r)),
		ContentLength: x.r.ContentLength, Trailer: x.r.Trailer,
		Body: http.NoBody,
	}).WithContext(ctx)
	if x.body != nil {
		out.Body = x.body.open()
	}
	return out
}

// target is the URL with the path and query exactly as the client wrote them.
func target(r *http.Request) *url.URL {
	u := &url.URL{Scheme: "http", Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery}
	raw, _, _ := strings.Cut(r.RequestURI, "?")
	if u.EscapedPath() != raw && strings.HasPrefix(raw, "/") && !strings.HasPrefix(raw, "//") {
		u.Opaque = raw // net/url would write it in its own way
	}
	return u
}

// retry carries out what the request's Life says after an attempt, and returns
// the lease of the next one.
func (x *exchange) retry(a *attempt) (next lb.Lease, again bool) {
	if !a.outcome.Failed() {
		return lb.Lease{}, false
	}
	action := x.life.After(x.Now(), a.outcome, x.word())
	if action.Do != retry.Finish {
		action = x.prepare(a, action)
	}
	if action.Do == retry.Finish {
		x.note = action.Note
		return lb.Lease{}, false
	}
	x.query.Tried, x.query.Rand = x.life.Tried, x.word()
	next, err := x.Pool.Acquire(x.Now(), x.query)
	if err != nil {
		x.note = x.life.NoBackend(err).Note
		return lb.Lease{}, false
	}
	return next, true
}

// prepare gets a retry to the point where only a backend is missing. The
// attempt is released first, so that the wait and the next choice know what it
// showed; its answer stays open in case there is no other.
func (x *exchange) prepare(a *attempt, action retry.Action) retry.Action {
	if !x.body.again() {
		return x.life.Forbid("body of " + x.bodySize() + " is over --retry-buffer")
	}
	x.release(a, a.outcome)
	if action.Do == retry.Queue {
		action = x.queueForBudget(action.At)
	}
	if action.Do == retry.Wait && !x.sleep(action.At) {
		return x.life.Forbid(errGone.Error())
	}
	return action
}

func (x *exchange) bodySize() string {
	size, unit := float64(max(x.r.ContentLength, x.body.size())), "bytes"
	for _, larger := range [...]string{"kB", "MB", "GB"} {
		if size >= 1000 {
			size, unit = size/1000, larger
		}
	}
	return fmt.Sprintf("%.3g %s", size, unit)
}

// release gives an attempt's lease back, once, with what it showed.
func (x *exchange) release(a *attempt, o lb.Outcome) {
	if a.released {
		return
	}
	a.released = true
	now := x.Now()
	o.Latency = now.Sub(a.lease.Start)
	x.Pool.Release(now, a.lease, o)
}

// end lets go of everything an attempt holds. Closing a body that was not read
// to its end gives its connection up too.
func (x *exchange) end(a *attempt) {
	x.release(a, a.outcome)
	if a.timer != nil {
		a.timer.Stop()
	}
	a.cancel(nil)
	if a.resp != nil {
		_ = a.resp.Body.Close()
	}
}

// word is a further random word of this request.
func (x *exchange) word() uint64 {
	x.query.Rand = stat.Next(x.query.Rand)
	return x.query.Rand
}

func hash(key string) uint64 { return pick.Hash(key) }
