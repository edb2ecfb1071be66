package lb

// A Status is what one backend looks like from outside at one moment.
type Status struct {
	Backend
	State     string // healthy, unhealthy, ejected or draining
	Down      bool   // the holds, each apart
	Ejected   bool
	Draining  bool
	Since     Time
	Reason    string
	Until     Time // end of the ejection, when ejected
	InFlight  int
	Attempts  uint64
	Failures  uint64
	Ejections int
}

// Status describes every backend of the pool, in its order.
func (p *Pool) Status(now Time) []Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance(now)
	all := make([]Status, 0, len(p.members))
	for _, m := range p.members {
		all = append(all, p.status(m))
	}
	return all
}

func (p *Pool) status(m *member) Status {
	return Status{
		Backend: m.Backend, State: m.state(), Since: m.since, Reason: m.reason, Until: m.until,
		Down: m.hold&Down != 0, Ejected: m.hold&Ejected != 0, Draining: m.hold&Draining != 0,
		InFlight: p.loads.InFlight(m.slot), Attempts: m.attempts.Load(), Failures: m.failures.Load(),
		Ejections: m.ejections,
	}
}

// state names the hold that its owner would ask about first.
func (m *member) state() string {
	switch {
	case m.hold&Draining != 0:
		return "draining"
	case m.hold&Down != 0:
		return "unhealthy"
	case m.hold&Ejected != 0:
		return "ejected"
	}
	return "healthy"
}

// Counts are the pool's own figures.
type Counts struct {
	Ejections int // since the pool began
	Refused   int // ejections that the cap refused
	Waiting   int // requests in the queue
	InFlight  int
	Panic     bool
}

// Counts returns the pool's figures.
func (p *Pool) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := Counts{Ejections: p.ejections, Refused: p.refused, Waiting: int(p.waiting.Load()), Panic: p.snap.Load().panic}
	for slot := range p.nextSlot {
		c.InFlight += p.loads.InFlight(slot)
	}
	return c
}

// Loads are the pool's own counts of requests in flight, for a view that is
// refreshed from them.
func (p *Pool) Loads() *Loads { return &p.loads }
