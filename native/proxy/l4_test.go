package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// l4 is a stack at layer 4, with its pages on a listener of their own.
func l4(change func(*Config)) func(*Config) {
	return func(c *Config) {
		quiet(c)
		c.Layer, c.Admin, c.ShutdownTimeout = "l4", "127.0.0.1:0", time.Second
		if change != nil {
			change(c)
		}
	}
}

// serveConns runs a backend of bare connections until the test ends.
func serveConns(t testing.TB, serve func(*net.TCPConn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer c.Close()
				serve(c.(*net.TCPConn))
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		running.Wait()
	})
	return l.Addr().String()
}

// named says its name, and then what it is told.
func named(name string) func(*net.TCPConn) {
	return func(c *net.TCPConn) {
		_, _ = io.WriteString(c, name+"\n")
		_, _ = io.Copy(c, c)
	}
}

func (s *stack) dial() *net.TCPConn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.Addr())
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	require.NoError(s.t, c.SetDeadline(time.Now().Add(10*time.Second)))
	return c.(*net.TCPConn)
}

// greeting is the first line on a connection.
func greeting(t testing.TB, c net.Conn) string {
	t.Helper()
	line, err := bufio.NewReader(io.LimitReader(c, 3)).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

func (s *stack) adminDo(method, path string) string {
	s.t.Helper()
	_, body := s.send(method, "http://"+s.AdminAddr()+"/_minilb/"+path)
	return body
}

func TestL4ChoosesOnceForEachConnection(t *testing.T) {
	s := newStackOver(t, l4(nil), serveConns(t, named("b1")), serveConns(t, named("b2")))
	for _, want := range []string{"b1", "b2", "b1"} {
		c := s.dial()
		assert.Equal(t, want, greeting(t, c))
		for i := range 3 {
			fmt.Fprintf(c, "%d\n", i)
			assert.Equal(t, fmt.Sprint(i), greeting2(t, c), "all that it carries goes there")
		}
		require.NoError(t, c.Close())
	}
}

func greeting2(t testing.TB, c net.Conn) string {
	var b [2]byte
	_, err := io.ReadFull(c, b[:])
	require.NoError(t, err)
	return strings.TrimSpace(string(b[:]))
}

func TestL4PassesTheEndOfOneDirectionOn(t *testing.T) {
	s := newStackOver(t, l4(nil), serveConns(t, func(c *net.TCPConn) {
		all, _ := io.ReadAll(c) // only an end tells it to answer
		_, _ = fmt.Fprintf(c, "%d bytes", len(all))
	}))
	c := s.dial()
	_, err := c.Write(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, c.CloseWrite())
	answer, err := io.ReadAll(c)
	require.NoError(t, err)
	assert.Equal(t, "1048576 bytes", string(answer))
}

func TestL4ClosesWhatIsIdleAndOnlyThat(t *testing.T) {
	const idle = 150 * time.Millisecond
	s := newStackOver(t, l4(func(c *Config) { c.IdleL4 = idle }), serveConns(t, named("b1")), serveConns(t, func(c *net.TCPConn) {
		for range 10 { // one direction alone keeps it
			if _, err := c.Write([]byte("x")); err != nil {
				return
			}
			time.Sleep(idle / 3)
		}
	}))
	began, silent := time.Now(), s.dial()
	require.Equal(t, "b1", greeting(t, silent))
	busy := s.dial()
	_, err := silent.Read(make([]byte, 1))
	assert.Error(t, err)
	assert.GreaterOrEqual(t, time.Since(began), idle)
	all, err := io.ReadAll(busy)
	assert.NoError(t, err)
	assert.Equal(t, "xxxxxxxxxx", string(all))
	require.Eventually(t, func() bool { return s.pool.Counts().InFlight == 0 }, 5*time.Second, time.Millisecond)
}

func TestL4DrainWaitsForConnections(t *testing.T) {
	s := newStackOver(t, l4(nil), serveConns(t, named("b1")), serveConns(t, named("b2")))
	c := s.dial()
	require.Equal(t, "b1", greeting(t, c))
	assert.Contains(t, s.adminDo("POST", "drain?backend=b1&timeout=30"), `"state": "draining"`)
	other := s.dial()
	assert.Equal(t, "b2", greeting(t, other))
	fmt.Fprint(c, "1\n")
	assert.Equal(t, "1", greeting2(t, c), "it goes on")
	assert.Len(t, s.Status().Backends, 2)
	require.NoError(t, c.Close())
	require.Eventually(t, func() bool { return len(s.Status().Backends) == 1 }, 5*time.Second, time.Millisecond)
	require.NoError(t, other.Close())
}

func TestL4EjectsByFailedConnectionsOnlyAndTriesAnother(t *testing.T) {
	broken := serveConns(t, func(c *net.TCPConn) { _, _ = io.WriteString(c, "HTTP/1.1 500\n") })
	s := newStackOver(t, l4(func(c *Config) { c.Consecutive5xx, c.BaseEjection = 2, time.Minute }), deadAddress(t), broken)
	for range 8 {
		c := s.dial()
		assert.Equal(t, "HTT", greetingRaw(t, c), "what it says is not looked at")
		require.NoError(t, c.Close())
	}
	states := map[string]string{}
	for _, b := range s.Status().Backends {
		states[b.Name] = b.State
	}
	assert.Equal(t, map[string]string{"b1": "ejected", "b2": "healthy"}, states)
}

func greetingRaw(t testing.TB, c net.Conn) string {
	var b [3]byte
	_, err := io.ReadFull(c, b[:])
	require.NoError(t, err)
	return string(b[:])
}

func TestL4ClosesAtOnceWhenNobodyIsThere(t *testing.T) {
	s := newStackOver(t, l4(nil), deadAddress(t))
	_, err := s.dial().Read(make([]byte, 1))
	assert.Error(t, err)
}

func TestL4TellsBackendsOfTheClient(t *testing.T) {
	for version, want := range map[string]string{"v1": "PROXY TCP4 127.0.0.1 127.0.0.1 ", "v2": signature + "\x21\x11\x00\x0c\x7f\x00\x00\x01\x7f\x00\x00\x01"} {
		got := make(chan string, 1)
		s := newStackOver(t, l4(func(c *Config) { c.ProxyProtocol = version }), serveConns(t, func(c *net.TCPConn) {
			head := make([]byte, len(want))
			_, _ = io.ReadFull(c, head)
			got <- string(head)
		}))
		c := s.dial()
		assert.Equal(t, want, <-got, version)
		require.NoError(t, c.Close())
	}
}

func TestProxyHeadersFollowTheSpecification(t *testing.T) {
	tcp := func(text string) net.Addr {
		a, err := net.ResolveTCPAddr("tcp", text)
		require.NoError(t, err)
		return a
	}
	cases := []struct{ version, from, to, want string }{
		{"v1", "192.0.2.1:56324", "198.51.100.2:443", "PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n"},
		{"v1", "[2001:db8::1]:1", "[2001:db8::2]:2", "PROXY TCP6 2001:db8::1 2001:db8::2 1 2\r\n"},
		{"v1", "[::ffff:192.0.2.1]:1", "192.0.2.2:2", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n"},
		{"v1", "192.0.2.1:1", "[2001:db8::2]:2", "PROXY TCP6 ::ffff:192.0.2.1 2001:db8::2 1 2\r\n"},
		{"v2", "192.0.2.1:258", "198.51.100.2:443", signature + "\x21\x11\x00\x0c\xc0\x00\x02\x01\xc6\x33\x64\x02\x01\x02\x01\xbb"},
		{"v2", "[::1]:1", "[::2]:2", signature + "\x21\x21\x00\x24" + strings.Repeat("\x00", 15) + "\x01" + strings.Repeat("\x00", 15) + "\x02\x00\x01\x00\x02"},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, string(proxyHeader(c.version, tcp(c.from), tcp(c.to))), "%s %s", c.version, c.from)
	}
	unix := &net.UnixAddr{Name: "x"}
	assert.Equal(t, "PROXY UNKNOWN\r\n", string(proxyHeader("v1", unix, unix)))
	assert.Equal(t, signature+"\x20\x00\x00\x00", string(proxyHeader("v2", unix, unix)))
}

func TestL4StopsAndSaysHowManyWereCut(t *testing.T) {
	address := serveConns(t, named("b1"))
	c := Default()
	l4(nil)(&c)
	c.Listen, c.ShutdownTimeout = "127.0.0.1:0", 50*time.Millisecond
	require.NoError(t, ptr(&c).UnmarshalText([]byte("b1="+address)))
	p, err := Start(c, Options{Log: &logBuffer{}})
	require.NoError(t, err)
	client, err := net.Dial("tcp", p.Addr())
	require.NoError(t, err)
	greeting(t, client)
	assert.Equal(t, 1, p.Stop())
	_, err = client.Read(make([]byte, 1))
	assert.Error(t, err)
	assert.Zero(t, p.pool.Counts().InFlight)
	require.NoError(t, client.Close())
}

func TestL4RefusesWhatConnectionsCannotHave(t *testing.T) {
	c := Default()
	require.NoError(t, ptr(&c).UnmarshalText([]byte("b1=127.0.0.1:1")))
	c.Layer, c.StickyCookie, c.BackendTLS = "l4", "MINILB", true
	err := c.Check()
	assert.ErrorContains(t, err, "--sticky-cookie: a connection has no cookies")
	assert.ErrorContains(t, err, "--layer l7 with it")
	assert.Contains(t, strings.Join(c.Warnings(), "\n"), "set --admin")
}
