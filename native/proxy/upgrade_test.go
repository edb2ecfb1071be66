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
)

const wantsEcho = "GET /chat HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: echo\r\n\r\n"

// echoes changes to a protocol that returns every line, and says goodbye after
// the client's end.
func echoes(w http.ResponseWriter, r *http.Request) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: %s\r\nX-Own: 1\r\n\r\nwelcome\n", r.Header.Get("Upgrade"))
	_ = rw.Flush()
	for {
		line, err := rw.ReadString('\n')
		if err != nil {
			break
		}
		fmt.Fprint(rw, strings.ToUpper(line))
		_ = rw.Flush()
	}
	fmt.Fprint(rw, "goodbye\n")
	_ = rw.Flush()
}

func TestUpgradedConnectionCarriesBothWaysAndEndsByHalves(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, echoes))
	c := s.raw(wantsEcho + "early\n") // the client does not wait for the 101
	r, err := http.ReadResponse(c.in, nil)
	require.NoError(t, err)
	assert.Equal(t, 101, r.StatusCode)
	assert.Equal(t, []string{"echo", "Upgrade", "1", "b1", "b1:101"}, []string{
		r.Header.Get("Upgrade"), r.Header.Get("Connection"), r.Header.Get("X-Own"),
		r.Header.Get("x-minilb-backend"), r.Header.Get("x-minilb-attempts"),
	})
	line := func() string { text, _ := c.in.ReadString('\n'); return text }
	assert.Equal(t, "welcome\n", line(), "what the backend said with its 101")
	assert.Equal(t, "EARLY\n", line(), "what the client said before it")
	c.say("late\n")
	assert.Equal(t, "LATE\n", line())
	assert.Equal(t, 1, s.pool.Counts().InFlight, "in flight for its life")
	require.NoError(t, c.Conn.(*net.TCPConn).CloseWrite())
	assert.Equal(t, "goodbye\n", line(), "the other direction goes on")
	c.ended()
	require.Eventually(t, func() bool { return s.pool.Counts().InFlight == 0 }, 5*time.Second, time.Millisecond)
	assert.Zero(t, s.status().Backends[0].Failures)
}

func TestRefusedUpgradeIsAnOrdinaryAnswer(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUpgradeRequired)
		fmt.Fprint(w, r.Header.Get("Connection"), r.Header.Get("Upgrade"))
	}))
	r, body := s.raw(wantsEcho).answer()
	assert.Equal(t, 426, r.StatusCode)
	assert.Equal(t, "Upgradeecho", body)
}

func TestUpgradeToHTTP2IsNotPassedOn(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header["Upgrade"], r.Header["Http2-Settings"], r.Header["Connection"])
	}))
	_, body := s.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n").answer()
	assert.Equal(t, "[] [] []", body, "it would carry requests past the balancer")
}

func TestAnswerInAProtocolThatWasNotAskedForIsBroken(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.Retries = 0 }, serveWire(t, func(conn net.Conn, in *bufio.Reader) {
		readHead(in)
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
	}))
	r, body := s.raw(wantsEcho).answer()
	assert.Equal(t, 502, r.StatusCode)
	assert.Equal(t, "backend b1: it switched to a protocol that was not asked for\n", body)
}

func TestStopWaitsForUpgradedConnectionsAndThenCutsThem(t *testing.T) {
	address := serveHandler(t, echoes)
	for claim, limit := range map[string]time.Duration{"waits": 10 * time.Second, "cuts": 50 * time.Millisecond} {
		t.Run(claim, func(t *testing.T) {
			c := Default()
			quiet(&c)
			c.Listen, c.ShutdownTimeout = "127.0.0.1:0", limit
			require.NoError(t, c.Params().Lookup("backend").Set("b1="+address))
			p, err := Start(c, Options{Log: io.Discard})
			require.NoError(t, err)
			client := (&stack{Proxy: p, t: t}).raw(wantsEcho)
			assert.Contains(t, readHead(client.in), " 101 ")
			if claim == "waits" {
				time.AfterFunc(20*time.Millisecond, func() { _ = client.Close() })
				assert.Zero(t, p.Stop())
			} else {
				assert.Equal(t, 1, p.Stop())
				_, _ = client.in.ReadString('\n')
				client.ended()
			}
			require.Eventually(t, func() bool { return p.pool.Counts().InFlight == 0 }, 5*time.Second, time.Millisecond)
		})
	}
}
