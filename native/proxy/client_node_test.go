package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// node runs trials of testdata/client.mjs against a proxy: its ideas of HTTP
// are neither Go's nor curl's.
func (s *stack) node(scheme, ca string, trials ...string) map[string]any {
	s.t.Helper()
	command := exec.CommandContext(within(s.t), "node", append([]string{"testdata/client.mjs", scheme + "://" + s.Addr(), ca}, trials...)...)
	command.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+ca) // fetch has no setting for it
	command.Stderr = os.Stderr
	out, err := command.Output()
	require.NoError(s.t, err)
	var seen map[string]any
	require.NoError(s.t, json.Unmarshal(out, &seen), "%s", out)
	return seen
}

// A nodeBackend is what the trials ask for.
type nodeBackend struct {
	next  chan struct{} // the client has had the last event
	ended chan error    // how /endless ended
}

func newNodeBackend() *nodeBackend {
	return &nodeBackend{next: make(chan struct{}), ended: make(chan error, 8)}
}

func (b *nodeBackend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	flush := http.NewResponseController(w).Flush
	switch r.URL.Path {
	case "/echo":
		_ = http.NewResponseController(w).EnableFullDuplex()
		_, _ = io.Copy(w, r.Body)
	case "/count":
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n)
	case "/events":
		for i := range 3 {
			fmt.Fprintf(w, "data: event %d\n\n", i)
			_ = flush()
			<-b.next
		}
	case "/next":
		b.next <- struct{}{}
	case "/endless":
		_, err := io.Copy(w, &zeros{1 << 40})
		b.ended <- err
	case "/interim":
		w.Header().Set("Link", "</a.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Trailer", "X-Sum")
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
		w.Header().Set("X-Sum", "s"+r.Trailer.Get("X-Sum"))
		w.Header().Set(http.TrailerPrefix+"X-Late", "unannounced")
	case "/break":
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
		_ = flush()
		panic(http.ErrAbortHandler)
	}
}

func TestNodesClientsAreServedOverEveryProtocol(t *testing.T) {
	k := newCertificate(t)
	for claim, c := range map[string]struct{ scheme, ca, protocol string }{
		"in clear text, to HTTP/1.1 backends": {"http", "", "h1"},
		"in clear text, to HTTP/2 backends":   {"http", "", "h2c"},
		"over TLS":                            {"https", k.cert, "h1"},
	} {
		t.Run(claim, func(t *testing.T) {
			backend := newNodeBackend()
			serve := func() string { return serveHandler(t, backend.ServeHTTP) }
			if c.protocol == "h2c" {
				serve = func() string { return serveH2C(t, backend.ServeHTTP) }
			}
			s := newStackOver(t, func(config *Config) {
				quiet(config)
				config.BackendProtocol = c.protocol
				if c.ca != "" {
					config.TLSCert, config.TLSKey = k.cert, k.key
				}
			}, serve(), serve())
			seen := s.node(c.scheme, c.ca)
			assert.Equal(t, []any{200., "b1", "piece piece piece piece piece "}, seen["fetchStreams"])
			assert.Equal(t, []any{"event 0", "event 1", "event 2"}, seen["fetchEvents"])
			assert.Equal(t, "AbortError", seen["fetchAborts"])
			assert.Error(t, <-backend.ended)
			assert.Equal(t, []any{1., "GET 0", "POST 100000", "HEAD ", "PUT 1", "DELETE 0", "OPTIONS 0", "GET 0"}, seen["keepAlive"])
			assert.Equal(t, []any{[]any{100., 103.}, "hello", map[string]any{"x-sum": "ss1", "x-late": "unannounced"}}, seen["interim"])
			assert.Equal(t, []any{true, map[string]any{"b1": 25., "b2": 25.}}, seen["h2Parallel"])
			assert.Equal(t, []any{[]any{103.}, "hello", map[string]any{"x-sum": "s", "x-late": "unannounced"}}, seen["h2Trailers"])
			assert.Equal(t, "after", seen["h2Resets"])
			assert.Error(t, <-backend.ended)
			assert.Equal(t, []any{"broken", "broken", "broken"}, seen["breaksOff"])
			failures := 0
			for _, b := range s.pool.Status(s.now()) {
				failures += int(b.Failures)
			}
			assert.Equal(t, 3, failures, "those that broke off, and no client that left")
			require.Eventually(t, func() bool { return s.pool.Counts().InFlight == 0 }, 10*time.Second, time.Millisecond)
		})
	}
}
