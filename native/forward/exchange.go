package forward

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/retry"
	"minilb/core/stat"
)

// An exchange is one request on its way: it carries out what its Life says.
type exchange struct {
	*Handler
	ctx   context.Context
	w     http.ResponseWriter
	r     Request
	m     *Memory
	in    *incoming
	life  retry.Life
	query lb.Query
	body  *replay // nil without one
	hold  bool    // Expect: 100-continue
	out   Outgoing
	extra [12]string // room for what is added to most requests
	now   attempt
	trail string // b2:500,b3:200
	note  string // why there was no retry

	denied int // the status, when no attempt was made
	marks  [4]string
	done   Finished
	bare   incoming // in, of a request without a body
}

// An attempt is one try at one backend, from its lease to its release.
type attempt struct {
	lease    lb.Lease
	ctx      context.Context
	cancel   context.CancelFunc // nil without a limit, or when the context has one of its own
	limited  Limiter            // the context, when it has
	reader   *replayReader      // nil without a body
	resp     Response
	status   int
	header   http.Header
	length   int64
	outcome  lb.Outcome
	stale    bool
	why      string // in words, when there is no answer
	fault    int    // the status for a client that is at fault
	released bool
}

var (
	errGone   = errors.New("the client left")
	errGiveUp = errors.New("out of time")
)

// run makes attempts until one of them is the answer.
func (x *exchange) run(lease lb.Lease) {
	for {
		x.send(lease)
		next, again := x.retry()
		if !again {
			return
		}
		x.end()
		lease = next
	}
}

// send makes one attempt and waits for the head of its answer.
func (x *exchange) send(lease lb.Lease) {
	x.now = attempt{lease: lease, ctx: x.ctx}
	a := &x.now
	now := x.Now()
	if giveUp := x.life.Sent(now, lease); giveUp != lb.Never {
		x.limit(giveUp.Sub(now))
	}
	backend := lease.Backend()
	x.prepareOut(backend)
	err := x.roundTrip(backend)
	if x.sendAgain(err) {
		x.out.Fresh = true
		err = x.roundTrip(backend)
	}
	if err != nil {
		x.failed(err)
	} else if a.status, a.header, a.length = a.resp.Head(); !x.switched() {
		a.outcome.Kind, a.why = lb.Broken, "it switched to a protocol that was not asked for"
	} else {
		a.outcome = lb.Outcome{Kind: lb.Answered, Status: a.status}
	}
	x.record(a)
}

// limit bounds an attempt.
func (x *exchange) limit(d time.Duration) {
	a := &x.now
	if own, is := x.ctx.(Limiter); is {
		own.Limit(d)
		a.limited = own
		return
	}
	a.ctx, a.cancel = context.WithDeadlineCause(x.ctx, time.Now().Add(d), errGiveUp)
}

// gaveUp says whether an attempt's time is over.
func (a *attempt) gaveUp() bool {
	if a.limited != nil {
		return a.ctx.Err() == context.DeadlineExceeded
	}
	return a.cancel != nil && context.Cause(a.ctx) == errGiveUp
}

// prepareOut is the request as a backend gets it.
func (x *exchange) prepareOut(b lb.Backend) {
	o := &x.out
	if o.Method == "" {
		*o = Outgoing{
			Method: x.r.Method, Target: x.r.Target, Host: x.r.Host, Header: x.r.Header,
			Length: x.r.Length, Trailer: x.r.trailers(), Hold: x.hold, Informational: x.informational(),
			Memory: &x.m.upstream,
		}
		o.Extra = x.Fields.next(&x.r, x.m, x.extra[:0])
	}
	o.Fresh = false
	if x.Fields.BackendHost {
		o.Host = b.Address
	}
}

// informational is where interim answers go; HTTP/1.0 knows none.
func (x *exchange) informational() func(int, http.Header) {
	if x.r.Major == 1 && x.r.Minor == 0 {
		return nil
	}
	return x.m.inform
}

func (x *exchange) roundTrip(b lb.Backend) error {
	a := &x.now
	if x.body != nil {
		a.reader = x.body.open()
		x.out.Body, x.out.Interrupt = a.reader, x.m.interrupt
	}
	var err error
	a.resp, err = x.Upstream.RoundTrip(a.ctx, b, &x.out)
	return err
}

// interrupt ends an attempt's reading of the body, even one under way.
func (x *exchange) interrupt() {
	_ = x.now.reader.Close()
	if x.body.waiting() {
		x.in.interrupt()
	}
}

