// Package retry decides whether a request may be tried again: when repeating
// is safe, on which backend, after what wait, and within what budget. It does
// no I/O: a Life is told what happened and answers with an Action, and the
// simulator's event queue and the proxy's sockets carry the same ones out.
package retry

import (
	"fmt"
	"time"

	"minilb/core/lb"
	"minilb/core/param"
	"minilb/core/stat"
)

// trigger is what may be retried, as bits.
type trigger uint8

const (
	onConnectFailure trigger = 1 << iota
	onGatewayError
	on5xx
	onTimeout
)

// A Plan is a Config made ready for use.
type Plan struct {
	config Config
	on     trigger
}

// Plan makes the configuration ready. It reports what it cannot work with.
func (c Config) Plan() (*Plan, error) {
	p := &Plan{config: c}
	for _, name := range c.RetryOn {
		switch name {
		case "connect-failure":
			p.on |= onConnectFailure
		case "gateway-error":
			p.on |= onGatewayError
		case "5xx":
			p.on |= on5xx
		case "timeout":
			p.on |= onTimeout
		default:
			return nil, &param.Error{Name: "retry-on", Value: name, Problem: "unknown", Accepted: "connect-failure, gateway-error, 5xx, timeout"}
		}
	}
	return p, nil
}

// triggered says whether an outcome is one that may be retried, and whether the
// request may have reached the backend.
func (p *Plan) triggered(o lb.Outcome) (wanted, sent bool) {
	switch o.Kind {
	case lb.Cancelled:
		return false, true
	case lb.Refused:
		return p.on&onConnectFailure != 0, false
	case lb.TimedOut:
		return p.on&(onTimeout|onGatewayError|on5xx) != 0, true
	}
	gateway := o.Gateway() && p.on&onGatewayError != 0
	return gateway || o.Failed() && p.on&on5xx != 0, true
}

// A Life is one request from its first attempt to its answer: begin it, and
// after each attempt ask it what comes next. It is a value without a pointer
// of its own, so that a request costs no allocation; but it may hold room in
// the budget, so keep it in one place and do not use a copy beside it.
type Life struct {
	plan     *Plan
	budget   *Budget
	try      int32 // attempts begun
	holds    bool
	Tried    lb.Tried // backends that have had the request
	deadline lb.Time
	method   string
}

// Begin starts a request's life and counts it as in flight. deadline is the
// request's own, lb.Never without one. End it exactly once.
func (p *Plan) Begin(b *Budget, method string, deadline lb.Time) (l Life) {
	p.BeginIn(&l, b, method, deadline)
	return l
}

// BeginIn is Begin for a Life that stays in its place and is used again for
// one request after another.
func (p *Plan) BeginIn(l *Life, b *Budget, method string, deadline lb.Time) {
	b.Enter()
	l.plan, l.budget, l.method, l.deadline = p, b, method, deadline
	l.try, l.Tried = 0, lb.Tried{} // and holds is false: End gave back what there was
}

// End says that the request has its answer, or that its client has left, in
// whatever state it is.
func (l *Life) End() {
	if l.budget == nil {
		panic("retry: End of a Life that has ended, or that never began")
	}
	l.giveBack()
	l.budget.Leave()
	l.budget = nil
}

// Attempts is how many attempts were begun.
func (l *Life) Attempts() int { return int(l.try) }

// Sent is told of an attempt's lease and returns the instant at which the
// attempt is to be given up, lb.Never without a limit.
func (l *Life) Sent(now lb.Time, lease lb.Lease) (giveUp lb.Time) {
	l.try++
	l.Tried.Add(lease)
	if l.plan.config.PerTryTimeout == 0 {
		return l.deadline
	}
	return min(l.deadline, now.Add(l.plan.config.PerTryTimeout))
}

// Do is what the shell is to do.
type Do uint8

// What can be done after an attempt.
const (
	Finish Do = iota // send the answer that there is
	Try              // acquire another backend and send the request again
	Wait             // the same, at At
	Queue            // wait for room in the budget until At at most, then say Granted or Denied
)

