package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/retry"
	"minilb/core/scenario"
	"minilb/native/forward"
)

// Options are what a proxy needs from its surroundings.
type Options struct {
	Log     io.Writer // event lines
	Play    fs.FS     // the built playground; nil: none
	Version string
}

// A Proxy is a running balancer. Stop it exactly once.
type Proxy struct {
	config  Config
	options Options
	start   time.Time // lb.Time zero

	pool     *lb.Pool
	journal  *journal
	prober   *prober
	upstream *upstream
	forward  *forward.Handler
	server   *http.Server
	listener net.Listener

	endProbes context.CancelFunc
	running   sync.WaitGroup
}

// Start listens and begins to forward. When it returns an error nothing is
// left running. The configuration must have passed its Check.
func Start(c Config, o Options) (*Proxy, error) {
	listener, err := Listen(c.Listen)
	if err != nil {
		return nil, err
	}
	return StartOn(listener, c, o)
}

// StartOn is Start with a listener that is there already; the proxy owns it.
func StartOn(listener net.Listener, c Config, o Options) (*Proxy, error) {
	o.Log = &lines{to: o.Log}
	p := &Proxy{config: c, options: o, start: time.Now(), listener: listener, journal: newJournal(o.Log)}
	if err := p.assemble(); err != nil {
		p.journal.close()
		_ = listener.Close()
		return nil, err
	}
	p.run()
	return p, nil
}

// Listen binds an address, and says which one it was when it cannot.
func Listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %s", address, plain(err))
	}
	return l, nil
}

func (p *Proxy) now() lb.Time { return lb.Time(time.Since(p.start)) }

// assemble puts the parts together. Nothing runs yet.
func (p *Proxy) assemble() error {
	wake := make(chan struct{}, 1)
	pool, err := p.config.newPool(p.now(), func(e lb.Event) {
		p.journal.log(e)
		poke(wake) // what is due next may have changed
	})
	if err != nil {
		return err
	}
	p.pool = pool
	p.prober = newProber(pool, p.config.HealthConfig, p.now, wake)
	p.upstream = newUpstream(p.config.Times)
	p.forward, err = p.newForward()
	p.server = &http.Server{
		Handler:           p.front(),
		ReadHeaderTimeout: p.config.ClientHeaderTimeout,
		IdleTimeout:       p.config.ClientIdleTimeout,
		ErrorLog:          log.New(p.options.Log, "[minilb] ", 0),
	}
	return err
}

func (c Config) newPool(now lb.Time, events func(lb.Event)) (*lb.Pool, error) {
	backends := make([]lb.Backend, len(c.Backends))
	for i, b := range c.Backends {
		backends[i] = b.Backend
	}
	return c.NewPool(now, c.Algorithm, backends, scenario.Outfit{Random: rand.Uint64(), Log: events})
}

func (p *Proxy) newForward() (*forward.Handler, error) {
	c := p.config
	plan, err := c.RetryConfig.Plan()
	if err != nil {
		return nil, err
	}
	h := &forward.Handler{
		Pool: p.pool, Plan: plan, Budget: retry.NewBudget(c.RetryConfig), Upstream: p.upstream,
		Now: p.now, Rand: rand.Uint64,
		StickyCookie: c.StickyCookie, RequestTimeout: c.RequestTimeout, RetryBuffer: int64(c.RetryBuffer),
	}
	if c.Queue > 0 {
		h.QueueTimeout = c.QueueTimeout
	}
	if policy, _ := pick.Find(c.Algorithm); policy.Hashes {
		h.Key, err = forward.ParseKey(c.HashOn)
	}
	return h, err
}

func (p *Proxy) run() {
	ctx, cancel := context.WithCancel(context.Background())
	p.endProbes = cancel
	p.running.Go(func() { p.prober.run(ctx) })
	p.running.Go(func() {
		if err := p.server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
			p.say("stopped taking connections: %v", err)
		}
	})
}

// Addr is the address clients connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Stop takes no more connections, lets the requests in flight end for at most
// the shutdown timeout, and returns how many were cut off then.
func (p *Proxy) Stop() (cut int) {
	ctx, cancel := context.WithTimeout(context.Background(), p.config.ShutdownTimeout)
	defer cancel()
	if p.server.Shutdown(ctx) != nil {
		cut = p.forward.Budget.Requests()
		_ = p.server.Close()
	}
	p.endProbes()
	p.running.Wait()
	p.upstream.close()
	p.prober.close()
	p.journal.close()
	return cut
}

// lines lets several goroutines write to one place, a whole line at a time.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(line)
}

// say prints a line that is not about a backend.
func (p *Proxy) say(format string, args ...any) {
	fmt.Fprintf(p.options.Log, "[minilb] "+format+"\n", args...)
}
