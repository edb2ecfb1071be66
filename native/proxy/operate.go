package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"minilb/core/lb"
)

// An Operation is how the proxy is operated: where its policy and backends come
// from, who may administer it, what it writes, and the layer it works at.
type Operation struct {
	Layer         string        `param:"layer" group:"layer" choices:"l7,l4" default:"l7" help:"l7 balances HTTP requests; l4 balances connections, whatever they carry"`
	IdleL4        time.Duration `param:"l4-idle-timeout" group:"layer" unit:"s" range:"0s,24h" default:"600" help:"l4: a connection on which nothing moves for so long is closed; 0 = never" advanced:"true"`
	ProxyProtocol string        `param:"proxy-protocol" group:"layer" choices:"off,v1,v2" default:"off" help:"l4: tell backends the client's address by the PROXY protocol" advanced:"true"`

	Policy      string        `param:"policy" group:"sources" help:"YAML file with these parameters by the same names; reread at each probe, when it changes and on SIGHUP; flags win over it"`
	BackendDNS  string        `param:"backend-dns" group:"sources" help:"NAME:PORT; every address that the name has is a backend"`
	DNSInterval time.Duration `param:"dns-interval" group:"sources" unit:"s" range:"100ms,24h" default:"10" help:"time between two look-ups of --backend-dns" advanced:"true"`

	Admin      string `param:"admin" group:"administration" help:"HOST:PORT of a listener for /_minilb/ alone; empty: on the clients' listener"`
	AdminToken string `param:"admin-token" group:"administration" help:"lets clients on other machines use /_minilb/ who send it as a Bearer token or as the password" advanced:"true"`
	AccessLog  string `param:"access-log" group:"administration" choices:"off,common,json" default:"off" help:"one line for each request on standard output"`
	EventLog   string `param:"event-log" group:"administration" choices:"plain,text,json" default:"plain" help:"how events are written: as lines to read, or as log/slog writes them" advanced:"true"`
}

func (o Operation) check() []error {
	var faults []error
	if o.Admin != "" {
		faults = append(faults, checkAddress("--admin", o.Admin, true))
	}
	if o.BackendDNS != "" {
		faults = append(faults, checkAddress("--backend-dns", o.BackendDNS, false))
	}
	if o.AdminToken != "" && len(o.AdminToken) < 16 {
		faults = append(faults, errors.New("--admin-token: too short to keep anybody out; accepted: 16 characters or more"))
	}
	if o.Layer == "l7" && o.ProxyProtocol != "off" {
		faults = append(faults, fmt.Errorf("--proxy-protocol %s: backends learn of the client by X-Forwarded-For; accepted: --layer l4 with it", o.ProxyProtocol))
	}
	return faults
}

func (o Operation) warnings() []string {
	var all []string
	if o.Layer == "l4" && o.Admin == "" {
		all = append(all, "--layer l4 leaves no room for /_minilb/ among the connections: set --admin to have it on a listener of its own")
	}
	if host, _, err := net.SplitHostPort(o.Admin); err == nil && o.AdminToken == "" && !isLoopback(host) {
		all = append(all, "--admin "+o.Admin+" listens to other machines and refuses all of them: set --admin-token")
	}
	return all
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// checkL4 reports what connections cannot have.
func (c Config) checkL4() []error {
	if c.Layer != "l4" {
		return nil
	}
	var faults []error
	refuse := func(flag, why string) {
		faults = append(faults, fmt.Errorf("--%s: %s; accepted: --layer l7 with it", flag, why))
	}
	if c.StickyCookie != "" {
		refuse("sticky-cookie", "a connection has no cookies (--algorithm ring_hash with --hash-on client-ip keeps clients on their backends)")
	}
	if c.TLSCert != "" || c.BackendTLS {
		refuse("tls-cert, --backend-tls", "l4 passes TLS through and has no part in it")
	}
	for _, name := range differing(c, Default()) {
		if slices.Contains(aboutRequests, name) {
			refuse(name, "it is about requests, and l4 sees connections alone")
		}
	}
	return faults
}

// aboutRequests are the parameters that nothing would come of at layer 4.
var aboutRequests = strings.Fields(`hash-on drain-sticky request-timeout response-header-timeout response-idle-timeout
	retry-buffer client-body-timeout host x-forwarded forwarded via trusted-proxies access-log`)

// masked is the configuration for other eyes.
func (c Config) masked() Config {
	if c.AdminToken != "" {
		c.AdminToken = "(set)"
	}
	return c
}

// list is the backends as core takes them.
func (c Config) list() []lb.Backend {
	all := make([]lb.Backend, len(c.Backends))
	for i, b := range c.Backends {
		all[i] = b.Backend
	}
	return all
}

// fixed are the parameters that cannot change while the proxy runs: sockets,
// and what is made with them.
var fixed = strings.Fields(`listen layer l4-idle-timeout proxy-protocol policy backend-dns dns-interval admin admin-token
	access-log event-log tls-cert tls-key backend-protocol backend-tls backend-tls-name backend-tls-ca
	connect-timeout response-header-timeout response-idle-timeout client-header-timeout client-body-timeout client-idle-timeout`)
