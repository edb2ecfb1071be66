package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serveWebSocket runs a backend by the library. f has each connection for its
// life.
func serveWebSocket(t testing.TB, f func(context.Context, *websocket.Conn)) string {
	return serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{
			Subprotocols: []string{"chat"}, CompressionMode: websocket.CompressionContextTakeover, InsecureSkipVerify: true,
		})
		if err != nil {
			return // the library has answered
		}
		defer func() { _ = c.CloseNow() }()
		c.SetReadLimit(8 << 20)
		f(within(t), c)
	})
}

// webSocket is a connection by the library.
func (s *stack) webSocket(options *websocket.DialOptions) *websocket.Conn {
	s.t.Helper()
	c, r, err := websocket.Dial(within(s.t), "ws://"+s.Addr()+"/chat", options)
	require.NoError(s.t, err)
	assert.NotEmpty(s.t, r.Header.Get("x-minilb-backend"))
	s.t.Cleanup(func() { _ = c.CloseNow() })
	c.SetReadLimit(8 << 20)
	return c
}

// leave closes a connection and waits until nothing of it is left.
func (s *stack) leave(c *websocket.Conn) {
	s.t.Helper()
	require.NoError(s.t, c.Close(websocket.StatusNormalClosure, ""))
	s.settled()
}

// settled waits until nothing is in flight.
func (s *stack) settled() {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return s.ops.requests() == 0 && s.pool.Counts().InFlight == 0 }, 10*time.Second, time.Millisecond)
}

// echo returns every message until the client has had enough.
func echo(ctx context.Context, c *websocket.Conn) {
	for {
		kind, text, err := c.Read(ctx)
		if err != nil || c.Write(ctx, kind, text) != nil {
			return
		}
	}
}

func say(t testing.TB, c *websocket.Conn, text string) {
	t.Helper()
	require.NoError(t, c.Write(within(t), websocket.MessageText, []byte(text)))
}

func heard(t testing.TB, c *websocket.Conn) string {
	t.Helper()
	_, text, err := c.Read(within(t))
	require.NoError(t, err)
	return string(text)
}

func TestWebSocketMessagesOfEverySizePass(t *testing.T) {
	s := newStackOver(t, quiet, serveWebSocket(t, echo))
	for _, mode := range []websocket.CompressionMode{websocket.CompressionDisabled, websocket.CompressionContextTakeover, websocket.CompressionNoContextTakeover} {
		c := s.webSocket(&websocket.DialOptions{CompressionMode: mode, Subprotocols: []string{"other", "chat"}})
		assert.Equal(t, "chat", c.Subprotocol())
		for _, size := range []int{0, 1, 125, 126, 65535, 65536, 4 << 20} {
			message := bytes.Repeat([]byte("\x00\xff"), (size+1)/2)[:size]
			require.NoError(t, c.Write(within(t), websocket.MessageBinary, message))
			kind, back, err := c.Read(within(t))
			require.NoError(t, err)
			assert.Equal(t, websocket.MessageBinary, kind)
			assert.True(t, bytes.Equal(message, back), "%d bytes", size)
		}
		s.leave(c)
	}
	s.quietAndBlameless()
}

// TestWebSocketMessageArrivesBeforeItsEnd: a message in several frames is not
// held back until it is whole.
func TestWebSocketMessageArrivesBeforeItsEnd(t *testing.T) {
	s := newStackOver(t, quiet, serveWebSocket(t, func(ctx context.Context, c *websocket.Conn) {
		_, message, err := c.Reader(ctx)
		if err == nil {
			_, err = io.ReadFull(message, make([]byte, 4096))
		}
		if err == nil && c.Write(ctx, websocket.MessageText, []byte("begun")) == nil {
			n, _ := io.Copy(io.Discard, message)
			_ = c.Write(ctx, websocket.MessageText, fmt.Append(nil, 4096+n))
		}
		echo(ctx, c) // until the end
	}))
	c := s.webSocket(nil)
	out, err := c.Writer(within(t), websocket.MessageText)
	require.NoError(t, err)
	for range 2 {
		_, err = out.Write(make([]byte, 20_000)) // more than the library keeps to itself
		require.NoError(t, err)
	}
	assert.Equal(t, "begun", heard(t, c))
	require.NoError(t, out.Close())
	assert.Equal(t, "40000", heard(t, c))
	s.leave(c)
}

func TestWebSocketPingsAreAnsweredByTheOtherEnd(t *testing.T) {
	answered := make(chan error, 1)
	s := newStackOver(t, quiet, serveWebSocket(t, func(ctx context.Context, c *websocket.Conn) {
		ctx = c.CloseRead(ctx) // reads, so that pongs are noticed
		answered <- c.Ping(ctx)
		<-ctx.Done()
	}))
	c := s.webSocket(nil)
	c.CloseRead(within(t))
	require.NoError(t, <-answered, "the backend's ping")
	require.NoError(t, c.Ping(within(t)), "the client's ping")
	s.leave(c)
}

func TestWebSocketClosesWithTheCodeOfWhoeverCloses(t *testing.T) {
	got := make(chan error, 1)
	s := newStackOver(t, quiet, serveWebSocket(t, func(ctx context.Context, c *websocket.Conn) {
		_, text, err := c.Read(ctx)
		if err == nil && string(text) == "leave" {
			err = c.Close(4002, "the backend's reason")
		}
		got <- err
	}))
	c := s.webSocket(nil)
	require.NoError(t, c.Close(4001, "the client's reason"))
	assert.Equal(t, websocket.CloseError{Code: 4001, Reason: "the client's reason"}, closing(t, <-got))
	c = s.webSocket(nil)
	say(t, c, "leave")
	_, _, err := c.Read(within(t))
	assert.Equal(t, websocket.CloseError{Code: 4002, Reason: "the backend's reason"}, closing(t, err))
	assert.NoError(t, <-got, "the client's answer to the close reaches the backend")
	s.settled()
	s.quietAndBlameless()
}

