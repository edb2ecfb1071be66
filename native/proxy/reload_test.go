package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
)

// A fleet is backends that remember which requests they have executed, by a
// number that each request carries.
type fleet struct {
	t         testing.TB
	addresses []string
	mu        sync.Mutex
	executed  map[string]int
	by        map[string]int // by address
}

func newFleet(t testing.TB, n int) *fleet {
	f := &fleet{t: t, executed: map[string]int{}, by: map[string]int{}}
	for range n {
		f.addresses = append(f.addresses, serveHandler(t, f.serve))
	}
	return f
}

func (f *fleet) serve(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if id := r.Header.Get("X-Id"); id != "" {
		f.mu.Lock()
		f.executed[id]++
		f.by[r.Context().Value(http.LocalAddrContextKey).(fmt.Stringer).String()]++
		f.mu.Unlock()
	}
	_, _ = io.WriteString(w, "done")
}

// count is how many requests an address has executed.
func (f *fleet) count(i int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.by[f.addresses[i]]
}

// Traffic is a steady stream of requests until it is stopped.
type traffic struct {
	sent, failed atomic.Int64
	first        atomic.Value
	stop         func()
}

// under sends POSTs, which no retry may repeat, from several clients at once.
func (s *stack) under(clients int) *traffic {
	tr := &traffic{}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for ctx.Err() == nil {
				tr.send(s)
			}
		})
	}
	tr.stop = func() { cancel(); running.Wait() }
	return tr
}

func (tr *traffic) send(s *stack) {
	r, _ := http.NewRequest("POST", "http://"+s.Addr()+"/", strings.NewReader("body"))
	r.Header.Set("X-Id", strconv.FormatInt(tr.sent.Add(1), 10))
	resp, err := s.client.Do(r)
	if err == nil {
		var body []byte
		body, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err == nil && (resp.StatusCode != 200 || string(body) != "done") {
			err = fmt.Errorf("%d %s", resp.StatusCode, body)
		}
	}
	if err != nil {
		tr.failed.Add(1)
		tr.first.CompareAndSwap(nil, err)
	}
}

// reach waits until so many more requests were sent.
func (tr *traffic) reach(t testing.TB, more int64) {
	goal := tr.sent.Load() + more
	require.Eventually(t, func() bool { return tr.sent.Load() >= goal }, 30*time.Second, time.Millisecond)
}

// verify is that every request was answered and executed once.
func (tr *traffic) verify(f *fleet) {
	tr.stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	require.Zero(f.t, tr.failed.Load(), "first: %v", tr.first.Load())
	require.Len(f.t, f.executed, int(tr.sent.Load()))
	for id, n := range f.executed {
		require.Equal(f.t, 1, n, "request %s", id)
	}
}

// newPolicyStack runs a proxy by a policy file. write replaces the file as an
// editor does, and waits until the proxy has seen it.
func newPolicyStack(t testing.TB, text string, flags ...Flag) (s *stack, write func(string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	flags = append([]Flag{{"listen", "127.0.0.1:0"}}, flags...)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	c, faults := LoadPolicy(path, flags)
	require.Empty(t, faults)
	s = &stack{t: t, log: &logBuffer{}, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 20 * time.Second}}
	var err error
	s.Proxy, err = Start(c, Options{Log: s.log, Flags: flags})
	require.NoError(t, err)
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		require.Zero(t, s.Stop(), "requests cut off")
		require.Zero(t, s.pool.Counts().InFlight, "requests in flight at the end")
	})
	write = func(text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(path+"~", []byte(text), 0o600))
		require.NoError(t, os.Rename(path+"~", path))
		require.Eventually(t, func() bool {
			s.ops.reload.mu.Lock()
			defer s.ops.reload.mu.Unlock()
			return string(s.ops.reload.text) == text
		}, 10*time.Second, time.Millisecond, "not noticed")
	}
	return s, write
}

const still = "check-interval: 0\nconsecutive-5xx: 0\n"

func TestAPolicyFileIsFollowedUnderTrafficWithoutLosingARequest(t *testing.T) {
	f := newFleet(t, 4)
	b := func(i, weight int) string {
		return fmt.Sprintf("- {name: b%d, address: %s, weight: %d}\n", i+1, f.addresses[i], weight)
	}
	s, write := newPolicyStack(t, still+"backends:\n"+b(0, 1)+b(1, 1))
	tr := s.under(4)
	tr.reach(t, 100)
	steps := []string{
		"algorithm: least_conn\nbackends:\n" + b(0, 1) + b(1, 1),
		"algorithm: p2c\nbackends:\n" + b(0, 1) + b(1, 5) + b(2, 1),
		"algorithm: peak_ewma\nmax-inflight: 100\nbackends:\n" + b(1, 5) + b(2, 2),
		"algorithm: weighted_round_robin\nretries: 0\nbackends:\n" + b(0, 2) + b(2, 2),
		"algorithm: ring_hash\nhash-on: header:X-Id\nbackends:\n" + b(0, 2) + strings.Replace(b(2, 2), f.addresses[2], f.addresses[3], 1),
	}
	for _, step := range steps {
		write(still + step)
		require.Empty(t, s.status().Policy.Error)
		tr.reach(t, 300)
	}
	tr.verify(f)
	assert.Positive(t, f.count(2), "the added backend took requests")
	assert.Positive(t, f.count(3), "so did the new address")
	status := s.status()
	assert.Equal(t, "ring_hash", status.Algorithm)
	assert.Equal(t, len(steps), status.Policy.Changes)
	require.Eventually(t, func() bool { return len(s.status().Backends) == 2 }, 5*time.Second, time.Millisecond, "b2 has left")
}

