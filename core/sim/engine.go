package sim

import (
	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/retry"
	"minilb/core/scenario"
	"minilb/core/stat"
)

// An engine plays a scenario with one algorithm. Three things can come next:
// an arrival, a call that a pool has asked for, and an event of the heap; the
// first two are known one at a time and stay out of the heap.
type engine struct {
	now      lb.Time
	chance   chance
	picks    stat.Stream // of first attempts, as are the services
	services stat.Stream
	arrivals arrivals
	tick     lb.Time // when a pool wants to be called
	ticks    int
	events   heap
	steps    uint64 // events, arrivals and ticks so far

	config    scenario.Scenario
	plan      *retry.Plan
	balancers []balancer
	servers   []server // by slot
	ejects    bool     // failed outcomes may change when a pool wants to be called
	l4        bool     // balancers choose for connections, not for requests
	special   bool     // requests differ in more than their key, or clients do more than send them
	down      bool     // the dependency is
	warm      lb.Time  // requests count that arrive from then on
	timeline  []moment
	view      *lb.Loads // what policies see when that is stale
	home      *home     // where keys belong; nil when nobody asks

	requests    slab[request]
	lives       slab[retry.Life]
	extras      slab[extra]  // in the requests' places, for scenarios that are special
	hashes      slab[uint64] // of requests' keys, in the requests' places, for policies that look at them
	jobs        slab[job]
	probes      slab[probe]
	spells      slab[spell]
	connections slab[connection]
	identities  slab[identity]
	users       []user
	woken       []waiter
	gone        []departure
	due         []lb.Probe

	thinking   int // clients of a closed loop that will send again
	closedLeft int // requests that they may still send
	returning  int // clients that wait before they send again what failed
	hung       int // requests that would wait for ever

	record   record
	progress progress
	limits   limits
	onSent   func(slot int, r *request) // for tests: after a choice, with what is in flight
}

func newEngine(s scenario.Scenario, algorithm string, o Options) (*engine, error) {
	plan, err := s.Plan()
	if err != nil {
		return nil, err
	}
	e := &engine{
		chance: chance(s.Seed), config: s, plan: plan, tick: lb.Never, ejects: s.OutlierConfig.On(),
		l4:   s.Layer == "l4",
		warm: lb.Time(s.Warmup), record: newRecord(s, algorithm, o), limits: standardLimits,
	}
	if o.limits != nil {
		e.limits = *o.limits
	}
	e.picks, e.services = e.chance.of(forPick, 0), e.chance.of(forService, 0)
	for _, place := range e.record.place {
		e.servers = append(e.servers, newServer(s.Backends[place]))
	}
	if err := e.newBalancers(algorithm, o); err != nil {
		return nil, err
	}
	policy, _ := pick.Find(algorithm)
	if policy.Hashes {
		e.home = newHome(s, policy)
	}
	e.arrivals = newArrivals(s, e.chance, policy.Hashes)
	e.arrivals.advance()
	e.newClients()
	e.schedule()
	return e, nil
}

// run plays until every request has its answer. What still runs then, probes
// and work that was given up, does not keep it going.
func (e *engine) run() error {
	for !e.complete() {
		e.step()
		if len(e.woken) > 0 || len(e.gone) > 0 {
			e.afterStep()
		}
		if e.steps++; e.steps%progressEvery == 0 {
			if err := e.limits.exceeded(e); err != nil {
				return err
			}
			if !e.progress.goOn(e.done()) {
				return nil
			}
		}
	}
	return nil
}

// complete says whether nobody will send anything more and everybody has an
// answer who will ever have one.
func (e *engine) complete() bool {
	return e.arrivals.next == lb.Never && e.record.settled+e.hung >= e.record.begun &&
		e.returning == 0 && (e.thinking == 0 || e.closedLeft == 0)
}

// done is the share of the run that is over.
func (e *engine) done() float64 {
	if e.config.Duration > 0 {
		return min(1, e.now.Seconds()/e.config.Duration.Seconds())
	}
	return e.record.done()
}

// step does what comes next. At the same instant answers come before what a
// pool does of itself, and that before a new request.
func (e *engine) step() {
	at := e.events.next()
	switch {
	case at <= e.tick && at <= e.arrivals.next:
		e.now = at
		if v := e.events.pop(); v.kind() == served {
			e.served(v.index, v.turn)
		} else {
			e.happen(v)
		}
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
	case retryDue:
		e.retryDue(v.index, v.turn)
	case attemptLate:
		e.attemptLate(v.index, v.turn)
	case probeLate:
		e.probeLate(v.index, v.turn)
	case queueLate, budgetLate:
		e.waitLate(v.index, v.turn)
	default:
		e.happenSeldom(v)
	}
}

func (e *engine) happenSeldom(v event) {
	switch v.kind() {
	case changeDue:
		e.timeline[v.index].do(e)
	case refreshDue:
		e.refresh()
	case clientLate:
		e.clientLate(v.index, v.turn)
	case clientSends:
		e.clientSends(v.index)
	case thinkOver:
		e.thinkOver(v.index)
	case connectionOld:
		e.connectionOld(v.index)
	}
}

// afterStep does what a step has led to: waits that ended, drains whose time
// was up.
func (e *engine) afterStep() {
	for len(e.woken) > 0 || len(e.gone) > 0 {
		e.wake()
		e.cutOff()
	}
}
