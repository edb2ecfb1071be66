package proxy

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
)

func portOf(address string) string { _, port, _ := net.SplitHostPort(address); return port }

func TestABackendThatIsMinilbItselfIsRefusedAtTheStart(t *testing.T) {
	for claim, c := range map[string]struct {
		listen, admin string
		backend       func(own string) string
		found         []string
		refused       string
	}{
		"by a name":                      {"127.0.0.1:0", "", func(port string) string { return "me.example:" + port }, []string{"10.0.0.9", "127.0.0.1"}, "--listen"},
		"by a name, listening anywhere":  {":0", "", func(port string) string { return "me.example:" + port }, []string{"127.0.0.7"}, "--listen"},
		"by the address of any":          {"127.0.0.1:0", "", func(port string) string { return "0.0.0.0:" + port }, nil, "--listen"},
		"by IPv4 in IPv6":                {"127.0.0.1:0", "", func(port string) string { return "[::ffff:127.0.0.1]:" + port }, nil, "--listen"},
		"another name":                   {"127.0.0.1:0", "", func(port string) string { return "you.example:" + port }, []string{"127.0.0.2"}, ""},
		"a name that cannot be found":    {"127.0.0.1:0", "", func(port string) string { return "no.example:" + port }, nil, ""},
		"the admin's listener by a name": {"127.0.0.1:0", "127.0.0.1:7", func(string) string { return "me.example:7" }, []string{"127.0.0.1"}, "--admin"},
	} {
		t.Run(claim, func(t *testing.T) {
			l, err := Listen(c.listen)
			require.NoError(t, err)
			resolver := &names{}
			resolver.set(nil, c.found...)
			config := Default()
			quiet(&config)
			config.Listen, config.Admin = c.listen, c.admin
			config.Backends = []Backend{{lb.Backend{Name: "b1", Address: c.backend(portOf(l.Addr().String())), Weight: 1}}}
			require.NoError(t, config.Check(), "the texts alone do not tell")
			p, err := StartOn(l, config, Options{Log: &logBuffer{}, Resolver: resolver})
			if c.refused == "" {
				require.NoError(t, err)
				p.Stop()
				return
			}
			assert.ErrorContains(t, err, "that is where minilb itself listens ("+c.refused)
			assert.ErrorContains(t, err, "accepted: the address of another server")
		})
	}
}

func TestAnAddressOfThisMachineIsMinilbItselfWhereItListensAnywhere(t *testing.T) {
	all, err := net.InterfaceAddrs()
	require.NoError(t, err)
	anywhere := socket{"listen", netip.MustParseAddrPort("[::]:80")}
	for _, a := range all {
		assert.True(t, anywhere.takes(netip.MustParsePrefix(a.String()).Addr()), a)
	}
	assert.False(t, anywhere.takes(netip.MustParseAddr("192.0.2.1")))
	assert.False(t, socket{"listen", netip.MustParseAddrPort("127.0.0.1:80")}.takes(netip.MustParseAddr("127.0.0.2")))
}

func TestTheAdminsListenerIsNoBackend(t *testing.T) {
	c := Default()
	c.Admin = "127.0.0.1:9901"
	require.NoError(t, ptr(&c).UnmarshalText([]byte("b1=localhost:9901")))
	assert.ErrorContains(t, c.Check(), "--backend b1=localhost:9901: that is where minilb itself listens (--admin 127.0.0.1:9901)")
	s := newStack(t, func(c *Config) { quiet(c); c.Admin = "127.0.0.1:0" }, 0)
	text := s.adminDo("POST", "backends?name=b2&address="+s.AdminAddr())
	assert.Contains(t, text, "that is where minilb itself listens (--admin ")
	text = s.adminDo("POST", "backends?name=b2&address=localhost:"+portOf(s.Addr()))
	assert.Contains(t, text, "that is where minilb itself listens (--listen ")
	assert.Len(t, s.Status().Backends, 1)
}

func TestDNSLeavesOutMinilbItself(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	require.NoError(t, err)
	resolver := &names{}
	resolver.set(nil, "127.0.0.1", "127.0.0.2")
	c := Default()
	quiet(&c)
	c.Listen, c.BackendDNS, c.DNSInterval = l.Addr().String(), "backends.example:"+portOf(l.Addr().String()), 10*time.Millisecond
	s := &stack{t: t, log: &logBuffer{}, client: &http.Client{}}
	s.Proxy, err = StartOn(l, c, Options{Log: s.log, Resolver: resolver})
	require.NoError(t, err)
	defer s.Stop()
	assert.Equal(t, []string{"127-0-0-2:1"}, s.members())
	resolver.set(nil, "127.0.0.1")
	require.Eventually(t, func() bool {
		return s.Status().DNS.Error == "backends.example has no address but minilb's own"
	}, 5*time.Second, time.Millisecond)
	assert.Equal(t, []string{"127-0-0-2:1"}, s.members())
}

func TestAPolicyFileThatNamesMinilbItselfChangesNothing(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	require.NoError(t, err)
	path := t.TempDir() + "/policy.yaml"
	good := "check-interval: 0\nbackends: [b1=127.0.0.1:9]\n"
	require.NoError(t, os.WriteFile(path, []byte(good), 0o600))
	flags := []Flag{{"listen", "127.0.0.1:0"}}
	c, faults := LoadPolicy(path, flags)
	require.Empty(t, faults)
	resolver := &names{}
	resolver.set(nil, "127.0.0.1")
	p, err := StartOn(l, c, Options{Log: &logBuffer{}, Flags: flags, Resolver: resolver})
	require.NoError(t, err)
	defer p.Stop()
	bad := "check-interval: 0\nalgorithm: p2c\nbackends: [b1=127.0.0.1:9, b2=me.example:" + portOf(p.Addr()) + "]\n"
	require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
	p.Reload()
	assert.Contains(t, p.Status().Policy.Error, "--backend b2=me.example:")
	assert.Equal(t, "round_robin", p.Status().Algorithm, "all of a file or nothing")
	assert.Len(t, p.Status().Backends, 1)
}

func TestWarningsNameWhatWillBeUneven(t *testing.T) {
	c := Default()
	c.Backends = make([]Backend, 3)
	c.Algorithm = "maglev"
	assert.Empty(t, c.Warnings())
	c.TableSize = 251
	assert.Equal(t, []string{"--table-size 251 for 3 backends: a share may be off by 1%; a prime of 300 or more keeps it within 1%"}, c.Warnings())
	c.TableSize = 2
	assert.Equal(t, []string{"--table-size 2 is smaller than the pool: 1 of 3 backends own no entry and get no request; set a prime of 300 or more"}, c.Warnings())
	c.Algorithm = "ring_hash"
	assert.Empty(t, c.Warnings())
	c.Retries, c.PerTryTimeout, c.RequestTimeout = 2, 2*time.Second, 5*time.Second
	assert.Equal(t, []string{"--per-try-timeout 2s for each of 3 attempts is 6s, more than --request-timeout 5s: a retry that would not fit is not made"}, c.Warnings())
	c.RequestTimeout = 6 * time.Second
	assert.Empty(t, c.Warnings())
}
