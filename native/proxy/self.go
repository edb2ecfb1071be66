package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"minilb/core/lb"
)

// A socket is where minilb itself listens. A backend there would send each
// request round and round, and one at the admin's address would hand its pages
// to everybody.
type socket struct {
	flag string
	addr netip.AddrPort
}

// sockets are minilb's own: as bound, or as configured where that is still to
// come. A port that is still to be chosen can be nobody's backend.
func (p *Proxy) sockets() []socket {
	own := []socket{{"listen", boundTo(p.listener)}}
	switch {
	case p.ops.admin != nil:
		own = append(own, socket{"admin", boundTo(p.ops.admin.listener)})
	case p.config.Admin != "":
		if a, err := net.ResolveTCPAddr("tcp", p.config.Admin); err == nil && a.Port != 0 {
			own = append(own, socket{"admin", a.AddrPort()})
		}
	}
	return own
}

func boundTo(l net.Listener) netip.AddrPort {
	bound, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	return bound.AddrPort()
}

// notSelf refuses backends whose address is, or whose name has, an address of
// minilb's own. Names are looked up only where the port is one of its own. A
// name that cannot be found is no fault here: connecting to it will fail.
func (p *Proxy) notSelf(backends ...lb.Backend) error {
	var faults []error
	for _, b := range backends {
		if at := p.reaches(b.Address); at != "" {
			faults = append(faults, fmt.Errorf("--backend %s=%s: that is where minilb itself listens (%s), so each request would come back to it; accepted: the address of another server", b.Name, b.Address, at))
		}
	}
	return errors.Join(faults...)
}

// reaches is which of minilb's own sockets a connection to an address would
// reach, as a flag with its value; empty for none.
func (p *Proxy) reaches(address string) string {
	host, port, _ := net.SplitHostPort(address)
	for _, own := range p.sockets() {
		if port != fmt.Sprint(own.addr.Port()) {
			continue
		}
		for _, ip := range p.addresses(host) {
			if own.takes(ip) {
				return "--" + own.flag + " " + own.addr.String()
			}
		}
	}
	return ""
}

// addresses are those of a host; none when they cannot be found.
func (p *Proxy) addresses(host string) []netip.Addr {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}
	}
	resolver := cmp.Or[Resolver](p.options.Resolver, net.DefaultResolver)
	ctx, cancel := context.WithTimeout(context.Background(), longestLookup)
	defer cancel()
	found, _ := resolver.LookupNetIP(ctx, "ip", host)
	return found
}

// takes says whether a connection to an address reaches the socket, given that
// the port is right. To connect to 0.0.0.0 is to connect to this machine, and
// to listen there is to listen on all that it has.
func (s socket) takes(ip netip.Addr) bool {
	ip, at := ip.Unmap().WithZone(""), s.addr.Addr().Unmap().WithZone("")
	here := ip.IsLoopback() || ip.IsUnspecified()
	switch {
	case at.IsUnspecified():
		return here || ofThisMachine(ip)
	case ip.IsUnspecified():
		return at.IsLoopback()
	}
	return ip == at
}

func ofThisMachine(ip netip.Addr) bool {
	all, _ := net.InterfaceAddrs() // none that can be read: none that is known
	for _, a := range all {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Unmap().WithZone("") == ip {
			return true
		}
	}
	return false
}
