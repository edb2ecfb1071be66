package proxy

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An eventBackend sends an event when the test says so: a proxy that holds one
// back until there are more of them holds the test up for ever.
type eventBackend struct {
	next chan string // closed: the backend has no more
	left chan error  // why a stream ended
}

func (b *eventBackend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Last", r.Header.Get("Last-Event-ID"))
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case text, open := <-b.next:
			if !open {
				b.left <- nil
				return
			}
			fmt.Fprintf(w, "id: %s\ndata: %s\n\n", text, text)
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			b.left <- r.Context().Err()
			return
		}
	}
}

// event reads one, up to the empty line at its end.
func event(t testing.TB, in *bufio.Reader) string {
	t.Helper()
	var all strings.Builder
	for {
		line, err := in.ReadString('\n')
		require.NoError(t, err)
		if line == "\n" {
			return all.String()
		}
		all.WriteString(line)
	}
}

func TestEachEventArrivesBeforeTheNextIsSent(t *testing.T) {
	k := newCertificate(t)
	for claim, c := range map[string]struct {
		protocol string // the backends'
		secured  bool
		client   func(testing.TB) *http.Client
	}{
		"HTTP/1.1 to HTTP/1.1": {"h1", false, func(testing.TB) *http.Client {
			return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		}},
		"HTTP/2 to HTTP/1.1": {"h1", false, h2Client},
		"HTTP/1.1 to HTTP/2": {"h2c", false, func(testing.TB) *http.Client {
			return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		}},
		"HTTP/2 to HTTP/2":          {"h2c", false, h2Client},
		"HTTP/2 by TLS to HTTP/1.1": {"h1", true, func(t testing.TB) *http.Client { return tlsClient(t, k) }},
	} {
		t.Run(claim, func(t *testing.T) {
			backend := &eventBackend{next: make(chan string), left: make(chan error, 2)}
			serve, url := serveHandler, "http://"
			if c.protocol == "h2c" {
				serve = serveH2C
			}
			s := newStackOver(t, func(config *Config) {
				quiet(config)
				config.BackendProtocol = c.protocol
				if c.secured {
					url, config.TLSCert, config.TLSKey = "https://", k.cert, k.key
				}
			}, serve(t, backend.ServeHTTP))
			ask := func(last string) (*http.Response, *bufio.Reader) {
				r, err := http.NewRequestWithContext(within(t), "GET", url+s.Addr()+"/", nil)
				require.NoError(t, err)
				r.Header.Set("Last-Event-ID", last)
				answer, err := c.client(t).Do(r)
				require.NoError(t, err, "the head comes before the first event")
				assert.Equal(t, last, answer.Header.Get("X-Last"))
				return answer, bufio.NewReader(answer.Body)
			}
			answer, in := ask("0")
			for i := range 5 {
				text := fmt.Sprint(i, strings.Repeat("x", i*i*1000)) // below and above what is copied at once
				backend.next <- text
				assert.Equal(t, "id: "+text+"\ndata: "+text+"\n", event(t, in))
			}
			require.NoError(t, answer.Body.Close())
			assert.Error(t, <-backend.left, "a client that leaves is noticed between events")
			s.quietAndBlameless()
			answer, in = ask("4")
			backend.next <- "5"
			assert.Equal(t, "id: 5\ndata: 5\n", event(t, in))
			close(backend.next)
			_, err := in.ReadByte()
			assert.ErrorContains(t, err, "EOF")
			require.NoError(t, answer.Body.Close())
			assert.NoError(t, <-backend.left)
			s.quietAndBlameless()
		})
	}
}
