package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkProxy is a small GET over kept-alive connections, through minilb
// with everything on, through a pooled httputil.ReverseProxy, and direct. All
// of it shares one process: the differences say what a proxy costs, and
// scripts/proxybench measures it alone.
func BenchmarkProxy(b *testing.B) {
	address := serveHandler(b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{"text/plain"}
		_, _ = io.WriteString(w, "hello from a backend, in a small answer\n")
	})
	b.Run("minilb", func(b *testing.B) {
		s := newStackOver(b, everything, address, address, address)
		exchangeSmall(b, s.Addr())
	})
	b.Run("ReverseProxy", func(b *testing.B) { exchangeSmall(b, reverseProxy(b, address)) })
	b.Run("direct", func(b *testing.B) { exchangeSmall(b, address) })
}

// everything is what an operator may have on together.
func everything(c *Config) {
	c.Algorithm, c.StickyCookie = "least_conn", "MINILB"
	c.MaxInflight, c.RequestTimeout = 1000, 10*time.Second
	c.XForwarded, c.Forwarded, c.Via = []string{"proto", "host"}, true, true
}

// pooled is a BufferPool.
type pooled struct{ sync.Pool }

func (p *pooled) Get() []byte  { return *p.Pool.Get().(*[]byte) }
func (p *pooled) Put(b []byte) { p.Pool.Put(&b) }

func reverseProxy(t testing.TB, backend string) string {
	target := &url.URL{Scheme: "http", Host: backend}
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	buffers := &pooled{}
	buffers.New = func() any { b := make([]byte, 32<<10); return &b }
	p := &httputil.ReverseProxy{
		Rewrite:    func(r *httputil.ProxyRequest) { r.SetURL(target); r.SetXForwarded() },
		Transport:  transport,
		BufferPool: buffers,
		ErrorLog:   log.New(io.Discard, "", 0),
	}
	return serveHandler(t, p.ServeHTTP)
}

// exchangeSmall is a client that costs next to nothing.
func exchangeSmall(b *testing.B, address string) {
	request := fmt.Sprintf("GET /path?query=1 HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: */*\r\nCookie: MINILB=b2\r\n\r\n", address)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		conn, err := net.Dial("tcp", address)
		require.NoError(b, err)
		defer conn.Close()
		in := bufio.NewReader(conn)
		for pb.Next() {
			_, err := io.WriteString(conn, request)
			require.NoError(b, err)
			skipAnswer(b, in)
		}
	})
}

// skipAnswer reads an answer with a Content-Length.
func skipAnswer(b *testing.B, in *bufio.Reader) {
	length := 0
	for {
		line, err := in.ReadSlice('\n')
		require.NoError(b, err)
		if len(line) <= 2 {
			break
		}
		if digits, found := bytes.CutPrefix(line, []byte("Content-Length: ")); found {
			length, _ = strconv.Atoi(string(bytes.TrimSpace(digits)))
		}
	}
	_, err := in.Discard(length)
	require.NoError(b, err)
}
