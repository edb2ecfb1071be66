// Package proxy is minilb on real sockets: it listens, keeps connections to
// the backends, probes them, and answers under /_minilb/ to whoever operates
// it. What it decides, core decides.
package proxy

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"minilb/core/lb"
	"minilb/core/param"
	"minilb/core/pick"
	"minilb/core/scenario"
	"minilb/native/forward"
)

// A Config is everything that `minilb serve` can be told.
type Config struct {
	Listen   string    `param:"listen" group:"addresses" default:"127.0.0.1:8080" help:"where clients connect, HOST:PORT"`
	Backends []Backend `param:"backend" group:"addresses" help:"NAME=HOST:PORT and parts such as weight=2; once for each backend"`

	Algorithm string `param:"algorithm" group:"policy" default:"round_robin" help:"the policy that chooses among the eligible backends"`
	scenario.Balancer
	Wire    `group:"protocols"`
	Headers `group:"fields that are added"`
	Times   `group:"times and sizes"`
	Operation
}

// Times are the limits that only a proxy on real sockets has.
type Times struct {
	ConnectTimeout        time.Duration `param:"connect-timeout" unit:"s" range:"1ms,10m" default:"1" help:"longest time to connect to a backend"`
	ResponseHeaderTimeout time.Duration `param:"response-header-timeout" unit:"s" range:"0s,24h" default:"30" help:"longest wait for the head of an answer after the request was sent; 0 = no limit"`
	ResponseIdleTimeout   time.Duration `param:"response-idle-timeout" unit:"s" range:"0s,24h" default:"60" help:"longest wait for a piece of an answer's body, or for a backend to take a piece of a request's; 0 = no limit"`
	RequestTimeout        time.Duration `param:"request-timeout" unit:"s" range:"0s,24h" default:"0" help:"longest time of a request with all its attempts; 0 = no limit"`
	RetryBuffer           int           `param:"retry-buffer" unit:"bytes" range:"0,1073741824" default:"65536" help:"longest request body that is kept to be sent again"`
	ClientHeaderTimeout   time.Duration `param:"client-header-timeout" unit:"s" range:"1ms,1h" default:"10" help:"longest time a client may take to send a request's head" advanced:"true"`
	ClientBodyTimeout     time.Duration `param:"client-body-timeout" unit:"s" range:"1ms,24h" default:"30" help:"longest wait for a client to send a piece of its body, or to take a piece of its answer, and for either end of an upgraded connection when the other has ended" advanced:"true"`
	ClientIdleTimeout     time.Duration `param:"client-idle-timeout" unit:"s" range:"1ms,24h" default:"60" help:"how long a client's connection is kept between two requests" advanced:"true"`
	ShutdownTimeout       time.Duration `param:"shutdown-timeout" unit:"s" range:"0s,1h" default:"10" help:"how long requests in flight may take to end when the proxy is stopped" advanced:"true"`
}

// ParamChoices names the policies for menus and messages.
func (Config) ParamChoices(name string) []string {
	if name == "algorithm" {
		return pick.Names()
	}
	return nil
}

// Params is the schema over the configuration's fields.
func (c *Config) Params() *param.Set { return param.Of(c) }

// Default is the configuration that no flag has changed. It has no backends.
func Default() Config {
	var c Config
	c.Params().Reset(param.Serve)
	return c
}

// ErrNoBackends is the fault of a configuration without any.
var ErrNoBackends = errors.New("--backend: none given; accepted: NAME=HOST:PORT, such as --backend b1=127.0.0.1:9001, once for each backend")

// Check reports everything that no range of a single parameter can say, each
// fault on a line of its own.
func (c Config) Check() error { return errors.Join(c.Faults()...) }