// An Action is what Life wants done. With Finish, Note says in words why a
// failure was not retried; it is empty when there was no question of it.
type Action struct {
	Do   Do
	At   lb.Time
	Note string
}

// After takes an attempt's outcome and says what comes next. rand draws the
// back-off.
func (l *Life) After(now lb.Time, o lb.Outcome, rand uint64) Action {
	l.giveBack()
	if !o.Failed() {
		return Action{}
	}
	return l.afterFailure(now, o, rand)
}

func (l *Life) afterFailure(now lb.Time, o lb.Outcome, rand uint64) Action {
	wanted, sent := l.plan.triggered(o)
	switch {
	case !wanted || int(l.try) > l.plan.config.Retries:
		return Action{}
	case sent && !Idempotent(l.method):
		return skipped(fmt.Sprintf("%.20s is not idempotent", l.method))
	}
	start := now.Add(l.backoff(rand))
	if late := l.late(start); late != "" {
		return skipped(late)
	}
	if l.budget.Take() {
		l.holds = true
		return goAhead(now, start)
	}
	if l.plan.config.BudgetWait == 0 {
		return l.Denied()
	}
	return Action{Do: Queue, At: min(l.lastStart(), now.Add(l.plan.config.BudgetWait))}
}

// Granted is told that the budget had room after a Queue; the Life gives it
// back. The wait may have used up the request's time, so that is looked at
// again.
func (l *Life) Granted(now lb.Time, rand uint64) Action {
	l.holds = true
	start := now.Add(l.backoff(rand))
	if late := l.late(start); late != "" {
		l.giveBack()
		return skipped(late)
	}
	return goAhead(now, start)
}

// Denied is told that the budget had none in time.
func (l *Life) Denied() Action { return skipped("retry budget exhausted") }

// NoBackend is told that Acquire refused the retry. The answer that there is
// goes out.
func (l *Life) NoBackend(err error) Action {
	l.giveBack()
	return skipped(err.Error())
}

// Forbid ends the retries for a reason of the shell's own, such as a body too
// large to be sent twice.
func (l *Life) Forbid(reason string) Action {
	l.giveBack()
	return skipped(reason)
}

// late says in words why an attempt that starts then would not fit into the
// request's own time, or "".
func (l *Life) late(start lb.Time) string {
	left, perTry := l.deadline.Sub(start), l.plan.config.PerTryTimeout
	switch {
	case l.deadline == lb.Never:
		return ""
	case left <= 0:
		return "no time left for another attempt"
	case left < perTry:
		return fmt.Sprintf("%s left of the request's time, another attempt may take %s", left.Round(time.Millisecond), perTry)
	}
	return ""
}

// lastStart is when at the latest an attempt may start; to wait for longer
// would only delay the answer that there is.
func (l *Life) lastStart() lb.Time {
	if l.deadline == lb.Never {
		return lb.Never
	}
	return l.deadline.Add(-l.plan.config.PerTryTimeout)
}

func goAhead(now, start lb.Time) Action {
	if start <= now {
		return Action{Do: Try, At: now}
	}
	return Action{Do: Wait, At: start}
}

// backoff is drawn from 0 to base × 2^n with full jitter, n being the retries
// before this one, so that clients that failed together do not return
// together. Twenty doublings of the longest base still fit a Duration.
func (l *Life) backoff(rand uint64) time.Duration {
	c := l.plan.config
	if c.Backoff == 0 {
		return 0
	}
	longest := c.BackoffMax
	if n := max(l.try-1, 0); n < 20 && c.Backoff<<n < longest {
		longest = c.Backoff << n
	}
	return time.Duration(stat.Unit(rand) * float64(longest))
}

func (l *Life) giveBack() {
	if l.holds {
		l.holds = false
		l.budget.Give()
	}
}

func skipped(reason string) Action { return Action{Note: "not retried: " + reason} }
