package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"minilb/core/health"
	"minilb/core/lb"
)

// A prober runs the pool's active checks and wakes the pool when something
// else is due.
type prober struct {
	pool   *lb.Pool
	config health.Config
	now    func() lb.Time
	wake   chan struct{} // the pool has changed: ask it again when it wants to be called
	client *http.Client
	scheme string

	probing chan struct{}                     // poked whenever probes start; may be nil
	seen    func(backend string, passed bool) // told of each result

	mu   sync.Mutex           // guards config and last
	last map[string]lastProbe // by backend
}

// lastProbe is what the status says about a backend's latest check.
type lastProbe struct {
	at     lb.Time
	took   time.Duration
	result lb.ProbeResult
	passed bool
}

func newProber(pool *lb.Pool, c Config, secured *tls.Config, now func() lb.Time, wake chan struct{}) *prober {
	return &prober{
		pool: pool, config: c.HealthConfig, now: now, wake: wake, last: map[string]lastProbe{}, scheme: c.backendScheme(),
		client: &http.Client{
			Transport:     probeTransport(c, secured),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// probeTransport speaks as the proxy does, on a connection for each probe: a
// check should find out whether the backend still takes new ones.
func probeTransport(c Config, secured *tls.Config) *http.Transport {
	t := &http.Transport{DisableCompression: true, DialContext: dialProbe, TLSClientConfig: secured}
	if c.BackendProtocol != "h1" {
		t = newH2Transport(func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialH2(ctx, network, address, secured)
		})
	}
	t.DisableKeepAlives = true
	return t
}

// run does what the pool wants when it wants it, until ctx ends and the probes
// under way with it.
func (p *prober) run(ctx context.Context) {
	var probes sync.WaitGroup
	defer probes.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var due []lb.Probe
	for {
		now := p.now()
		p.pool.Advance(now)
		due = p.pool.Due(now, due[:0])
		for _, probe := range due {
			probes.Go(func() { p.check(ctx, probe) })
		}
		if len(due) > 0 {
			poke(p.probing)
		}
		timer.Reset(p.sleep())
		select {
		case <-timer.C:
		case <-p.wake:
		case <-ctx.Done():
			return
		}
	}
}

// sleep is how long the pool can be left alone.
func (p *prober) sleep() time.Duration {
	const long = time.Hour // nothing is due; a change of the pool wakes
	next := p.pool.Next()
	if next == lb.Never {
		return long
	}
	return min(long, max(0, next.Sub(p.now())))
}

func (p *prober) check(ctx context.Context, probe lb.Probe) {
	start, config := p.now(), p.settings()
	limited, cancel := context.WithTimeout(ctx, config.CheckTimeout)
	defer cancel()
	var r lb.ProbeResult
	if config.CheckType == "tcp" {
		r = probeTCP(limited, probe.Address)
	} else {
		r = p.probeHTTP(limited, probe.Address, config.CheckPath)
	}
	if ctx.Err() != nil {
		return // the proxy is stopping; the probe says nothing
	}
	now := p.now()
	p.pool.Probed(now, probe, r)
	passed := config.Passes(r)
	if p.seen != nil {
		p.seen(probe.Name, passed)
	}
	p.mu.Lock()
	p.last[probe.Name] = lastProbe{at: start, took: now.Sub(start), result: r, passed: passed}
	p.mu.Unlock()
	poke(p.wake)
}

// latest is a backend's last probe.
func (p *prober) latest(name string) (lastProbe, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.last[name]
	return l, ok
}

func (p *prober) close() { p.client.CloseIdleConnections() }

func dialProbe(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, dialError{err}
	}
	return conn, nil
}

func probeTCP(ctx context.Context, address string) lb.ProbeResult {
	conn, err := dialProbe(ctx, "tcp", address)
	if err != nil {
		return probeFault(err)
	}
	_ = conn.Close()
	return lb.ProbeResult{Kind: lb.Answered}
}

func (p *prober) probeHTTP(ctx context.Context, address, path string) lb.ProbeResult {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.scheme+"://"+address+path, nil)
	if err != nil {
		return lb.ProbeResult{Kind: lb.Broken, Detail: err.Error()}
	}
	r.Header.Set("User-Agent", "minilb-probe")
	resp, err := p.client.Do(r)
	if err != nil {
		return probeFault(err)
	}
	// The status decides; reading on a little spares most backends a reset.
	_, _ = io.CopyN(io.Discard, resp.Body, 4096)
	_ = resp.Body.Close()
	return lb.ProbeResult{Kind: lb.Answered, Status: resp.StatusCode}
}

func probeFault(err error) lb.ProbeResult {
	var never dialError
	switch {
	case isTimeout(err):
		return lb.ProbeResult{Kind: lb.TimedOut}
	case errors.Is(err, syscall.ECONNREFUSED):
		return lb.ProbeResult{Kind: lb.Refused}
	case errors.As(err, &never):
		return lb.ProbeResult{Kind: lb.Refused, Detail: plain(err)}
	}
	return lb.ProbeResult{Kind: lb.Broken, Detail: plain(err)}
}
