package proxy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"minilb/core/lb"
	"minilb/native/forward"
)

// operations are the parts of a proxy that let it be changed and watched while
// it runs.
type operations struct {
	settings atomic.Pointer[Config]          // in force now
	handler  atomic.Pointer[forward.Handler] // takes the next request

	mu       sync.Mutex
	handlers []*forward.Handler // the same and all before it: their requests go on

	reload    *reloader
	discovery *discovery
	meters    *meters
	admin     *adminServer
	layer4    *layer4
	housework chan struct{} // the members may have changed
}

// live is the configuration in force.
func (p *Proxy) live() *Config { return p.ops.settings.Load() }

// handler takes the next request.
func (p *Proxy) handler() *forward.Handler { return p.ops.handler.Load() }

// use lets a handler take all requests from now on.
func (o *operations) use(h *forward.Handler) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.handler.Store(h)
	o.handlers = append(o.handlers, h)
}

func (o *operations) all() []*forward.Handler {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.handlers[:len(o.handlers):len(o.handlers)]
}

// wait returns when no request is in flight, or ctx ends. A server that has
// shut down may have left some: it knows neither of upgraded connections nor of
// an HTTP/2 client's requests when that has just gone.
func (o *operations) wait(ctx context.Context) {
	for often := time.Millisecond; o.requests() > 0; often = min(2*often, 10*time.Millisecond) {
		if !pause(ctx, often) {
			return
		}
	}
}

// requests is how many requests are in flight, by whichever handler.
func (o *operations) requests() (n int) {
	var last any
	for _, h := range o.all() {
		if last != h.Budget { // handlers in a row may share one
			n += h.Budget.Requests()
		}
		last = h.Budget
	}
	return n
}

// prepare makes what the first backends need to be known with.
func (p *Proxy) prepare() {
	p.ops.settings.Store(&p.config)
	p.ops.housework = make(chan struct{}, 1)
	p.ops.meters = newMeters()
	if p.config.BackendDNS != "" {
		p.ops.discovery = newDiscovery(p)
	}
}

// equip puts the parts together. Nothing runs yet.
func (p *Proxy) equip() error {
	p.ops.meters.registry.MustRegister(poolCollector{p})
	p.ops.reload = newReloader(p)
	p.prober.probing, p.prober.seen = p.ops.reload.wake, p.ops.meters.probed
	if p.config.Layer == "l4" {
		p.ops.layer4 = newLayer4(p)
	}
	if err := p.notSelf(p.config.list()...); err != nil || p.config.Admin == "" {
		return err
	}
	admin, err := newAdminServer(p)
	p.ops.admin = admin
	return err
}

// operate runs what watches and administers until ctx ends.
func (p *Proxy) operate(ctx context.Context) {
	p.running.Go(func() { p.ops.reload.run(ctx) })
	p.running.Go(func() { p.housekeep(ctx) })
	if p.ops.discovery != nil {
		p.running.Go(func() { p.ops.discovery.run(ctx) })
	}
	if p.ops.admin != nil {
		p.running.Go(p.ops.admin.run)
	}
}

// shutdown takes no more requests or connections and waits for those there are.
func (p *Proxy) shutdown(ctx context.Context) error {
	if p.ops.layer4 != nil {
		return p.ops.layer4.shutdown(ctx)
	}
	return p.clients.shutdown(ctx)
}

// close cuts what is left.
func (o *operations) close() {
	if o.layer4 != nil {
		o.layer4.close()
	}
	if o.admin != nil {
		o.admin.close()
	}
}

// housekeep closes what rests of connections to addresses that have left. It
// is no business of the pool's lock, under which the event comes.
func (p *Proxy) housekeep(ctx context.Context) {
	known := p.tidy(nil)
	for {
		select {
		case <-p.ops.housework:
			known = p.tidy(known)
		case <-ctx.Done():
			return
		}
	}
}

// noticed is called for each event, under the pool's lock.
func (p *Proxy) noticed(e lb.Event) {
	p.journal.log(e)
	switch e.What {
	case lb.WasAdded, lb.WasRemoved, lb.Changed:
		poke(p.ops.housework)
	}
}

// Reload reads the policy file again, now.
func (p *Proxy) Reload() {
	if p.config.Policy == "" {
		p.tell("asked to read the policy again, and there is no --policy")
		return
	}
	p.ops.reload.look()
}

// AdminAddr is the address of the listener for /_minilb/; empty when it is the
// clients' and when there is none.
func (p *Proxy) AdminAddr() string {
	switch {
	case p.ops.admin != nil:
		return p.ops.admin.listener.Addr().String()
	case p.config.Layer == "l4":
		return ""
	}
	return p.Addr()
}
