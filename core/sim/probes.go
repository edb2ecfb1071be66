package sim

import (
	"minilb/core/lb"
	"minilb/core/stat"
)

// A probe is an active check in flight. It passes through the backend's queue
// and workers like a request: a saturated backend answers its probes late, and
// that is how overload spreads through a pool.
type probe struct {
	probe    lb.Probe
	job      int32 // none when the network has lost it
	turn     uint32
	balancer int32
}

// startProbes sends the probes that are due to a balancer.
func (e *engine) startProbes(balancer int, b *balancer) {
	e.due = b.pool.Due(e.now, e.due[:0])
	for _, due := range e.due {
		e.startProbe(int32(balancer), b, due)
	}
}

func (e *engine) startProbe(balancer int32, b *balancer, due lb.Probe) {
	i := e.probes.take()
	p := e.probes.at(i)
	*p = probe{probe: due, job: none, turn: p.turn + 1, balancer: balancer}
	number := uint32(b.probed[due.Slot])
	b.probed[due.Slot]++
	e.events.push(e.now.Add(e.config.CheckTimeout), probeLate, i, p.turn)
	if loss := e.config.ProbeLoss; loss > 0 {
		whose := uint64(due.Slot) | uint64(balancer)<<16
		if stat.Unit(e.chance.word(forProbeLoss, uint64(number), whose)) < loss {
			return
		}
	}
	k := e.jobs.take()
	j := e.jobs.at(k)
	*j = job{
		request: none, probe: i, number: number, turn: j.turn + 1, identity: none,
		slot: uint16(due.Slot), attempt: uint8(balancer), is: isProbe,
	}
	p.job = k
	e.put(k, j)
}

// probeServed takes a probe's answer in.
func (e *engine) probeServed(i int32, status int) {
	if e.config.CheckType == "tcp" {
		status = 0
	}
	e.probeEnded(i, lb.ProbeResult{Kind: lb.Answered, Status: status})
}

// probeLate fails a probe that has no answer in time. The backend still serves it.
func (e *engine) probeLate(i int32, turn uint32) {
	p := e.probes.at(i)
	if p.turn != turn {
		return
	}
	k := p.job
	e.probeEnded(i, lb.ProbeResult{Kind: lb.TimedOut})
	if k != none {
		j := e.jobs.at(k)
		j.probe = none
		e.abandon(k, j)
	}
}

// probeEnded tells the pool what a probe found. A balancer that is down does
// not hear of it.
func (e *engine) probeEnded(i int32, r lb.ProbeResult) {
	p := e.probes.at(i)
	due, b := p.probe, &e.balancers[p.balancer]
	p.turn++
	e.probes.give(i)
	if b.down {
		return
	}
	b.pool.Probed(e.now, due, r)
	e.replan(b)
}
