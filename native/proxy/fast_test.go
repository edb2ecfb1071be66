//go:build unix

package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ways are one request as each of the two loops takes it.
var ways = map[string]string{
	"our loop": "PUT /a?b HTTP/1.1\r\nHost: h\r\nUser-Agent: ua\r\nContent-Length: 5\r\n\r\nhello",
	"net/http": "PUT /a?b HTTP/1.1\r\nHost: h\r\nUser-Agent: ua\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
}

// TestBothLoopsSayTheSame of a request: to the backend, to the client, to the
// log and to the metrics.
func TestBothLoopsSayTheSame(t *testing.T) {
	for claim, text := range ways {
		t.Run(claim, func(t *testing.T) {
			log := &logBuffer{}
			c := Default()
			everything(&c)
			quiet(&c)
			c.Listen, c.AccessLog, c.RequestTimeout = "127.0.0.1:0", "json", time.Minute
			require.NoError(t, c.Params().Lookup("backend").Set("b1="+serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				fmt.Fprint(w, r.Method, r.RequestURI, r.Host, string(body), r.Header["X-Forwarded-For"], r.Header["Forwarded"], r.Header["Via"])
			})))
			p, err := Start(c, Options{Log: io.Discard, Access: log})
			require.NoError(t, err)
			s := &stack{t: t, Proxy: p, client: &http.Client{Transport: &http.Transport{}}}
			for range 2 {
				r, body := s.raw(text).answer()
				assert.Equal(t, `PUT/a?bhhello[127.0.0.1] [for=127.0.0.1;proto=http;host="h"] [1.1 minilb]`, body)
				assert.Equal(t, "b1", r.Header.Get("x-minilb-backend"))
				assert.Equal(t, "b1:200", r.Header.Get("x-minilb-attempts"))
				assert.Equal(t, "1.1 minilb", r.Header.Get("Via"))
				assert.Equal(t, []string{"MINILB=b1; Path=/; HttpOnly; SameSite=Lax"}, r.Header["Set-Cookie"])
			}
			_, metrics := s.do("GET", "/_minilb/metrics")
			assert.Contains(t, metrics, `minilb_requests_total{backend="b1",code="2xx"} 2`)
			assert.Contains(t, metrics, `minilb_request_duration_seconds_count 2`)
			s.client.CloseIdleConnections()
			assert.Zero(t, p.Stop())
			lines := strings.Split(strings.TrimSpace(log.String()), "\n")
			require.Len(t, lines, 2)
			for _, line := range lines {
				assert.Regexp(t, `"client":"127.0.0.1","method":"PUT","host":"h","target":"/a\?b","protocol":"HTTP/1.1","status":200,"bytes":\d+,"took_s":[0-9.e-]+,"backend":"b1","attempts":"b1:200","note":"","user_agent":"ua"}$`, line)
			}
		})
	}
}

// TestAdminPagesAreFoundHoweverTheyAreWritten: the loop that takes ordinary
// requests compares undecoded targets.
func TestAdminPagesAreFoundHoweverTheyAreWritten(t *testing.T) {
	for _, target := range []string{
		"/_minilb/", "/_minilb", "/_minilb/status", "/_minilb?x", "/_minilb/status?x", "/%5Fminilb/status", "/%5fminilb", "/_%6d%69nilb/", "/_minilb%2fstatus", "/_minilb%2F",
		"/", "/_minil", "/_minilbs", "/_MINILB/", "//_minilb/", "/a/_minilb/", "/%5Fminila/", "/_minilb.", "/?/_minilb/",
	} {
		u, err := url.ParseRequestURI(target)
		require.NoError(t, err)
		ours := strings.HasPrefix(u.Path, adminPrefix) || u.Path+"/" == adminPrefix
		assert.Equal(t, ours, isAdmin(target), target)
	}
}

func FuzzAdminPagesAreNeverForwarded(f *testing.F) {
	f.Add("/_minilb/status")
	f.Add("/%5f%6Dinilb%2f")
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || !strings.HasPrefix(target, "/") {
			return
		}
		if strings.HasPrefix(u.Path, adminPrefix) || u.Path+"/" == adminPrefix {
			assert.True(t, isAdmin(target), target)
		}
	})
}

// TestStopSparesBothLoopsRequests: those in flight end, on either side.
func TestStopSparesBothLoopsRequests(t *testing.T) {
	begun, on := make(chan struct{}), make(chan struct{})
	address := serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		begun <- struct{}{}
		<-on
		_, _ = w.Write(body)
	})
	c := Default()
	quiet(&c)
	c.Listen = "127.0.0.1:0"
	require.NoError(t, c.Params().Lookup("backend").Set("b1="+address))
	p, err := Start(c, Options{Log: io.Discard})
	require.NoError(t, err)
	s := &stack{t: t, Proxy: p}
	var clients []*rawClient
	for _, text := range ways {
		clients = append(clients, s.raw(text))
		<-begun
	}
	idle := s.raw("GET /_minilb/status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") // net/http's
	idle.answer()
	cut := make(chan int)
	go func() { cut <- p.Stop() }()
	idle.ended()
	close(on)
	for _, c := range clients {
		r, body := c.answer()
		assert.Equal(t, "hello", body)
		assert.True(t, r.Close)
		c.ended()
	}
	assert.Zero(t, <-cut)
}
