package front

import (
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sayAndEnd sends a text and the end of the connection in one segment, which
// wakes the other side once.
func (c *client) sayAndEnd(text string) {
	c.t.Helper()
	raw, err := c.Conn.(*net.TCPConn).SyscallConn()
	require.NoError(c.t, err)
	require.NoError(c.t, raw.Control(func(fd uintptr) {
		assert.NoError(c.t, syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_CORK, 1))
	}))
	c.say(text)
	require.NoError(c.t, closeWrite(c.Conn))
}

func TestEndThatComesWithABitMoreIsSeen(t *testing.T) {
	for claim, way := range map[string]struct{ before, last string }{
		"of a first head":              {"GET / HT", "TP/1.1\r\nHo"},
		"of the next head":             {get + "GET / HT", "TP/1.1\r\nHo"},
		"that is too short":            {get + "G", "E"},
		"that is skipped after a POST": {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na", "\r\n\r\n"},
	} {
		t.Run(claim, func(t *testing.T) {
			s := newStand(t, Config{}, tell)
			for range 5 {
				c := s.dial().say(way.before)
				if strings.Contains(way.before, "\r\n\r\n") {
					_, _ = c.answer("GET")
				}
				time.Sleep(3 * lookEvery) // looked at, and nothing was there
				c.sayAndEnd(way.last)
				require.NoError(t, c.SetReadDeadline(time.Now().Add(guard/10)))
				_, err := io.ReadAll(c.in)
				assert.NoError(t, err)
			}
		})
	}
}
