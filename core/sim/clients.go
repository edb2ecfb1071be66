package sim

import (
	"time"

	"minilb/core/lb"
	"minilb/core/retry"
	"minilb/core/stat"
)

// A user is somebody whom requests come from again and again.
type user struct {
	backend    int32 // that the user's cookie names; none without one
	connection int32 // that is open, at layer 4; none without one
	watched    bool  // its connection's age will be looked at
}

// An identity is a request that must not be executed twice. It outlives the
// request, for work that was given up may still be done.
type identity struct {
	holders  int32 // the request and its jobs
	executed int32
	counts   bool
}

// newClients prepares whatever the clients do beyond sending requests.
func (e *engine) newClients() {
	s := &e.config
	loop := s.Arrivals == "closed"
	e.special = e.l4 || loop || len(e.balancers) > 1 || s.PostShare > 0 || s.ClientTimeout > 0 || s.ClientRetries > 0 ||
		s.StickyShare > 0 || s.BalancerDown.On() || e.arrivals.trace != nil
	if n := s.Users; e.l4 || loop || s.StickyShare > 0 {
		if loop {
			n = s.ClientCount
		}
		e.users = make([]user, n)
		for i := range e.users {
			e.users[i] = user{backend: none, connection: none}
		}
	}
	if !loop {
		return
	}
	e.closedLeft = s.Requests
	if s.Duration > 0 {
		e.closedLeft = 1<<31 - 1
	}
	for i := range e.users {
		e.thinking++
		e.events.push(e.thought(uint64(i), 1), thinkOver, int32(i), 0)
	}
}

// thought is how long a client thinks.
func (e *engine) thought(index, attempt uint64) lb.Time {
	return lb.Time(stat.Exponential(e.chance.word(forThink, index, attempt)) * float64(e.config.Think))
}

// thinkOver lets a client of a closed loop send its next request.
func (e *engine) thinkOver(client int32) {
	e.thinking--
	if e.closedLeft == 0 || e.config.Duration > 0 && e.now >= lb.Time(e.config.Duration) {
		e.closedLeft = 0
		return
	}
	e.closedLeft--
	e.arrivals.drawn++
	e.begin(uint32(e.arrivals.drawn-1), client)
}

// dress gives a request what only some scenarios ask for: a balancer, a user,
// a method, a client with a watch.
func (e *engine) dress(i int32, r *request) (method string) {
	if len(e.balancers) > 1 {
		r.balancer = e.dealt(r)
	}
	if e.users != nil && r.user == none {
		r.user = int32(stat.Below(e.chance.word(forUser, uint64(r.number), 0), len(e.users)))
	}
	method = e.method(r.number)
	if r.try == 0 && !retry.Idempotent(method) {
		id := e.identities.take()
		*e.identities.at(id) = identity{holders: 1, counts: r.counts}
		e.extras.at(i).identity = id
	}
	if r.try > 0 && r.counts {
		e.record.clientRetries++
	}
	if e.config.ClientTimeout > 0 {
		e.events.push(e.now.Add(e.config.ClientTimeout), clientLate, i, r.turn)
	}
	return method
}

func (e *engine) method(number uint32) string {
	if e.arrivals.trace != nil && e.arrivals.trace[number].Method != "" {
		return e.arrivals.trace[number].Method
	}
	if share := e.config.PostShare; share > 0 && stat.Unit(e.chance.word(forMethod, uint64(number), 0)) < share {
		return "POST"
	}
	return "GET"
}

// cookie is the backend that a request's cookie names, or nothing.
func (e *engine) cookie(r *request) string {
	if e.users == nil {
		return ""
	}
	if slot := e.users[r.user].backend; slot != none {
		return e.record.names[slot]
	}
	return ""
}

// sticky says whether a user keeps cookies.
func (e *engine) sticky(user int32) bool {
	return stat.Unit(e.chance.word(forCookie, uint64(user), 0)) < e.config.StickyShare
}

// clientLate lets a client that has waited long enough leave.
func (e *engine) clientLate(i int32, turn uint32) {
	if r := e.requests.at(i); r.turn == turn {
		e.leave(i, r, timedOut)
	}
}

// leave ends a request whose client has gone, wherever it is.
func (e *engine) leave(i int32, r *request, why failure) {
	switch r.wait {
	case onJob:
		e.leaveJob(i, r)
	case onPool:
		e.leavePool(r)
	case onBudget:
		e.leaveBudget(r)
	}
	r.last = why
	e.finish(i, r)
}

// leaveJob takes a request from its backend, of which that says nothing.
func (e *engine) leaveJob(i int32, r *request) {
	k := r.at
	j := e.jobs.at(k)
	e.detach(j)
	o := lb.Outcome{Kind: lb.Cancelled, Latency: e.now.Sub(j.lease.Start)}
	if e.l4 {
		e.released(i, r, o)
	} else {
		e.balancers[r.balancer].pool.Release(e.now, j.lease, o)
	}
	e.abandon(k, j)
}

// again lets a client do what it does after a request: send it again, keep the
// cookie, think. It says whether the request goes on.
func (e *engine) again(i int32, r *request) bool {
	if r.last != fine && int(r.try) < e.config.ClientRetries {
		r.wait = onClient
		e.returning++
		e.events.push(e.now.Add(e.clientBackoff(r)), clientSends, i, 0)
		return true
	}
	if r.last == fine && e.config.StickyShare > 0 && e.sticky(r.user) {
		e.users[r.user].backend = int32(r.slot)
	}
	if id := e.identity(i); id != none {
		e.forget(id)
	}
	if e.config.Arrivals == "closed" && e.closedLeft > 0 {
		e.think(r)
	}
	return false
}

// atLeast keeps a client that is refused at once from asking for ever at the
// same instant.
const atLeast = lb.Time(time.Millisecond)

func (e *engine) think(r *request) {
	wait := e.thought(uint64(r.number), 0)
	if r.arrived == e.now {
		wait = max(wait, atLeast)
	}
	e.thinking++
	e.events.push(e.now+wait, thinkOver, r.user, 0)
}

// clientBackoff is how long a client waits before it sends a request again.
func (e *engine) clientBackoff(r *request) time.Duration {
	base := e.config.ClientBackoff
	if base == 0 {
		return 0
	}
	word := e.chance.word(forClientBackoff, uint64(r.number), uint64(r.try))
	return time.Duration(stat.Unit(word) * float64(base<<r.try))
}

// clientSends lets a client send a request again.
func (e *engine) clientSends(i int32) {
	e.returning--
	r := e.requests.at(i)
	r.try++
	r.wait = onPool
	e.open(i, r)
}

// identity is a request's, none unless its executions are counted.
func (e *engine) identity(i int32) int32 {
	if !e.special {
		return none
	}
	return e.extras.at(i).identity
}

// executed counts that a job which must not be done twice was done.
func (e *engine) executed(j *job) {
	id := e.identities.at(j.identity)
	if id.executed++; id.executed > 1 && id.counts {
		e.record.duplicates++
	}
}

// forget ends one holder's interest in an identity.
func (e *engine) forget(i int32) {
	id := e.identities.at(i)
	if id.holders--; id.holders == 0 {
		e.identities.give(i)
	}
}
