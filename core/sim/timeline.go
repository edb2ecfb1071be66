package sim

import (
	"time"

	"minilb/core/lb"
)

// A moment is a change that the scenario has planned.
type moment struct {
	what what
	slot int
}

// what happens at a moment.
type what uint8

const (
	errorsBegin what = iota
	slowBegins
	slowEnds
	crash
	hang
	stall
	stallEnds
	recovery
	joins
	drains
	dependencyFails
	dependencyWorks
	balancerFails
	balancerWorks
)

// schedule pushes everything that the scenario has planned.
func (e *engine) schedule() {
	for slot := range e.servers {
		p := &e.servers[slot].parts
		e.comeAt(p.ErrorsAfter, errorsBegin, slot)
		if p.SlowFactor != 1 {
			e.comeAt(p.SlowAfter, slowBegins, slot)
		}
		e.comeAt(p.SlowUntil, slowEnds, slot)
		e.comeAt(p.CrashAt, crash, slot)
		e.comeAt(p.HangAt, hang, slot)
		if p.StallAt > 0 {
			e.comeAt(p.StallAt, stall, slot)
			e.comeAt(p.StallAt+e.servers[slot].stallFor(), stallEnds, slot)
		}
		e.comeAt(p.RecoverAt, recovery, slot)
		e.comeAt(p.DrainAt, drains, slot)
	}
	for slot := range e.servers { // in the order in which the pools give slots
		e.comeAt(e.servers[slot].parts.AddAt, joins, slot)
	}
	if w := e.config.DependencyDown; w.On() {
		e.come(w.From, dependencyFails, 0)
		e.come(w.To, dependencyWorks, 0)
	}
	if w := e.config.BalancerDown; w.On() {
		e.come(w.From, balancerFails, 0)
		e.come(w.To, balancerWorks, 0)
	}
}

// comeAt plans a moment of a backend, unless its time is 0: never.
func (e *engine) comeAt(at time.Duration, w what, slot int) {
	if at > 0 {
		e.come(at, w, slot)
	}
}

// come plans a moment.
func (e *engine) come(at time.Duration, w what, slot int) {
	e.timeline = append(e.timeline, moment{w, slot})
	e.events.push(lb.Time(at), changeDue, int32(len(e.timeline)-1), 0)
}

// do lets a moment come.
func (m moment) do(e *engine) {
	s := &e.servers[m.slot]
	switch m.what {
	case errorsBegin:
		s.fail(true)
	case slowBegins:
		s.slow(true)
	case slowEnds:
		s.slow(false)
	case crash:
		e.crash(m.slot)
	case hang:
		e.hang(m.slot)
	case stall:
		e.stall(m.slot)
	case stallEnds:
		if s.state == stalled {
			e.resume(s)
		}
	case recovery:
		e.recover(m.slot)
	default:
		m.doToMany(e)
	}
}

// doToMany is do for what concerns more than one backend.
func (m moment) doToMany(e *engine) {
	switch m.what {
	case joins, drains:
		for i := range e.balancers {
			m.member(e, &e.balancers[i])
		}
	case dependencyFails, dependencyWorks:
		e.down = m.what == dependencyFails
	case balancerFails:
		e.fallOver(0)
	case balancerWorks:
		e.getUp(0)
	}
}

// member adds a backend to a pool, or drains it.
func (m moment) member(e *engine, b *balancer) {
	place := e.record.place[m.slot]
	backend := e.config.Backends[place]
	if m.what == joins {
		if err := b.pool.Add(e.now, backend.LB()); err != nil {
			panic("sim: " + err.Error()) // names were checked
		}
	} else if err := b.pool.Drain(e.now, backend.Name, backend.DrainFor); err != nil {
		panic("sim: " + err.Error())
	}
	e.replan(b)
}

// crash makes a backend refuse connections. What it holds breaks.
func (e *engine) crash(slot int) {
	s := &e.servers[slot]
	s.state, s.workers = crashed, 0
	e.flush(slot, e.breakOff)
}

// hang makes a backend accept everything and answer nothing.
func (e *engine) hang(slot int) {
	s := &e.servers[slot]
	s.state, s.workers = hung, 0
	e.flush(slot, e.swallow)
}

// stall stops a backend's workers.
func (e *engine) stall(slot int) {
	s := &e.servers[slot]
	if s.state != serving {
		return
	}
	s.state, s.workers = stalled, 0
	for k := range e.jobs.used {
		if j := e.jobs.at(k); int(j.slot) == slot && j.is&working != 0 {
			j.is |= delayed
		}
	}
}

// recover ends everything that is wrong with a backend. After a crash or a
// hang it has been started again: what it swallowed breaks, and it is cold.
func (e *engine) recover(slot int) {
	s := &e.servers[slot]
	was := s.state
	s.fail(false)
	s.slow(false)
	e.resume(s)
	if was == hung || was == crashed {
		s.warm(e.now)
	}
	if was == hung {
		for k := range e.jobs.used {
			if j := e.jobs.at(k); int(j.slot) == slot && j.is&swallowed != 0 {
				e.breakOff(k, j)
			}
		}
	}
}

func (e *engine) breakOff(k int32, j *job) {
	e.fail(j, lb.Broken, 0, broken)
	e.give(k, j)
}

// A departure is a backend that a pool has removed at the end of a drain.
type departure struct{ balancer, slot int }

// cutOff breaks what was still in flight at a drain's deadline.
func (e *engine) cutOff() {
	for n := 0; n < len(e.gone); n++ {
		d := e.gone[n]
		if e.l4 {
			e.closeIdle(func(c *connection) bool { return int(c.balancer) == d.balancer && int(c.slot) == d.slot })
		}
		for k := range e.jobs.used {
			j := e.jobs.at(k)
			if j.request == none || int(j.slot) != d.slot {
				continue
			}
			if r := e.requests.at(j.request); int(r.balancer) == d.balancer && r.at == k && r.wait == onJob {
				e.cut(k, j, r)
			}
		}
	}
	e.gone = e.gone[:0]
}

// cut breaks one request off. Its work goes on.
func (e *engine) cut(k int32, j *job, r *request) {
	if r.counts {
		e.record.cut++
	}
	e.ended(j, lb.Outcome{Kind: lb.Broken, Latency: e.now.Sub(j.lease.Start)}, broken)
	e.abandon(k, j)
}
