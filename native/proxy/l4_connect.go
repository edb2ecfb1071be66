package proxy

import (
	"context"
	"math/rand/v2"
	"net"
	"time"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/retry"
	"minilb/native/forward"
)

// A carriage is one client's connection on its way to a backend. For core it
// is a request: in flight for its life, and tried again when a backend does
// not take it, within --retries and the budget. Such a retry is over when a
// backend has taken the connection, so a long life fills no budget.
type carriage struct {
	*layer4
	handler *forward.Handler // the plan, the budget and the queue in force when it came
	life    retry.Life
	query   lb.Query
}

// carry joins a client to a backend for the connection's life.
func (l *layer4) carry(client net.Conn) {
	p, h := l.proxy, l.proxy.handler()
	c := &carriage{layer4: l, handler: h, life: h.Plan.Begin(h.Budget, "", lb.Never), query: l.query(client)}
	defer c.life.End()
	lease, backend, connected := c.connect()
	if backend == nil {
		return // closing at once is all that can be said at this layer
	}
	defer l.forget(l.joined, backend)
	// What is observed is the connecting. The rest is the protocol's business.
	o := lb.Outcome{Kind: lb.Answered, Status: 200, Latency: connected}
	defer func() {
		p.ops.meters.Attempted(lease, o)
		p.pool.Release(p.now(), lease, o)
	}()
	if !l.introduce(client, backend) {
		return
	}
	joinL4(client, backend, p.config.IdleL4)
}

// connect finds a backend that takes the connection. One that does not was
// sent nothing, so another may be asked.
func (c *carriage) connect() (lb.Lease, net.Conn, time.Duration) {
	p := c.proxy
	lease, err := c.acquire()
	for err == nil {
		conn, o := c.dial(lease, c.life.Sent(p.now(), lease))
		if conn != nil {
			c.life.After(p.now(), o, 0) // and a retry's room in the budget is free again
			return lease, conn, o.Latency
		}
		p.ops.meters.Attempted(lease, o)
		p.pool.Release(p.now(), lease, o)
		if !c.again(o) {
			break
		}
		c.query.Tried, c.query.Rand = c.life.Tried, rand.Uint64()
		lease, err = p.pool.Acquire(p.now(), c.query)
	}
	return lb.Lease{}, nil, 0
}

// again carries out what the connection's Life says after a failure, and says
// whether another backend is to be asked.
func (c *carriage) again(o lb.Outcome) bool {
	if o.Kind != lb.Cancelled {
		o.Kind = lb.Refused // a time-out as well: nothing was sent
	}
	now := c.proxy.now()
	action := c.life.After(now, o, rand.Uint64())
	if action.Do == retry.Queue {
		action = c.waitForBudget(action.At)
	}
	if action.Do == retry.Wait {
		return c.wait(action.At.Sub(now), nil)
	}
	return action.Do != retry.Finish
}

func (c *carriage) waitForBudget(at lb.Time) retry.Action {
	woken := make(chan struct{}, 1)
	slot := &retry.Slot{Wake: func() { woken <- struct{}{} }}
	c.handler.Budget.Enqueue(slot)
	c.wait(at.Sub(c.proxy.now()), woken)
	if c.handler.Budget.Abandon(slot) {
		return c.life.Granted(c.proxy.now(), rand.Uint64())
	}
	return c.life.Denied()
}

// acquire gets the first lease, and waits in front of a full pool when that has
// a queue. A client that leaves meanwhile is not noticed: its end is data, and
// is read when there is a backend for it.
func (c *carriage) acquire() (lb.Lease, error) {
	p := c.proxy
	lease, err := p.pool.Acquire(p.now(), c.query)
	if err != lb.ErrFull || c.handler.QueueTimeout <= 0 {
		return lease, err
	}
	woken := make(chan struct{}, 1)
	ticket := &lb.Ticket{Wake: func() { woken <- struct{}{} }}
	began := p.now()
	if full := p.pool.Enqueue(began, c.query, ticket); full != nil {
		return lb.Lease{}, full
	}
	c.wait(c.handler.QueueTimeout, woken)
	p.ops.meters.Waited(p.now().Sub(began))
	if lease, granted := p.pool.Abandon(ticket); granted {
		return lease, nil
	}
	return lb.Lease{}, lb.ErrFull
}

// wait ends after d, when woken, or when all is cut: then it is false.
func (c *carriage) wait(d time.Duration, woken <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-woken:
	case <-c.ctx.Done():
		return false
	}
	return true
}

// query is what the choice may depend on. Of what a request is hashed by, a
// connection has its client's address.
func (l *layer4) query(client net.Conn) lb.Query {
	q := lb.Query{Rand: rand.Uint64()}
	if host, _, err := net.SplitHostPort(client.RemoteAddr().String()); err == nil {
		q.Hash, q.HasKey = pick.Hash(host), true
	}
	return q
}

// dial connects to a backend, until giveUp at the latest; a nil connection
// comes with what its absence shows.
func (c *carriage) dial(lease lb.Lease, giveUp lb.Time) (net.Conn, lb.Outcome) {
	p := c.proxy
	start, limit := p.now(), p.config.ConnectTimeout
	if giveUp != lb.Never {
		limit = min(limit, giveUp.Sub(start))
	}
	ctx, cancel := context.WithTimeout(c.ctx, limit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", lease.Backend().Address)
	o := lb.Outcome{Kind: lb.Answered, Status: 200, Latency: p.now().Sub(start)}
	switch {
	case err == nil && c.remember(conn):
		return conn, o
	case err == nil || c.ctx.Err() != nil:
		o.Kind = lb.Cancelled
	case isTimeout(err):
		o.Kind = lb.TimedOut
	default:
		o.Kind = lb.Refused
	}
	return nil, o
}

// introduce tells the backend who the client is, when that is wanted.
func (l *layer4) introduce(client, backend net.Conn) bool {
	version := l.proxy.config.ProxyProtocol
	if version == "off" {
		return true
	}
	head := proxyHeader(version, client.RemoteAddr(), client.LocalAddr())
	_ = backend.SetWriteDeadline(time.Now().Add(l.proxy.config.ConnectTimeout))
	_, err := backend.Write(head)
	_ = backend.SetWriteDeadline(time.Time{})
	return err == nil
}