// Faults is Check, fault by fault.
func (c Config) Faults() []error {
	var all []error
	for _, err := range slices.Concat(
		[]error{checkAddress("--listen", c.Listen, true), asFlag(c.Balancer.Check())}, c.checkBackends(), c.checkNames(), c.Wire.check(), c.Operation.check(), c.checkL4(),
	) {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// asFlag puts faults in the notation of the command line.
func asFlag(err error) error {
	var faults scenario.Faults
	var fault *param.Error
	switch {
	case errors.As(err, &faults):
		return errors.New(faults.Flag())
	case errors.As(err, &fault):
		return errors.New(fault.Flag())
	}
	return err
}

func (c Config) checkBackends() []error {
	if len(c.Backends) == 0 && c.BackendDNS == "" {
		return []error{ErrNoBackends}
	}
	var faults []error
	if len(c.Backends) > lb.MaxBackends {
		faults = append(faults, fmt.Errorf("--backend: %d given; accepted: at most %d", len(c.Backends), lb.MaxBackends))
	}
	seen := map[string]bool{}
	for _, b := range c.Backends {
		if seen[b.Name] {
			faults = append(faults, fmt.Errorf("--backend %s: the name is taken; accepted: a name for each backend, used once", b))
		}
		seen[b.Name] = true
		if own := c.own(b.Address); own != "" {
			faults = append(faults, fmt.Errorf("--backend %s: that is where minilb itself listens (%s), so each request would come back to it; accepted: the address of another server", b, own))
		}
	}
	return faults
}

// own is the flag by which minilb itself listens at an address, as far as the
// texts tell; empty for none. What names stand for is looked up at the start.
func (c Config) own(address string) string {
	switch {
	case c.Listen != "" && sameSocket(address, c.Listen):
		return "--listen " + c.Listen
	case c.Admin != "" && sameSocket(address, c.Admin):
		return "--admin " + c.Admin
	}
	return ""
}

// sameSocket says whether connecting to one address reaches a listener on the
// other, as far as the texts tell: names are not looked up.
func sameSocket(dial, listen string) bool {
	host, port, _ := net.SplitHostPort(dial)
	at, atPort, _ := net.SplitHostPort(listen)
	if port != atPort || port == "0" {
		return false
	}
	everywhere := at == "" || at == "0.0.0.0" || at == "::"
	return host == at || isLoopback(host) && (everywhere || at == "localhost" || host == "localhost" && isLoopback(at))
}

func (c Config) checkNames() []error {
	var faults []error
	if _, err := forward.ParseKey(c.HashOn); err != nil {
		faults = append(faults, fmt.Errorf("--hash-on %.60q: %w", c.HashOn, err))
	}
	if !validCookieName(c.StickyCookie) {
		faults = append(faults, fmt.Errorf("--sticky-cookie %.60q: not a cookie's name; accepted: letters, digits and !#$%%&'*+-.^_`|~", c.StickyCookie))
	}
	if !strings.HasPrefix(c.CheckPath, "/") || strings.ContainsAny(c.CheckPath, " \t\r\n") {
		faults = append(faults, fmt.Errorf("--check-path %.60q: not a path; accepted: one that begins with / and has no spaces", c.CheckPath))
	}
	return faults
}

func validCookieName(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~") == ""
}

// Warnings are what is allowed and hardly meant.
func (c Config) Warnings() []string {
	var all []string
	if c.CheckInterval == 0 && !c.OutlierConfig.On() {
		all = append(all, "active checks and ejection are both off: a failing backend keeps its share; set --check-interval or --consecutive-5xx")
	}
	if w := c.OutlierConfig.Warning(len(c.Backends)); w != "" {
		all = append(all, w)
	}
	all = append(all, c.tableWarning()...)
	if least := c.PerTryTimeout * time.Duration(c.Retries+1); c.RequestTimeout > 0 && least > c.RequestTimeout {
		all = append(all, fmt.Sprintf("--per-try-timeout %s for each of %d attempts is %s, more than --request-timeout %s: a retry that would not fit is not made",
			c.PerTryTimeout, c.Retries+1, least, c.RequestTimeout))
	}
	return append(all, c.Operation.warnings()...)
}

// tableWarning is about a maglev table that is small for its backends: each
// owns its entries to within one, so a hundred of them are a share to within
// one percent (the paper's own choice, section 5.3).
func (c Config) tableWarning() []string {
	n := len(c.Backends)
	switch {
	case c.Algorithm != "maglev":
	case c.TableSize < n:
		return []string{fmt.Sprintf("--table-size %d is smaller than the pool: %d of %d backends own no entry and get no request; set a prime of %d or more", c.TableSize, n-c.TableSize, n, 100*n)}
	case c.TableSize < 100*n:
		return []string{fmt.Sprintf("--table-size %d for %d backends: a share may be off by %.0f%%; a prime of %d or more keeps it within 1%%", c.TableSize, n, 100*float64(n)/float64(c.TableSize), 100*n)}
	}
	return nil
}

// A Backend is one backend on the command line: NAME=HOST:PORT[,weight=N].
type Backend struct{ lb.Backend }

// UnmarshalText reads NAME=HOST:PORT[,weight=N].
func (b *Backend) UnmarshalText(text []byte) error {
	first, rest, more := strings.Cut(string(text), ",")
	name, address, found := strings.Cut(first, "=")
	if !found {
		return errors.New("no address; accepted: NAME=HOST:PORT, such as b1=127.0.0.1:9001")
	}
	fresh := lb.Backend{Name: name, Address: address, Weight: 1}
	if err := checkAddress("", address, false); err != nil {
		return err
	}
	if more {
		if err := readParts(&fresh, rest); err != nil {
			return err
		}
	}
	if err := fresh.Check(); err != nil {
		return err
	}
	b.Backend = fresh
	return nil
}

func readParts(b *lb.Backend, text string) error {
	given := false
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		if name != "weight" {
			return fmt.Errorf("unknown part %.32q; accepted: weight=1 to weight=%d", part, lb.MaxWeight)
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("weight %.32q: not a whole number; accepted: 1 to %d", value, lb.MaxWeight)
		}
		if n < 1 || n > lb.MaxWeight {
			return fmt.Errorf("weight %d outside 1 to %d", n, lb.MaxWeight)
		}
		if given {
			return errors.New("weight is given twice; accepted: each part once")
		}
		b.Weight, given = n, true
	}
	return nil
}

// MarshalText writes what UnmarshalText reads.
func (b Backend) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// String is the backend as on the command line.
func (b Backend) String() string {
	text := b.Name + "=" + b.Address
	if b.Weight != 1 {
		text += ",weight=" + strconv.Itoa(b.Weight)
	}
	return text
}

// checkAddress reports an address that is not HOST:PORT. To listen, the host
// may be empty and the port 0.
func checkAddress(flag, address string, listen bool) error {
	host, port, err := net.SplitHostPort(address)
	n, notNumber := strconv.Atoi(port)
	least := 1
	if listen {
		least = 0
	}
	var problem string
	switch {
	case err != nil && !strings.Contains(address, ":"):
		problem = "without a port"
	case err != nil:
		problem = "not HOST:PORT"
	case host == "" && !listen:
		problem = "without a host"
	case strings.ContainsAny(host, " /\\@?#") || strings.Contains(address, "://"):
		problem = "not HOST:PORT"
	case notNumber != nil || !(least <= n && n <= 65535):
		problem = fmt.Sprintf("its port is not %d to 65535", least)
	default:
		return nil
	}
	if flag != "" {
		return fmt.Errorf("%s %.60q: %s; accepted: HOST:PORT, such as 127.0.0.1:8080", flag, address, problem)
	}
	return fmt.Errorf("address %.60q: %s; accepted: NAME=HOST:PORT[,weight=N], such as b1=127.0.0.1:9001", address, problem)
}
