package sim

import (
	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/retry"
	"minilb/core/scenario"
)

// An engine plays a scenario with one algorithm. Three things can come next:
// an arrival, a call that the pool has asked for, and an event of the heap;
// the first two are known one at a time and stay out of the heap.
type engine struct {
	now      lb.Time
	chance   chance
	arrivals arrivals
	tick     lb.Time // when the pool wants to be called
	ticks    int
	events   heap
	steps    uint64 // events, arrivals and ticks so far

	pool    *lb.Pool
	plan    *retry.Plan
	budget  *retry.Budget
	servers []server // by slot
	config  scenario.Balancer
	ejects  bool // failed outcomes may change when the pool wants to be called

	requests    slab[request]
	jobs        slab[job]
	probes      slab[probe]
	poolWaits   slab[poolWait]
	budgetWaits slab[budgetWait]
	woken       []waiter
	due         []lb.Probe
	probed      []uint64 // probes sent, by slot

	record   record
	progress progress
	limits   limits
}

func newEngine(s scenario.Scenario, algorithm string, o Options) (*engine, error) {
	plan, err := s.Plan()
	if err != nil {
		return nil, err
	}
	e := &engine{
		chance: chance(s.Seed), config: s.Balancer, plan: plan, budget: retry.NewBudget(s.RetryConfig),
		ejects: s.OutlierConfig.On(), probed: make([]uint64, len(s.Backends)),
		record: newRecord(s, algorithm, o), limits: standardLimits,
	}
	if err := e.newPool(s, algorithm, o); err != nil {
		return nil, err
	}
	policy, _ := pick.Find(algorithm)
	e.arrivals = arrivals{chance: e.chance, mean: 1e9 / s.Rate, want: s.Requests, keys: s.Keys, hashing: policy.Hashes}
	e.arrivals.advance()
	return e, nil
}

// newPool makes the pool, and a server behind each of its slots: a fresh pool
// gives slots in the order of its backends.
func (e *engine) newPool(s scenario.Scenario, algorithm string, o Options) (err error) {
	all := make([]lb.Backend, len(s.Backends))
	for i, b := range s.Backends {
		all[i] = b.LB()
		e.servers = append(e.servers, newServer(b))
	}
	outfit := scenario.Outfit{Random: e.chance.word(forPhases, 0, 0), Log: e.log(o.Events)}
	if e.pool, err = s.NewPool(0, algorithm, all, outfit); err != nil {
		return err
	}
	e.replan()
	return nil
}

// run plays until every request has its answer. What still runs then, probes
// and work that was given up, does not keep it going.
func (e *engine) run() error {
	for !e.record.complete() {
		e.step()
		if len(e.woken) > 0 {
			e.wake()
		}
		if e.steps++; e.steps%progressEvery == 0 {
			if err := e.limits.exceeded(e); err != nil {
				return err
			}
			if !e.progress.goOn(e.record.done()) {
				return nil
			}
		}
	}
	return nil
}

// step does what comes next. At the same instant answers come before what the
// pool does of itself, and that before a new request.
func (e *engine) step() {
	at := e.events.next()
	switch {
	case at <= e.tick && at <= e.arrivals.next:
		e.now = at
		e.happen(e.events.pop())
	case e.tick <= e.arrivals.next:
		e.now = e.tick
		e.serveTick()
	default:
		e.now = e.arrivals.next
		e.arrive()
	}
}

func (e *engine) happen(v event) {
	switch v.kind() {
	case served:
		e.served(v.index)
	case retryDue:
		e.try(v.index)
	case attemptLate:
		e.attemptLate(v.index, v.turn)
	case probeLate:
		e.probeLate(v.index, v.turn)
	case queueLate:
		e.queueLate(v.index, v.turn)
	case budgetLate:
		e.budgetLate(v.index, v.turn)
	}
}

// serveTick does what the pool asked for: ejections end, probes start.
func (e *engine) serveTick() {
	e.ticks++
	e.pool.Advance(e.now)
	if e.config.CheckInterval > 0 {
		e.startProbes()
	}
	e.replan()
}

// replan asks the pool when it wants to be called next. It is due after
// whatever may have changed that: a failed outcome, a probe's result, a call.
func (e *engine) replan() { e.tick = max(e.now, e.pool.Next()) }
