package sim

import (
	"time"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/retry"
	"minilb/core/stat"
)

// A request is what the simulator keeps of one that has no answer yet.
type request struct {
	life    retry.Life
	arrived lb.Time
	hash    uint64
	number  uint32 // counted from 0; its draws depend on it
	failed  bool   // the last attempt's answer, which goes out when there is no retry
}

// A job is what occupies a backend's queue and workers: an attempt, or a probe.
// An attempt that was given up is still served, so a job outlives its request.
type job struct {
	lease   lb.Lease
	request int32  // none when given up or a probe
	probe   int32  // none for an attempt
	number  uint32 // of the request, or of the backend's probe
	turn    uint32 // how often this place was used; timeouts of an earlier use are void
	slot    uint16
	attempt uint8 // counted from 0
	check   bool  // a probe, even when it was given up
}

const none = -1

// arrive begins the next request.
func (e *engine) arrive() {
	i := e.requests.take()
	r := e.requests.at(i)
	r.life = e.plan.Begin(e.budget, "GET", lb.Never)
	r.arrived, r.number, r.failed = e.now, e.arrivals.number, false
	r.hash = e.hash(r.number)
	e.arrivals.advance()
	q := e.query(r)
	lease, err := e.pool.Acquire(e.now, q)
	switch {
	case err == nil:
		e.send(i, r, lease)
	case e.config.Queue > 0 && err == lb.ErrFull:
		e.enqueue(i, q)
	default:
		e.drop(i, r)
	}
}

// hash is of the request's key, for the policies that look at it.
func (e *engine) hash(number uint32) uint64 {
	if !e.arrivals.hashing {
		return 0
	}
	return pick.HashNumber(uint64(stat.Below(e.chance.word(forKey, uint64(number), 0), e.arrivals.keys)))
}

// query is what the pool may know of a request's next attempt.
func (e *engine) query(r *request) lb.Query {
	return lb.Query{
		Now: e.now, Rand: e.chance.word(forPick, uint64(r.number), uint64(r.life.Attempts())),
		Hash: r.hash, HasKey: true, Tried: r.life.Tried,
	}
}

// try sends a request again. When nobody can take it the answer that there is
// goes out.
func (e *engine) try(i int32) {
	r := e.requests.at(i)
	lease, err := e.pool.Acquire(e.now, e.query(r))
	if err != nil {
		e.act(i, r, r.life.NoBackend(err))
		return
	}
	e.send(i, r, lease)
}

// send puts an attempt into its backend's queue.
func (e *engine) send(i int32, r *request, lease lb.Lease) {
	attempt, slot := r.life.Attempts(), lease.Slot()
	late := r.life.Sent(e.now, lease)
	k := e.jobs.take()
	j := e.jobs.at(k)
	turn := j.turn + 1
	*j = job{lease: lease, request: i, probe: none, number: r.number, turn: turn, slot: uint16(slot), attempt: uint8(attempt)}
	e.record.sent(e.now, slot)
	if late != lb.Never {
		e.events.push(late, attemptLate, k, j.turn)
	}
	e.put(k, j)
}

// put gives a job to a free worker, or lets it wait.
func (e *engine) put(k int32, j *job) {
	s := &e.servers[j.slot]
	if s.busy < s.capacity {
		s.busy++
		e.start(s, k, j)
		return
	}
	s.queue.push(k)
}

// start begins a job's service. Its length is drawn only now, from the job's
// own stream, so it need not be kept.
func (e *engine) start(s *server, k int32, j *job) {
	word := e.chance.word(forService, uint64(j.number), uint64(j.attempt))
	if j.check {
		word = e.chance.word(forProbeService, uint64(j.number), uint64(j.slot))
	}
	e.events.push(e.now+s.service(word), served, k, j.turn)
}

// served ends a job. The next one starts before its answer is looked at, so
// that a retry goes behind those who already wait.
func (e *engine) served(k int32) {
	j := e.jobs.at(k)
	s := &e.servers[j.slot]
	if s.queue.n > 0 {
		next := s.queue.pop()
		e.start(s, next, e.jobs.at(next))
	} else {
		s.busy--
	}
	switch {
	case j.probe != none:
		e.probeServed(j, s)
	case j.request != none:
		status := s.status(e.chance.word(forError, uint64(j.number), uint64(j.attempt)))
		e.ended(j, lb.Outcome{Kind: lb.Answered, Status: status, Latency: e.now.Sub(j.lease.Start)})
	}
	j.turn++
	e.jobs.give(k)
}

// attemptLate gives an attempt up. Its work goes on without a request.
func (e *engine) attemptLate(k int32, turn uint32) {
	j := e.jobs.at(k)
	if j.turn != turn || j.request == none {
		return
	}
	e.ended(j, lb.Outcome{Kind: lb.TimedOut, Latency: e.now.Sub(j.lease.Start)})
}

// ended tells the pool and the request how an attempt ended, and does what
// follows.
func (e *engine) ended(j *job, o lb.Outcome) {
	i := j.request
	j.request = none
	e.record.ended(e.now, int(j.slot))
	e.pool.Release(e.now, j.lease, o)
	failed := o.Failed()
	if failed && e.ejects {
		e.replan()
	}
	r := e.requests.at(i)
	r.failed = failed
	var word uint64
	if failed && e.config.Retries > 0 {
		word = e.backoff(r)
	}
	e.act(i, r, r.life.After(e.now, o, word))
}

// backoff is the word for the wait before a request's next attempt.
func (e *engine) backoff(r *request) uint64 {
	return e.chance.word(forBackoff, uint64(r.number), uint64(r.life.Attempts()))
}

// act does what the request's life wants.
func (e *engine) act(i int32, r *request, a retry.Action) {
	switch a.Do {
	case retry.Finish:
		e.finish(i, r)
	case retry.Try:
		e.try(i)
	case retry.Wait:
		e.events.push(a.At, retryDue, i, 0)
	case retry.Queue:
		e.await(i, a.At)
	}
}

// finish sends the answer out.
func (e *engine) finish(i int32, r *request) {
	r.life.End()
	e.record.finish(e.now, time.Duration(e.now-r.arrived), r.failed)
	e.requests.give(i)
}

// drop ends a request that no backend could take.
func (e *engine) drop(i int32, r *request) {
	r.life.End()
	e.record.drop(e.now)
	e.requests.give(i)
}
