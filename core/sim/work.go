package sim

import (
	"minilb/core/lb"
	"minilb/core/stat"
)

// put gives a job to a free worker, or lets it wait.
func (e *engine) put(k int32, j *job) {
	s := &e.servers[j.slot]
	if s.busy < s.workers {
		s.busy++
		e.start(s, k, j)
		return
	}
	if s.state >= hung || s.full() {
		e.turnAway(s, k, j)
		return
	}
	j.is |= waiting
	s.queue.push(k)
	b := &e.record.backends[j.slot]
	b.queueMax = max(b.queueMax, s.queue.n-s.dead)
}

// start begins a job's service. Its length is drawn only now, from the job's
// own stream, so it need not be kept.
func (e *engine) start(s *server, k int32, j *job) {
	j.is = j.is&^waiting | working
	word := e.services.Word(uint64(j.number))
	if j.attempt > 0 || j.is&isProbe != 0 {
		word = e.otherService(j)
	}
	took := s.service(word)
	if e.arrivals.trace != nil && j.is&isProbe == 0 {
		took = e.recorded(s, j, took)
	}
	if (s.faulty || e.down) && e.fails(s, j) {
		j.is |= failing
		if s.parts.ErrorMS > 0 {
			took = lb.Time(s.draw.unit(word) * s.parts.ErrorMS * 1e6)
		}
	}
	if e.now < s.cold {
		took = lb.Time(float64(took) * s.coldness(e.now))
	}
	e.events.push(e.now+took, served, k, j.turn)
}

// otherService is what the service of a probe or a later attempt is drawn from.
func (e *engine) otherService(j *job) uint64 {
	if j.is&isProbe != 0 {
		return e.chance.word(forProbeService, uint64(j.number), e.prober(j))
	}
	return e.chance.word(forService, uint64(j.number), uint64(j.attempt))
}

// prober keeps the draws of different balancers' probes apart.
func (e *engine) prober(j *job) uint64 {
	return uint64(j.slot) | uint64(j.attempt)<<16
}

// recorded is how long a request of a trace takes, if the trace says so.
func (e *engine) recorded(s *server, j *job, drawn lb.Time) lb.Time {
	took := e.arrivals.trace[j.number].Service
	if took == 0 {
		return drawn
	}
	return lb.Time(float64(took) * (s.mean / (s.parts.Mean * 1e6)))
}

// fails says whether a job's answer will be an error.
func (e *engine) fails(s *server, j *job) bool {
	if j.is&isProbe != 0 {
		if e.down && s.parts.Health == "shared" {
			return true
		}
		return s.probeErrors > 0 && stat.Unit(e.chance.word(forProbeError, uint64(j.number), e.prober(j))) < s.probeErrors
	}
	if e.down && stat.Unit(e.chance.word(forDependency, uint64(j.number), 0)) < e.config.DependencyShare {
		return true
	}
	return s.errors > 0 && stat.Unit(e.chance.word(forError, uint64(j.number), uint64(j.attempt))) < s.errors
}

// served ends a job. The next one starts before its answer is looked at, so
// that a retry goes behind those who already wait.
func (e *engine) served(k int32, turn uint32) {
	j := e.jobs.at(k)
	if j.turn != turn || j.is&(delayed|swallowed) != 0 && e.notYet(k, j) {
		return
	}
	s := &e.servers[j.slot]
	e.next(s)
	status := 200
	if j.is&failing != 0 {
		status = s.errorStatus()
	}
	if j.is&counted != 0 {
		e.record.served(int(j.slot), e.now.Sub(j.lease.Start))
	}
	if j.identity != none && status == 200 {
		e.executed(j)
	}
	switch {
	case j.probe != none:
		e.probeServed(j.probe, status)
	case j.request != none:
		o := lb.Outcome{Kind: lb.Answered, Status: status, Latency: e.now.Sub(j.lease.Start)}
		e.ended(j, o, failureOf(o))
	}
	e.give(k, j)
}

// notYet says that a job's time is not over: a stall has delayed it, or its
// backend hangs.
func (e *engine) notYet(k int32, j *job) bool {
	if j.is&swallowed == 0 {
		j.is &^= delayed
		e.events.push(e.now.Add(e.servers[j.slot].stallFor()), served, k, j.turn)
	}
	return true
}

// give gives a job's place back.
func (e *engine) give(k int32, j *job) {
	j.turn++
	j.is, j.request = 0, none
	if j.identity != none {
		e.forget(j.identity)
	}
	e.jobs.give(k)
}

// next gives a free worker to the next job that is to be served.
func (e *engine) next(s *server) {
	for s.queue.n > 0 && s.busy <= s.workers {
		k := s.take()
		j := e.jobs.at(k)
		if j.is&dead == 0 {
			e.start(s, k, j)
			return
		}
		s.dead--
		e.give(k, j)
	}
	s.busy--
}

// turnAway is what a backend does with a job that it cannot take: refuse it,
// swallow it, or answer that it is full.
func (e *engine) turnAway(s *server, k int32, j *job) {
	switch s.state {
	case hung:
		e.swallow(k, j)
		return
	case crashed:
		e.fail(j, lb.Refused, 0, refused)
	default:
		e.fail(j, lb.Answered, 503, queueFull)
	}
	e.give(k, j)
}

// fail ends a job that was not served.
func (e *engine) fail(j *job, kind lb.Kind, status int, why failure) {
	switch {
	case j.probe != none:
		e.probeEnded(j.probe, lb.ProbeResult{Kind: kind, Status: status})
		j.probe = none
	case j.request != none:
		e.ended(j, lb.Outcome{Kind: kind, Status: status, Latency: e.now.Sub(j.lease.Start)}, why)
	}
}

// swallow takes a job and never answers it.
func (e *engine) swallow(k int32, j *job) {
	if j.request == none && j.probe == none {
		e.give(k, j)
		return
	}
	j.is = j.is&^(waiting|working|delayed) | swallowed
	if j.request != none && e.endless(int(j.slot)) {
		e.hung++
	}
}

// endless says whether a request that a backend swallows would wait for ever.
func (e *engine) endless(slot int) bool {
	noTimeout := e.config.ClientTimeout == 0 && (e.config.PerTryTimeout == 0 || e.l4)
	return noTimeout && e.servers[slot].parts.RecoverAt == 0
}

// abandon is what becomes of a job that nobody waits for any more.
func (e *engine) abandon(k int32, j *job) {
	s := &e.servers[j.slot]
	switch {
	case j.is&swallowed != 0:
		e.give(k, j)
	case e.config.Abandon != "cancel":
	case j.is&waiting != 0:
		j.is |= dead
		s.dead++
	case j.is&working != 0:
		e.give(k, j)
		e.next(s)
	}
}

// flush empties a backend that stops working, and does what is to be done with
// each of its jobs.
func (e *engine) flush(slot int, do func(k int32, j *job)) {
	s := &e.servers[slot]
	s.queue.first, s.queue.n, s.busy, s.dead = 0, 0, 0, 0
	for k := range e.jobs.used {
		j := e.jobs.at(k)
		switch {
		case int(j.slot) != slot || j.is&(waiting|working|swallowed) == 0:
		case j.is&dead != 0:
			e.give(k, j)
		default:
			do(k, j)
		}
	}
}

// resume sets a backend's workers free.
func (e *engine) resume(s *server) {
	s.state, s.workers = serving, s.capacity
	for s.busy < s.workers && s.queue.n > 0 {
		s.busy++
		e.next(s)
	}
}
