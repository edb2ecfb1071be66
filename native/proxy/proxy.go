package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

	Flags    []Flag    // as given on the command line; they win over Config.Policy's file
	Access   io.Writer // the access log; nil: Log
	Resolver Resolver  // of --backend-dns; nil: the system's
}

func (o Options) access() io.Writer {
	if o.Access == nil {
		return o.Log
	}
	return &lines{to: o.Access}
}

// A Proxy is a running balancer. Stop it exactly once.
type Proxy struct {
	config  Config
	options Options
	start   time.Time // lb.Time zero

	pool     *lb.Pool
	journal  *journal
	prober   *prober
	upstream upstream
	ops      operations
	clients  *clients
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
	p := &Proxy{config: c, options: o, start: time.Now(), listener: listener, journal: newJournalTo(eventLogger(o.Log, c.EventLog))}
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
	p.prepare()
	pool, err := p.newPool(p.now(), func(e lb.Event) {
		p.noticed(e)
		poke(wake) // what is due next may have changed
	})
	if err != nil {
		return err
	}
	p.pool = pool
	secured, err := p.config.backendTLS()
	if err != nil {
		return err
	}
	p.prober = newProber(pool, p.config, secured, p.now, wake)
	p.upstream = p.config.newUpstream(secured)
	h, err := p.newForward(p.config)
	if err != nil {
		return err
	}
	p.ops.use(h)
	if err = p.equip(); err != nil {
		return err
	}
	p.clients, err = newClients(p)
	return err
}

// serve takes connections until the server is shut down.
func (p *Proxy) serve() error {
	if p.ops.layer4 != nil {
		return p.ops.layer4.serve(p.listener)
	}
	return p.clients.serve(p.listener)
}

func (p *Proxy) newPool(now lb.Time, events func(lb.Event)) (*lb.Pool, error) {
	c, backends := p.config, p.config.list()
	if p.ops.discovery != nil {
		backends = append(backends, p.ops.discovery.first()...)
	}
	return c.NewPool(now, c.Algorithm, backends, scenario.Outfit{Random: rand.Uint64(), Log: events})
}

func (p *Proxy) newForward(c Config) (*forward.Handler, error) {
	plan, err := c.RetryConfig.Plan()
	if err != nil {
		return nil, err
	}
	h := &forward.Handler{
		Pool: p.pool, Plan: plan, Budget: retry.NewBudget(c.RetryConfig), Upstream: p.upstream,
		Now: p.now, Rand: rand.Uint64, Observe: p.ops.meters,
		Fields: c.Headers.fields(), StickyCookie: c.StickyCookie,
		RequestTimeout: c.RequestTimeout, BodyTimeout: c.ClientBodyTimeout, RetryBuffer: int64(c.RetryBuffer),
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
	p.operate(ctx)
	p.running.Go(func() {
		if err := p.serve(); !errors.Is(err, http.ErrServerClosed) && err != errStopped {
			p.say("stopped taking connections: %v", err)
		}
	})
}

// Addr is the address clients connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Stop takes no more connections, lets the requests in flight, and upgraded
// connections with them, end for at most the shutdown timeout, and returns how
// many were cut off then. Those have let go of their backends when it returns.
func (p *Proxy) Stop() (cut int) {
	ctx, cancel := context.WithTimeout(context.Background(), p.live().ShutdownTimeout)
	defer cancel()
	p.journal.end()
	if p.shutdown(ctx) == nil {
		p.ops.wait(ctx)
	}
	cut = p.ops.requests()
	p.clients.close()
	p.ops.close()
	p.letGo()
	p.endProbes()
	p.running.Wait()
	p.upstream.close()
	p.prober.close()
	p.journal.close()
	return cut
}

// letGoFor is how long requests that were cut off may take to notice it. Their
// connections are closed: a moment, on any machine.
const letGoFor = 5 * time.Second

// letGo waits for the requests that were cut off.
func (p *Proxy) letGo() {
	ctx, cancel := context.WithTimeout(context.Background(), letGoFor)
	defer cancel()
	p.ops.wait(ctx)
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
	p.journal.out.Info(fmt.Sprintf(format, args...))
}