func TestAnInvalidFileKeepsThePolicyAndSaysWhy(t *testing.T) {
	f := newFleet(t, 1)
	good := still + "backends: [b1=" + f.addresses[0] + "]\n"
	s, write := newPolicyStack(t, good)
	write(good + "algorithm: p2d\nfal: 2\n")
	policy := s.status().Policy
	assert.Contains(t, policy.Error, ":4:12: algorithm=p2d: unknown; accepted: ")
	assert.Contains(t, policy.Error, "did you mean p2c?")
	assert.Contains(t, policy.Error, `:5:1: "fal": unknown parameter; did you mean fall?`)
	assert.NotNil(t, policy.Failed)
	assert.Equal(t, "round_robin", s.status().Algorithm)
	_, code := s.served()
	assert.Equal(t, 200, code)
	assert.Contains(t, s.log.String(), "policy file not followed")

	write(good + "hash-on: colour\n")
	assert.Contains(t, s.status().Policy.Error, `:4:1: hash-on "colour": unknown; accepted: client-ip`)
	write(still)
	assert.Contains(t, s.status().Policy.Error, ":1:1: backend: none given")
	write(good + "algorithm: p2c\n")
	assert.Empty(t, s.status().Policy.Error)
	assert.Equal(t, "p2c", s.status().Algorithm)
	require.NoError(t, os.Remove(s.config.Policy))
	require.Eventually(t, func() bool { return strings.Contains(s.status().Policy.Error, "no such file") }, 5*time.Second, time.Millisecond)
	write(good)
	assert.Empty(t, s.status().Policy.Error)
}

func TestWhatNeedsANewStartIsSaid(t *testing.T) {
	f := newFleet(t, 1)
	good := still + "backends: [b1=" + f.addresses[0] + "]\n"
	s, write := newPolicyStack(t, good)
	write(good + "connect-timeout: 3\nretries: 2\n")
	assert.Equal(t, []string{"connect-timeout"}, s.status().Policy.Waiting)
	assert.Equal(t, 2, s.live().Retries)
	assert.Equal(t, time.Second, s.live().ConnectTimeout)
}

func TestFlagsWinOverTheFile(t *testing.T) {
	f := newFleet(t, 2)
	s, write := newPolicyStack(t, still+"algorithm: random\nbackends: [x="+f.addresses[0]+"]\n", Flag{"algorithm", "p2c"}, Flag{"backend", "y=" + f.addresses[1]})
	assert.Equal(t, "p2c", s.status().Algorithm)
	write(still + "algorithm: ring_hash\nretries: 3\n")
	assert.Equal(t, "p2c", s.status().Algorithm)
	assert.Equal(t, 3, s.live().Retries)
	assert.Equal(t, "y", s.status().Backends[0].Name)
}

func TestWhatWasDoneByHandStaysUntilTheFileSaysSomethingNew(t *testing.T) {
	f := newFleet(t, 3)
	base := still + "backends:\n- b1=" + f.addresses[0] + "\n- b2=" + f.addresses[1]
	s, write := newPolicyStack(t, base+"\n")
	s.do("POST", "/_minilb/weight?backend=b2&weight=7")
	s.do("POST", "/_minilb/backends?name=extra&address="+f.addresses[2])
	s.do("DELETE", "/_minilb/backends?backend=b1")
	write(base + "\nretries: 0\n")
	assert.Equal(t, []string{"b2:7", "extra:1"}, s.members())
	write(base + ",weight=3\nretries: 0\n")
	assert.Equal(t, []string{"b2:3", "extra:1"}, s.members())
}

func (s *stack) members() (all []string) {
	for _, b := range s.status().Backends {
		all = append(all, fmt.Sprintf("%s:%d", b.Name, b.Weight))
	}
	return all
}

