package sim

import (
	"time"

	"minilb/core/lb"
	"minilb/core/retry"
)

// A request is what the simulator keeps of one that is not over yet. What its
// end needs comes first: in an overload each of them is a cache miss away.
type request struct {
	arrived  lb.Time // when the client sent it, or sent it again
	number   uint32  // counted from 0; its draws depend on it
	turn     uint32  // how often this place was used, and the client's tries; timeouts of an earlier one are void
	at       int32   // what it waits for: a job, or a place in a queue
	wait     wait
	last     failure // the last attempt's, which goes out when there is no retry
	balancer uint8
	try      uint8  // of the client, counted from 0
	counts   bool   // it did not arrive during the warm-up
	attempts uint8  // begun for this try of the client
	slot     uint16 // of the last attempt
	user     int32  // none when nobody asks
	life     int32  // none where nothing is ever retried
}

// An extra is what only some scenarios want to know of a request. It has the
// request's place in a slab of its own, so that others need no memory for it.
type extra struct {
	identity   int32 // none unless its executions are counted
	connection int32 // that carries it, at layer 4
}

// wait is what a request waits for.
type wait uint8

const (
	nowhere   wait = iota // nobody's place
	onJob                 // a backend
	onPool                // a place at any backend
	onBudget              // room in the retry budget
	onBackoff             // the time of its retry
	onClient              // the time of its client's retry
)

// A job is what occupies a backend's queue and workers: an attempt, or a probe.
// An attempt that was given up is still served, so a job outlives its request.
type job struct {
	lease    lb.Lease
	request  int32  // none when given up or a probe
	probe    int32  // none for an attempt
	number   uint32 // of the request, or of the backend's probe
	turn     uint32 // how often this place was used; timeouts of an earlier use are void
	identity int32  // none unless executions are counted
	slot     uint16
	attempt  uint8 // counted from 0, and 16 for each of the client's tries
	is       marks
}

// marks is what a job is and what has happened to it.
type marks uint8

const (
	isProbe   marks = 1 << iota // a probe, even when it was given up
	waiting                     // in the backend's queue
	working                     // with a worker
	dead                        // in the queue, and not to be served
	delayed                     // by a stall: its end comes later than was thought
	swallowed                   // by a backend that hangs
	failing                     // its answer will be an error
	counted                     // of a request that counts
)

const none = -1

// arrive begins the next request.
func (e *engine) arrive() {
	number := e.arrivals.number
	e.arrivals.advance()
	e.begin(number, none)
}

// begin makes a request of a user.
func (e *engine) begin(number uint32, user int32) {
	i := e.requests.take()
	r := e.requests.at(i)
	r.number, r.user, r.try, r.balancer, r.wait = number, user, 0, 0, onPool
	if e.special {
		*e.extras.reach(i) = extra{none, none}
	}
	r.counts = e.now >= e.warm
	if e.arrivals.hashing {
		*e.hashes.reach(i) = e.arrivals.hashKey(number)
	}
	if r.counts {
		e.record.originals++
	}
	e.open(i, r)
}

// open sends a request to its balancer, for the first time or again.
func (e *engine) open(i int32, r *request) {
	r.arrived, r.last = e.now, fine
	e.record.begun++
	method := "GET"
	if e.special {
		method = e.dress(i, r)
	}
	b := &e.balancers[r.balancer]
	e.enliven(r, b.budget, method)
	if b.down {
		e.drop(i, r, refused)
		return
	}
	if e.l4 && e.carryOn(i, r) {
		return
	}
	e.admit(i, r, b.pool)
}

// admit asks the pool for a backend, for a request's first attempt.
func (e *engine) admit(i int32, r *request, pool *lb.Pool) {
	// The query is made in the place where the pool reads it.
	lease, err := pool.Acquire(e.now, lb.Query{Rand: e.pickWord(r), Hash: e.hash(i), HasKey: true, Sticky: e.cookie(r)})
	switch {
	case err == nil:
		e.send(i, r, lease)
	case e.config.PoolConfig.Queue > 0 && err == lb.ErrFull:
		e.enqueue(i, r, e.query(i, r))
	case err == lb.ErrNoBackend:
		e.drop(i, r, noBackend)
	default:
		e.drop(i, r, queueFull)
	}
}

// attempt is the number of a request's next attempt, for its draws.
func (r *request) attempt() int { return int(r.attempts) + 16*int(r.try) }

// query is what the pool may know of a request's next attempt.
func (e *engine) query(i int32, r *request) lb.Query {
	q := lb.Query{Now: e.now, Rand: e.pickWord(r), Hash: e.hash(i), HasKey: true, Sticky: e.cookie(r)}
	if r.life != none {
		q.Tried = e.lives.at(r.life).Tried
	}
	return q
}

// pickWord is the policy's chance in a request's next attempt.
func (e *engine) pickWord(r *request) uint64 {
	if attempt := r.attempt(); attempt > 0 {
		return e.chance.word(forPick, uint64(r.number), uint64(attempt))
	}
	return e.picks.Word(uint64(r.number))
}

