package sim

import "minilb/core/lb"

// A connection is what a balancer at layer 4 balances: it goes to one backend
// with all that comes over it. Its lease lasts as long as it does, so "in
// flight" counts connections there; answers mean nothing to such a balancer,
// and of failures it sees only those of the connection.
type connection struct {
	lease    lb.Lease
	opened   lb.Time
	left     int32 // requests that it may still take
	running  int32 // requests on it
	slot     uint16
	balancer uint8
}

// carryOn sends a request over the connection that its user has open, and says
// whether there is one.
func (e *engine) carryOn(i int32, r *request) bool {
	at := e.users[r.user].connection
	if at == none {
		return false
	}
	c := e.connections.at(at)
	if e.balancers[c.balancer].down {
		return false
	}
	e.carry(i, r, at)
	return true
}

// connect opens a connection for a request. A backend that refuses it is the
// only failure that such a balancer can try again elsewhere.
func (e *engine) connect(i int32, r *request, lease lb.Lease) {
	e.sent(r, lease)
	slot := lease.Slot()
	if e.servers[slot].state == crashed {
		b := &e.balancers[r.balancer]
		e.record.sent(e.now, slot, r.counts)
		e.record.ended(e.now, slot)
		o := lb.Outcome{Kind: lb.Refused}
		b.pool.Release(e.now, lease, o)
		e.replan(b)
		r.last = refused
		e.act(i, r, e.after(r, o, e.backoff(r)))
		return
	}
	at := e.connections.take()
	*e.connections.at(at) = connection{
		lease: lease, left: int32(e.config.RequestsPerConnection), slot: uint16(slot), balancer: r.balancer, opened: e.now,
	}
	e.users[r.user].connection = at
	e.watchAge(r.user, e.now)
	e.carry(i, r, at)
}

// carry sends a request over a connection.
func (e *engine) carry(i int32, r *request, at int32) {
	c := e.connections.at(at)
	c.running++
	if c.left--; c.left == 0 {
		e.users[r.user].connection = none // the next request opens another
	}
	e.extras.at(i).connection = at
	k, j := e.job(r, lb.Lease{Start: e.now}, i, int(c.slot))
	e.dispatch(k, j, r, r.attempts <= 1)
}

// released is told how a request on a connection ended. One that the client
// gives up or that breaks takes the connection with it.
func (e *engine) released(i int32, r *request, o lb.Outcome) {
	at := e.extras.at(i).connection
	c := e.connections.at(at)
	c.running--
	if o.Kind != lb.Answered {
		e.shut(c, r.user, at)
	}
	if c.running == 0 && c.left == 0 {
		e.close(c, at, o)
	}
}

// shut lets nothing more over a connection.
func (e *engine) shut(c *connection, user, at int32) {
	c.left = 0
	if e.users[user].connection == at {
		e.users[user].connection = none
	}
}

// close tells the pool that a connection is over.
func (e *engine) close(c *connection, at int32, o lb.Outcome) {
	if o.Kind == lb.Answered {
		o.Status = 200 // the balancer does not read answers
	}
	b := &e.balancers[c.balancer]
	b.pool.Release(e.now, c.lease, o)
	if o.Failed() {
		e.replan(b)
	}
	e.connections.give(at)
}

// closeIdle closes the connections to a backend, or through a balancer, that
// nothing runs over.
func (e *engine) closeIdle(match func(*connection) bool) {
	for user := range e.users {
		at := e.users[user].connection
		if at == none || !match(e.connections.at(at)) {
			continue
		}
		e.retire(int32(user), at)
	}
}

// retire ends a user's connection: at once when nothing runs over it,
// otherwise with the last answer on it. Nobody is cut off.
func (e *engine) retire(user, at int32) {
	c := e.connections.at(at)
	e.shut(c, user, at)
	if c.running == 0 {
		e.close(c, at, lb.Outcome{Kind: lb.Cancelled})
	}
}

// watchAge has the age of a user's connection looked at when it reaches the
// lifetime. A user has one such look to come at a time, however many
// connections it opens until then: connections may be as many as requests.
func (e *engine) watchAge(user int32, opened lb.Time) {
	lifetime := e.config.KeepaliveLifetime
	if lifetime == 0 || e.users[user].watched {
		return
	}
	e.users[user].watched = true
	e.events.push(opened.Add(lifetime), connectionOld, user, 0)
}

// connectionOld retires a user's connection that has had its time, or looks
// again later when the user has opened a younger one since.
func (e *engine) connectionOld(user int32) {
	u := &e.users[user]
	u.watched = false
	if u.connection == none {
		return
	}
	if opened := e.connections.at(u.connection).opened; opened.Add(e.config.KeepaliveLifetime) > e.now {
		e.watchAge(user, opened)
		return
	}
	e.retire(user, u.connection)
}