func TestThresholdsChangeWithoutForgettingWhoIsOut(t *testing.T) {
	f := newFleet(t, 1)
	dead := deadAddress(t)
	text := "check-interval: 20ms\nrise: 1\nfall: 1\ncheck-path: /\nbackends: [b1=" + f.addresses[0] + ", b2=" + dead + "]\n"
	s, write := newPolicyStack(t, text)
	s.until("b2", "unhealthy")
	since := s.until("b2", "unhealthy").Since
	write(strings.Replace(text, "fall: 1", "fall: 4\ncheck-type: tcp", 1))
	assert.Equal(t, since, s.until("b2", "unhealthy").Since)
	write(strings.Replace(text, "check-interval: 20ms", "check-interval: 0", 1))
	assert.Equal(t, "healthy", s.until("b2", "healthy").State)
}

func TestReloadReadsTheFileAtOnce(t *testing.T) {
	f := newFleet(t, 1)
	good := still + "backends: [b1=" + f.addresses[0] + "]\n"
	s, _ := newPolicyStack(t, good)
	require.NoError(t, os.WriteFile(s.config.Policy, []byte(good+"algorithm: p2c\n"), 0o600))
	s.Reload()
	assert.Equal(t, "p2c", s.status().Algorithm)
}

// names is a resolver that answers what it is told to.
type names struct {
	mu    sync.Mutex
	found []string
	err   error
}

func (n *names) set(err error, found ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.found, n.err = found, err
}

func (n *names) LookupNetIP(context.Context, string, string) (all []netip.Addr, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, text := range n.found {
		all = append(all, netip.MustParseAddr(text))
	}
	return all, n.err
}

func TestDNSNamesTheBackendsAndAFailedLookUpKeepsThem(t *testing.T) {
	resolver := &names{}
	resolver.set(nil, "127.0.0.3", "::ffff:127.0.0.2", "127.0.0.2")
	c := Default()
	c.Listen, c.BackendDNS, c.DNSInterval, c.CheckInterval = "127.0.0.1:0", "backends.example:9", 10*time.Millisecond, 0
	require.NoError(t, c.Check())
	s := &stack{t: t, log: &logBuffer{}, client: &http.Client{}}
	var err error
	s.Proxy, err = Start(c, Options{Log: s.log, Resolver: resolver})
	require.NoError(t, err)
	defer s.Stop()
	defer s.client.CloseIdleConnections()
	has := func(want ...string) {
		t.Helper()
		require.Eventually(t, func() bool { return fmt.Sprint(s.members()) == fmt.Sprint(want) }, 5*time.Second, time.Millisecond, "%v", want)
	}
	has("127-0-0-2:1", "127-0-0-3:1")
	assert.Equal(t, "127.0.0.2:9", s.status().Backends[0].Address)
	resolver.set(errors.New("lookup backends.example: server misbehaving"))
	require.Eventually(t, func() bool { return s.status().DNS.Error != "" }, 5*time.Second, time.Millisecond)
	assert.Contains(t, s.log.String(), "server misbehaving; the last answer stays (2 addresses)")
	has("127-0-0-2:1", "127-0-0-3:1")
	resolver.set(nil)
	require.Eventually(t, func() bool { return strings.Contains(s.status().DNS.Error, "has no addresses") }, 5*time.Second, time.Millisecond)
	resolver.set(nil, "127.0.0.3", "127.0.0.4")
	has("127-0-0-3:1", "127-0-0-4:1")
	assert.Empty(t, s.status().DNS.Error)
}

func TestAnAddressMakesAValidName(t *testing.T) {
	seen := map[string]bool{}
	for _, text := range []string{"10.0.0.7", "::1", "::", "fe80::1%eth0", "2001:db8:1:2:3:4:5:6", "2001:db8::1", "2001:0db8:aaaa:bbbb:cccc:dddd:eeee:ffff"} {
		name := dnsName(netip.MustParseAddr(text))
		assert.True(t, lb.ValidName(name), "%s: %s", text, name)
		assert.False(t, seen[name], "%s: %s", text, name)
		seen[name] = true
	}
}

// Nothing changes in the folder that is watched: the file is behind a link.
func TestEachProbeReadsTheFileAgain(t *testing.T) {
	f := newFleet(t, 1)
	text := "check-interval: 20ms\ncheck-path: /\nbackends: [b1=" + f.addresses[0] + "]\n"
	behind := filepath.Join(t.TempDir(), "behind.yaml")
	link := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(behind, []byte(text), 0o600))
	require.NoError(t, os.Symlink(behind, link))
	c, faults := LoadPolicy(link, []Flag{{"listen", "127.0.0.1:0"}})
	require.Empty(t, faults)
	p, err := Start(c, Options{Log: &logBuffer{}, Flags: []Flag{{"listen", "127.0.0.1:0"}}})
	require.NoError(t, err)
	defer p.Stop()
	require.Eventually(t, func() bool { return p.Status().Policy.Read > 0 }, 5*time.Second, time.Millisecond)
	require.NoError(t, os.WriteFile(behind, []byte(text+"algorithm: p2c\n"), 0o600))
	require.Eventually(t, func() bool { return p.Status().Algorithm == "p2c" }, 5*time.Second, time.Millisecond)
}