// hash is of a request's key, for the policies that look at it.
func (e *engine) hash(i int32) uint64 {
	if !e.arrivals.hashing {
		return 0
	}
	return *e.hashes.at(i)
}

// retryDue sends a request again, unless its client has left.
func (e *engine) retryDue(i int32, turn uint32) {
	if e.requests.at(i).turn == turn {
		e.try(i)
	}
}

// try sends a request again. When nobody can take it the answer that there is
// goes out.
func (e *engine) try(i int32) {
	r := e.requests.at(i)
	lease, err := e.balancers[r.balancer].pool.Acquire(e.now, e.query(i, r))
	if err != nil {
		e.act(i, r, e.lives.at(r.life).NoBackend(err))
		return
	}
	e.send(i, r, lease)
}

// send puts an attempt into its backend's queue.
func (e *engine) send(i int32, r *request, lease lb.Lease) {
	if e.l4 {
		e.connect(i, r, lease)
		return
	}
	first, slot := r.attempts == 0, lease.Slot()
	k, j := e.job(r, lease, i, slot)
	late := e.sent(r, lease)
	if late != lb.Never {
		e.events.push(late, attemptLate, k, j.turn)
	}
	e.dispatch(k, j, r, first)
}

// job makes a job of a request.
func (e *engine) job(r *request, lease lb.Lease, i int32, slot int) (k int32, j *job) {
	k = e.jobs.take()
	j = e.jobs.at(k)
	j.turn++
	j.lease, j.request, j.probe, j.number, j.identity = lease, i, none, r.number, e.identity(i)
	j.slot, j.attempt, j.is = uint16(slot), uint8(r.attempt()), 0
	if r.counts {
		j.is = counted
	}
	if j.identity != none {
		e.identities.at(j.identity).holders++
	}
	r.wait, r.at, r.slot = onJob, k, uint16(slot)
	return k, j
}

// dispatch counts a job and gives it to its backend.
func (e *engine) dispatch(k int32, j *job, r *request, first bool) {
	slot := int(j.slot)
	if r.counts {
		if !first {
			e.record.retries++
		} else if e.home != nil && !e.home.is(slot, *e.hashes.at(j.request)) {
			e.record.away++
		}
	}
	e.record.sent(e.now, slot, r.counts)
	if e.onSent != nil {
		e.onSent(slot, r)
	}
	e.put(k, j)
}

// attemptLate gives an attempt up.
func (e *engine) attemptLate(k int32, turn uint32) {
	j := e.jobs.at(k)
	if j.turn != turn || j.request == none {
		return
	}
	e.ended(j, lb.Outcome{Kind: lb.TimedOut, Latency: e.now.Sub(j.lease.Start)}, timedOut)
	e.abandon(k, j)
}

// ended tells the pool and the request how an attempt ended, and does what
// follows.
func (e *engine) ended(j *job, o lb.Outcome, why failure) {
	i := e.detach(j)
	r := e.requests.at(i)
	r.last = why
	if why != fine && e.record.series != nil {
		e.record.series.wrong(e.now, int(j.slot))
	}
	if e.l4 {
		e.released(i, r, o)
		e.finish(i, r)
		return
	}
	b := &e.balancers[r.balancer]
	b.pool.Release(e.now, j.lease, o)
	failed := why != fine
	if failed && e.ejects {
		e.replan(b)
	}
	var word uint64
	if failed && e.config.Retries > 0 {
		word = e.backoff(r)
	}
	e.act(i, r, e.after(r, o, word))
}

// detach takes a job's request from it.
func (e *engine) detach(j *job) (request int32) {
	request = j.request
	j.request = none
	e.record.ended(e.now, int(j.slot))
	if j.is&swallowed != 0 && e.endless(int(j.slot)) {
		e.hung--
	}
	return request
}

// backoff is the word for the wait before a request's next attempt.
func (e *engine) backoff(r *request) uint64 {
	return e.chance.word(forBackoff, uint64(r.number), uint64(r.attempt()))
}

// act does what the request's life wants.
func (e *engine) act(i int32, r *request, a retry.Action) {
	switch a.Do {
	case retry.Finish:
		if a.Note != "" && r.counts {
			e.record.skip(a.Note)
		}
		e.finish(i, r)
	case retry.Try:
		e.try(i)
	case retry.Wait:
		r.wait = onBackoff
		e.events.push(a.At, retryDue, i, r.turn)
	case retry.Queue:
		e.await(i, r, a.At)
	}
}

// finish sends the answer out.
func (e *engine) finish(i int32, r *request) {
	e.endLife(r)
	e.record.finish(e.now, time.Duration(e.now-r.arrived), r.last, r.counts)
	e.over(i, r)
}

// drop ends a request that no backend could take.
func (e *engine) drop(i int32, r *request, why failure) {
	e.endLife(r)
	r.last = why
	e.record.drop(e.now, why, r.counts)
	e.over(i, r)
}

// over gives a request's place back, unless its client sends it again.
func (e *engine) over(i int32, r *request) {
	r.turn++
	if e.special && e.again(i, r) {
		return
	}
	r.wait = nowhere
	e.requests.give(i)
}
