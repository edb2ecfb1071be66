package sim

import (
	"minilb/core/lb"
	"minilb/core/retry"
)

// A request's retry.Life is kept beside the request, and only in a run where
// something may be retried. Where nothing is, a life has nothing to say, and a
// queue of hundreds of thousands of requests needs half the memory.

// enliven begins a request's life, for the first time or for its client's next
// try.
func (e *engine) enliven(r *request, budget *retry.Budget, method string) {
	r.attempts, r.life = 0, none
	if e.config.Retries > 0 {
		r.life = e.lives.take()
		e.plan.BeginIn(e.lives.at(r.life), budget, method, lb.Never)
	}
}

// sent tells a request's life of an attempt and returns when it is to be given
// up, which for the only attempt is the life's rule in two lines.
func (e *engine) sent(r *request, lease lb.Lease) (giveUp lb.Time) {
	r.attempts++
	if r.life != none {
		return e.lives.at(r.life).Sent(e.now, lease)
	}
	if e.config.PerTryTimeout == 0 {
		return lb.Never
	}
	return e.now.Add(e.config.PerTryTimeout)
}

// after says what follows an attempt: the answer goes out where nothing is
// ever retried.
func (e *engine) after(r *request, o lb.Outcome, word uint64) retry.Action {
	if r.life == none {
		return retry.Action{Do: retry.Finish}
	}
	return e.lives.at(r.life).After(e.now, o, word)
}

// endLife says that a request has its answer, or that its client has left.
func (e *engine) endLife(r *request) {
	if r.life != none {
		e.lives.at(r.life).End()
		e.lives.give(r.life)
		r.life = none
	}
}