// sendAgain says whether a request met a connection that the backend had just
// closed, and may go to it once more on a new one.
func (x *exchange) sendAgain(err error) bool {
	if err == nil {
		return false
	}
	failure, is := errors.AsType[*Failure](err)
	if !is || !failure.Stale {
		return false
	}
	harmless := failure.Kind == lb.Refused || retry.Idempotent(x.r.Method)
	return harmless && x.body.again(x.now.reader) == ""
}

// failed says what an error of an attempt means. Who ended it comes first: a
// client that leaves and a time that is over both show as broken connections.
// A body that was cut off looks to the server as if the client had left.
func (x *exchange) failed(err error) {
	a := &x.now
	client, cut := x.in.state()
	failure, is := errors.AsType[*Failure](err)
	switch {
	case client != nil:
		a.outcome.Kind, a.why, a.fault = lb.Cancelled, client.why, client.status
	case a.gaveUp():
		a.outcome.Kind, a.why = lb.TimedOut, "no whole answer in the time there was"
	case errors.Is(err, context.Canceled) || x.ctx.Err() != nil && !cut:
		a.outcome.Kind, a.why = lb.Cancelled, errGone.Error()
	case is:
		a.outcome.Kind, a.why, a.stale = failure.Kind, failure.Why, failure.Stale
		if a.outcome.Kind == lb.Cancelled {
			a.fault = http.StatusBadRequest
		}
	default:
		a.outcome.Kind, a.why = lb.Broken, err.Error()
	}
}

// switched says whether a change of protocol, if the answer is one, is that
// which the client wanted.
func (x *exchange) switched() bool {
	if x.now.status != http.StatusSwitchingProtocols {
		return true
	}
	return sameProtocol(x.out.Extra, x.now.header["Upgrade"])
}

// record adds an attempt to the trail.
func (x *exchange) record(a *attempt) {
	if x.trail == "" {
		x.trail = x.m.trail(a.lease.Name(), a.outcome)
		return
	}
	x.trail += "," + a.lease.Name() + ":" + a.outcome.String()
}

// retry carries out what the request's Life says after an attempt, and returns
// the lease of the next one.
func (x *exchange) retry() (next lb.Lease, again bool) {
	a := &x.now
	if !a.outcome.Failed() {
		return lb.Lease{}, false
	}
	action := x.life.After(x.Now(), a.outcome, x.word())
	if action.Do != retry.Finish {
		action = x.prepare(action)
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
func (x *exchange) prepare(action retry.Action) retry.Action {
	if why := x.body.again(x.now.reader); why != "" {
		return x.life.Forbid(why)
	}
	x.release(x.now.outcome)
	if action.Do == retry.Queue {
		action = x.queueForBudget(action.At)
	}
	if action.Do == retry.Wait && !x.sleep(action.At) {
		return x.life.Forbid(errGone.Error())
	}
	return action
}

func sizeText(bytes int64) string {
	size, unit := float64(bytes), "bytes"
	for _, larger := range [...]string{"kB", "MB", "GB"} {
		if size >= 1000 {
			size, unit = size/1000, larger
		}
	}
	return fmt.Sprintf("%.3g %s", size, unit)
}

// release gives an attempt's lease back, once, with what it showed.
func (x *exchange) release(o lb.Outcome) {
	a := &x.now
	if a.released {
		return
	}
	a.released = true
	now := x.Now()
	if a.stale {
		o.Kind = lb.Cancelled // an idle connection that was closed says nothing
	}
	if o.Latency == 0 {
		o.Latency = now.Sub(a.lease.Start)
	}
	x.Pool.Release(now, a.lease, o)
	x.attempted(a.lease, o)
}

// end lets go of everything an attempt holds. Closing a body that was not read
// to its end gives its connection up too.
func (x *exchange) end() {
	a := &x.now
	x.release(a.outcome)
	_ = a.reader.Close()
	if a.resp != nil {
		_ = a.resp.Close()
	}
	switch {
	case a.limited != nil:
		a.limited.Unlimit()
		a.limited = nil
	case a.cancel != nil:
		a.cancel()
	}
}

// word is a further random word of this request.
func (x *exchange) word() uint64 {
	x.query.Rand = stat.Next(x.query.Rand)
	return x.query.Rand
}

func hash(key string) uint64 { return pick.Hash(key) }
