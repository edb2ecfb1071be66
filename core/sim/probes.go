package sim

import "minilb/core/lb"

// A probe is an active check in flight. It passes through the backend's queue
// and workers like a request: a saturated backend answers its probes late, and
// that is how overload spreads through a pool.
type probe struct {
	probe lb.Probe
	job   int32
	turn  uint32
}

// startProbes sends the probes that are due.
func (e *engine) startProbes() {
	e.due = e.pool.Due(e.now, e.due[:0])
	for _, due := range e.due {
		e.startProbe(due)
	}
}

func (e *engine) startProbe(due lb.Probe) {
	i, k := e.probes.take(), e.jobs.take()
	p, j := e.probes.at(i), e.jobs.at(k)
	*p = probe{probe: due, job: k, turn: p.turn + 1}
	*j = job{request: none, probe: i, number: uint32(e.probed[due.Slot]), turn: j.turn + 1, slot: uint16(due.Slot), check: true}
	e.probed[due.Slot]++
	e.events.push(e.now.Add(e.config.CheckTimeout), probeLate, i, p.turn)
	e.put(k, j)
}

// probeServed takes a probe's answer in; one that was given up has none.
func (e *engine) probeServed(j *job, s *server) {
	status := s.status(e.chance.word(forProbeError, uint64(j.number), uint64(j.slot)))
	if e.config.CheckType == "tcp" {
		status = 0
	}
	e.probeEnded(j.probe, lb.ProbeResult{Kind: lb.Answered, Status: status})
}

// probeLate fails a probe that has no answer in time. The backend still serves it.
func (e *engine) probeLate(i int32, turn uint32) {
	p := e.probes.at(i)
	if p.turn != turn {
		return
	}
	j := e.jobs.at(p.job)
	e.probeEnded(i, lb.ProbeResult{Kind: lb.TimedOut})
	j.probe = none
}

// probeEnded tells the pool what a probe found.
func (e *engine) probeEnded(i int32, r lb.ProbeResult) {
	p := e.probes.at(i)
	due := p.probe
	p.turn++
	e.probes.give(i)
	e.pool.Probed(e.now, due, r)
	e.replan()
}
