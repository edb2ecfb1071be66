package proxy

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"minilb/core/lb"
)

// A Resolver answers what addresses a name has. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// A discovery keeps one backend for each address that a name has. A look-up
// that fails, or finds nothing, changes nothing: the last answer stays in
// force, and the status says since when it is old. Backends that go are
// drained.
type discovery struct {
	proxy    *Proxy
	resolver Resolver
	host     string
	port     string
	interval time.Duration

	last  []lb.Backend
	state guarded[DNSStatus]
}

// A DNSStatus is what the status says about --backend-dns.
type DNSStatus struct {
	Name      string   `json:"name"`
	Resolved  *float64 `json:"resolved"`        // the last successful look-up; null before the first
	Addresses int      `json:"addresses"`       // in that answer
	Error     string   `json:"error,omitempty"` // of the last look-up; the answer before it stays in force
}

// longestLookup bounds one look-up: a resolver that does not answer must not
// delay the start for long.
const longestLookup = 5 * time.Second

func newDiscovery(p *Proxy) *discovery {
	host, port, _ := net.SplitHostPort(p.config.BackendDNS) // Check has looked
	d := &discovery{proxy: p, resolver: p.options.Resolver, host: host, port: port, interval: p.config.DNSInterval}
	if d.resolver == nil {
		d.resolver = net.DefaultResolver
	}
	d.state.value = DNSStatus{Name: p.config.BackendDNS}
	return d
}

// first looks the name up before anything listens, so that what it finds is
// there from the start.
func (d *discovery) first() []lb.Backend {
	found, err := d.lookup(context.Background())
	if err != nil {
		d.failed(err)
		return nil
	}
	d.succeeded(found)
	return found
}

func (d *discovery) run(ctx context.Context) {
	for pause(ctx, d.interval) {
		found, err := d.lookup(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			d.failed(err)
			continue
		}
		was := d.last
		d.succeeded(found)
		if err := d.proxy.changeMembers(was, found); err != nil {
			d.proxy.tell("--backend-dns: " + strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
}

func (d *discovery) lookup(ctx context.Context) ([]lb.Backend, error) {
	ctx, cancel := context.WithTimeout(ctx, longestLookup)
	defer cancel()
	found, err := d.resolver.LookupNetIP(ctx, "ip", d.host)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "lookup "))
	}
	for i := range found {
		found[i] = found[i].Unmap()
	}
	slices.SortFunc(found, netip.Addr.Compare)
	found = slices.Compact(found)
	own := len(found)
	found = slices.DeleteFunc(found, func(ip netip.Addr) bool { return d.proxy.reaches(net.JoinHostPort(ip.String(), d.port)) != "" })
	own -= len(found)
	switch {
	case len(found) == 0 && own > 0:
		return nil, fmt.Errorf("%s has no address but minilb's own", d.host)
	case len(found) == 0:
		return nil, fmt.Errorf("%s has no addresses", d.host)
	case len(found) > lb.MaxBackends/2:
		return nil, fmt.Errorf("%s has %d addresses; accepted: at most %d", d.host, len(found), lb.MaxBackends/2)
	}
	backends := make([]lb.Backend, len(found))
	for i, ip := range found {
		backends[i] = lb.Backend{Name: dnsName(ip), Address: net.JoinHostPort(ip.String(), d.port), Weight: 1}
	}
	return backends, nil
}

// dnsName names a backend after its address: 10-0-0-7. An address too long for
// a name, as IPv6's may be, is stood for by a hash of it.
func dnsName(ip netip.Addr) string {
	name := strings.Trim(strings.NewReplacer(".", "-", ":", "-", "%", "-").Replace(ip.String()), "-")
	if lb.ValidName(name) && !strings.Contains(ip.String(), "::") {
		return name
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(ip.String()))
	return fmt.Sprintf("ip-%016x", h.Sum64())
}

func (d *discovery) succeeded(found []lb.Backend) {
	d.last = found
	d.state.change(func(s *DNSStatus) {
		at := seconds(d.proxy.now())
		s.Resolved, s.Addresses, s.Error = &at, len(found), ""
	})
}

// failed says once why the answers are old.
func (d *discovery) failed(err error) {
	news := false
	d.state.change(func(s *DNSStatus) {
		news = s.Error != err.Error()
		s.Error = err.Error()
	})
	if news {
		d.proxy.tell(fmt.Sprintf("--backend-dns %s: %v; the last answer stays (%d addresses)", d.host, err, len(d.last)))
	}
}
