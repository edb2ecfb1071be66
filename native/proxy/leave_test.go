package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
)

// quietAndBlameless says that nothing is in flight and no failure was counted.
func (s *stack) quietAndBlameless() {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return s.pool.Counts().InFlight == 0 }, 10*time.Second, time.Millisecond)
	for _, b := range s.pool.Status(s.now()) {
		assert.Zero(s.t, b.Failures, b.Name)
	}
}

func TestClientThatLeavesInTheMiddleIsNoFailureOfTheBackend(t *testing.T) {
	for claim, protocol := range map[string]string{"over HTTP/1.1": "h1", "over HTTP/2": "h2c"} {
		t.Run(claim, func(t *testing.T) {
			started, ended := make(chan struct{}, 2), make(chan error, 2)
			handler := func(w http.ResponseWriter, r *http.Request) {
				started <- struct{}{}
				if r.Method == "PUT" {
					_, err := io.Copy(io.Discard, r.Body)
					ended <- err
					return
				}
				_, err := io.Copy(w, &zeros{1 << 40})
				ended <- err
			}
			address := serveHandler(t, handler)
			if protocol == "h2c" {
				address = serveH2C(t, handler)
			}
			s := newStackOver(t, func(c *Config) { quiet(c); c.BackendProtocol = protocol }, address)
			for _, text := range []string{
				"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat("x", 50_000),
				"PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
				"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
			} {
				c := s.raw(text)
				<-started
				require.NoError(t, c.Close())
				assert.Error(t, <-ended, "the backend learns of it")
				s.quietAndBlameless()
			}
		})
	}
}

// A watched listener tells when the proxy waits for more than its clients have
// sent.
type watched struct {
	net.Listener
	sent  int           // bytes, by each client
	waits chan struct{} // once for each client
}

func (w *watched) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	return &watchedConn{Conn: conn, of: w}, err
}

type watchedConn struct {
	net.Conn
	of   *watched
	read int
}

// Read is called by one at a time.
func (c *watchedConn) Read(p []byte) (int, error) {
	if c.read == c.of.sent {
		c.of.waits <- struct{}{}
	}
	n, err := c.Conn.Read(p)
	c.read += n
	return n, err
}

func TestRetryDoesNotWaitForAClientThatIsStillSending(t *testing.T) {
	const half = "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"
	waits := make(chan struct{}, 8)
	busy := serveWire(t, func(conn net.Conn, in *bufio.Reader) {
		readHead(in)
		_, _ = io.ReadFull(in, make([]byte, 9)) // the chunk
		<-waits                                 // the proxy reads on
		_, _ = io.WriteString(conn, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy")
		readHead(in)
	})
	c := Default()
	quiet(&c)
	c.Listen = "127.0.0.1:0"
	for _, name := range []string{"b1", "b2"} {
		c.Backends = append(c.Backends, Backend{lb.Backend{Name: name, Address: busy, Weight: 1}})
	}
	listener, err := Listen(c.Listen)
	require.NoError(t, err)
	p, err := StartOn(&watched{listener, len(half), waits}, c, Options{Log: io.Discard})
	require.NoError(t, err)
	s := &stack{t: t, Proxy: p}
	for range 2 {
		c := s.raw(half)
		r, body := c.answer()
		assert.Equal(t, 503, r.StatusCode)
		assert.Equal(t, "busy", body)
		assert.Equal(t, "not retried: the client was still sending its body", r.Header.Get("x-minilb-note"))
		c.ended()
	}
	assert.Zero(t, s.Stop())
}

// TestEarlyAnswerIsNotLostWhileTheClientSends: a connection that is closed with
// bytes unread is reset, and takes the answer with it.
func TestEarlyAnswerIsNotLostWhileTheClientSends(t *testing.T) {
	s := newStackOver(t, quiet, serveWire(t, func(conn net.Conn, in *bufio.Reader) {
		readHead(in)
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\n\r\nmuch")
		readHead(in)
	}))
	for range 5 {
		c := s.raw("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n")
		for range 10 {
			if _, err := fmt.Fprint(c, strings.Repeat("x", 10_000)); err != nil {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
		r, body := c.answer()
		assert.Equal(t, 413, r.StatusCode)
		assert.Equal(t, "much", body)
	}
	s.quietAndBlameless()
}

func TestBodyGoesOnAfterARefusedConnectionWhateverItsSize(t *testing.T) {
	s := newStackOver(t, quiet, deadAddress(t), serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n, err)
	}))
	for _, size := range []int64{1, 16 << 10, 16<<10 + 1, 1 << 20} {
		for range 2 {
			r, err := http.NewRequest("POST", "http://"+s.Addr(), io.LimitReader(&zeros{1 << 40}, size))
			require.NoError(t, err)
			r.ContentLength = size
			resp, err := s.client.Do(r)
			assert.Equal(t, fmt.Sprint(size, " <nil>"), body(t, resp, err))
		}
	}
}