func closing(t testing.TB, err error) websocket.CloseError {
	t.Helper()
	var c websocket.CloseError
	require.True(t, errors.As(err, &c), "%v", err)
	return c
}

// TestWebSocketThatBreaksIsNotTriedAgain: after the 101 the connection belongs
// to its two ends; whichever breaks it, the other learns of it, and nobody
// else is asked.
func TestWebSocketThatBreaksIsNotTriedAgain(t *testing.T) {
	var calls atomic.Int32
	left := make(chan error, 1)
	breaks := serveWebSocket(t, func(ctx context.Context, c *websocket.Conn) {
		calls.Add(1)
		_, text, err := c.Read(ctx)
		if string(text) != "break" {
			left <- err
		}
	})
	s := newStackOver(t, func(c *Config) {
		quiet(c)
		c.Retries, c.RetryOn = 3, []string{"connect-failure", "gateway-error", "5xx"}
	}, breaks, breaks)
	c := s.webSocket(nil)
	assert.Equal(t, 1, s.pool.Counts().InFlight, "in flight for its life")
	say(t, c, "break")
	_, _, err := c.Read(within(t))
	require.Error(t, err)
	assert.Equal(t, websocket.StatusCode(-1), websocket.CloseStatus(err), "an end without a goodbye stays one")
	require.NoError(t, c.CloseNow())
	s.settled()
	c = s.webSocket(nil)
	require.NoError(t, c.CloseNow())
	assert.Error(t, <-left, "the backend learns that the client has gone")
	s.settled()
	assert.Equal(t, int32(2), calls.Load())
	s.quietAndBlameless()
}

func TestWebSocketToABackendThatIsDownIsOpenedElsewhere(t *testing.T) {
	s := newStackOver(t, quiet, deadAddress(t), serveWebSocket(t, echo))
	for range 3 {
		c := s.webSocket(nil)
		say(t, c, "a")
		assert.Equal(t, "a", heard(t, c))
		s.leave(c)
	}
	_, r, err := websocket.Dial(within(t), "ws://"+newStackOver(t, quiet, deadAddress(t)).Addr(), nil)
	require.Error(t, err)
	assert.Equal(t, 502, r.StatusCode)
}

func TestWebSocketThatIsRefusedIsAnOrdinaryAnswer(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "members only", http.StatusForbidden) }))
	_, r, err := websocket.Dial(within(t), "ws://"+s.Addr(), nil)
	require.Error(t, err)
	assert.Equal(t, 403, r.StatusCode)
	text, _ := io.ReadAll(r.Body)
	assert.Equal(t, "members only", strings.TrimSpace(string(text)))
	s.quietAndBlameless()
}

func TestDrainWaitsForWebSocketsUntilItsDeadline(t *testing.T) {
	for claim, timeout := range map[string]string{"waits": "30", "gives up": "0.1"} {
		t.Run(claim, func(t *testing.T) {
			s := newStackOver(t, quiet, serveWebSocket(t, echo), serveWebSocket(t, echo))
			c := s.webSocket(nil)
			s.do("POST", "/_minilb/drain?backend=b1&timeout="+timeout)
			if claim == "gives up" {
				require.Eventually(t, func() bool { return len(s.status().Backends) == 1 }, 5*time.Second, time.Millisecond)
				assert.Contains(t, strings.Join(s.happened("b1"), "\n"), "drain deadline passed with 1 in flight")
			}
			say(t, c, "still here")
			assert.Equal(t, "still here", heard(t, c))
			other := s.webSocket(nil)
			require.NoError(t, other.Close(websocket.StatusNormalClosure, "it went to b2"))
			s.leave(c)
			require.Eventually(t, func() bool { return len(s.status().Backends) == 1 }, 5*time.Second, time.Millisecond)
			assert.Equal(t, "b2", s.status().Backends[0].Name)
		})
	}
}

func TestStopCutsWebSocketsAtItsDeadline(t *testing.T) {
	c := Default()
	quiet(&c)
	c.Listen, c.ShutdownTimeout = "127.0.0.1:0", 50*time.Millisecond
	require.NoError(t, c.Params().Lookup("backend").Set("b1="+serveWebSocket(t, echo)))
	p, err := Start(c, Options{Log: io.Discard})
	require.NoError(t, err)
	client := (&stack{Proxy: p, t: t}).webSocket(nil)
	say(t, client, "a")
	assert.Equal(t, "a", heard(t, client))
	assert.Equal(t, 1, p.Stop())
	_, _, err = client.Read(within(t))
	assert.Error(t, err)
	require.Eventually(t, func() bool { return p.pool.Counts().InFlight == 0 }, 5*time.Second, time.Millisecond)
}

func TestWebSocketOverTLS(t *testing.T) {
	k := newCertificate(t)
	s := newStackOver(t, func(c *Config) { quiet(c); c.TLSCert, c.TLSKey = k.cert, k.key }, serveWebSocket(t, echo))
	// As browsers do: the client could speak HTTP/2 and offers HTTP/1.1 alone.
	transport := tlsClient(t, k).Transport.(*http.Transport).Clone()
	transport.ForceAttemptHTTP2, transport.TLSClientConfig.NextProtos = false, []string{"http/1.1"}
	c, _, err := websocket.Dial(within(t), "wss://"+s.Addr(), &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	require.NoError(t, err)
	say(t, c, "secret")
	assert.Equal(t, "secret", heard(t, c))
	s.leave(c)
}
