package proxy

import (
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// zeros is a body that would not fit in memory if it were kept.
type zeros struct{ left int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), z.left)
	z.left -= n
	return int(n), nil
}

// bodySize is how much passes each way:
// MINILB_BODY=4294967296 go test ./native/proxy -run ConstantMemory -v.
func bodySize(t *testing.T) int64 {
	text := os.Getenv("MINILB_BODY")
	if text == "" {
		return 256 << 20
	}
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err, "MINILB_BODY")
	return n
}

func TestBodiesOfAnySizePassInConstantMemory(t *testing.T) {
	size := bodySize(t)
	address := serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		if n == size {
			_, _ = io.Copy(w, &zeros{size})
		}
	})
	s := newStackOver(t, quiet, address)
	s.client.Timeout = 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	request, err := http.NewRequest("PUT", "http://"+s.Addr()+"/", &zeros{size})
	require.NoError(t, err)
	r, err := s.client.Do(request)
	require.NoError(t, err)
	defer r.Body.Close()
	n, err := io.Copy(io.Discard, r.Body)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	assert.Equal(t, size, n)
	t.Logf("%d bytes each way, %d kB allocated in all, %d kB from the system", n, (after.TotalAlloc-before.TotalAlloc)>>10, after.Sys>>10)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "allocated in all")
}

func TestExpectationThatFailsSparesTheBodyAndTheConnection(t *testing.T) {
	address := serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Expect") != "" {
			w.WriteHeader(http.StatusExpectationFailed)
		}
	})
	s := newStackOver(t, quiet, address)
	s.client.Transport.(*http.Transport).ExpectContinueTimeout = 10 * time.Second
	body := &zeros{1 << 20}
	request, err := http.NewRequest("POST", "http://"+s.Addr()+"/", body)
	require.NoError(t, err)
	request.ContentLength = 1 << 20
	request.Header.Set("Expect", "100-continue")
	r, err := s.client.Do(request)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	assert.Equal(t, 417, r.StatusCode)
	assert.Equal(t, int64(1<<20), body.left, "nobody asked for the body")
	r, _ = s.do("GET", "/")
	assert.Equal(t, 200, r.StatusCode)
}

func TestAnswersWithoutABodyStayWithoutOne(t *testing.T) {
	address := serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/204":
			w.WriteHeader(204)
		case "/304":
			w.Header().Set("ETag", `"x"`)
			w.WriteHeader(304)
		default:
			w.Header().Set("Content-Length", "1234")
		}
	})
	s := newStackOver(t, quiet, address)
	for path, status := range map[string]int{"/204": 204, "/304": 304} {
		r, body := s.do("GET", path)
		assert.Equal(t, status, r.StatusCode)
		assert.Empty(t, body)
	}
	r, body := s.do("HEAD", "/")
	assert.Equal(t, int64(1234), r.ContentLength)
	assert.Empty(t, body)
	r, _ = s.send("POST", "http://"+s.Addr()+"/204", "Content-Type", strings.Repeat("x", 10))
	assert.Equal(t, 204, r.StatusCode)
}
