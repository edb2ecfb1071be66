package forward

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// FuzzHead is any head that net/http's server takes: what goes on must be
// about this hop only, and be read as one head.
func FuzzHead(f *testing.F) {
	for _, text := range []string{
		"GET /a%2Fb?x HTTP/1.1\r\nHost: x\r\nConnection: close, X-A\r\nX-A: 1\r\n\r\n",
		"GET http://h/p?q HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Forwarded-For: a\r\n\r\n",
		"POST * HTTP/1.0\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\nForwarded: for=x\r\n\r\n0\r\n\r\n",
		"OPTIONS http://h?q HTTP/1.1\r\nHost: h\r\nConnection:\r\nConnection: x-forwarded-for\r\nCookie: a=\"b\"; c\r\n\r\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil || r.Method == http.MethodConnect {
			return
		}
		r.RemoteAddr = "192.0.2.7:4711"
		q := fromHTTP(r)
		if strings.HasPrefix(r.RequestURI, "/") {
			assert.Equal(t, r.RequestURI, q.Target)
		}
		assert.True(t, q.Target == "*" || strings.HasPrefix(q.Target, "/") || r.URL.Opaque != "", q.Target)
		q.cookie("a")
		fields := Fields{Proto: true, Host: true, Forwarded: true, Via: true}
		extra := fields.next(&q, new(Memory), nil)
		for name := range q.Header {
			assert.False(t, hopByHop(name), name)
		}
		assert.Zero(t, len(extra)%2)
		assert.Contains(t, strings.Join(extra, "\n"), "X-Forwarded-For\n")
		for _, part := range extra {
			assert.NotContains(t, part, "\r")
		}
	})
}
