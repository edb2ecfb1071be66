package backend

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ask(b *Backend, method, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, target, nil)
	r.Header.Set("X-User", "u7")
	b.ServeHTTP(w, r)
	return w
}

func TestBackendEchoesWhatItWasAsked(t *testing.T) {
	w := ask(New("b1", 0), "PUT", "/a%2Fb?x=1&y=2")
	assert.Equal(t, 200, w.Code)
	assert.Contains(t, w.Body.String(), `"backend": "b1"`, "a space after the colon, for grep")
	assert.Contains(t, w.Body.String(), `"path": "/a%2Fb?x=1&y=2"`)
	var got struct {
		Backend, Method, Path string
		Headers               map[string]string
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	assert.Equal(t, "PUT", got.Method)
	assert.Equal(t, "u7", got.Headers["X-User"])
	assert.Equal(t, "example.com", got.Headers["Host"])
}

func TestModeSwitchesRequestsAndHealth(t *testing.T) {
	cases := []struct {
		claim           string
		queries         []string
		request, health int
	}{
		{"status is for both", []string{"status=500"}, 500, 500},
		{"health is apart", []string{"health=503"}, 200, 503},
		{"a check that lies", []string{"status=500&health=200"}, 500, 200},
		{"in either order", []string{"health=200", "delay=0"}, 200, 200},
		{"a new status is for both again", []string{"status=500&health=200", "status=404"}, 404, 404},
		{"back to normal", []string{"status=500", "status=200"}, 200, 200},
		{"a status without a body", []string{"status=204"}, 204, 204},
	}
	for _, c := range cases {
		b := New("b1", 0)
		for _, query := range c.queries {
			require.Equal(t, 200, ask(b, "POST", "/_backend/mode?"+query).Code)
		}
		assert.Equal(t, c.request, ask(b, "GET", "/").Code, c.claim)
		assert.Equal(t, c.health, ask(b, "GET", "/health").Code, c.claim)
	}
}

func TestBadModeIsRefusedAndChangesNothing(t *testing.T) {
	cases := map[string]string{
		"status=abc":           "status=abc: not a status; accepted: 200 to 599",
		"status=100":           "accepted: 200 to 599",
		"status=600":           "accepted: 200 to 599",
		"health=1":             "health=1: not a status; accepted: 200 to 599",
		"delay=-1":             "accepted: 0 to 600 seconds",
		"delay=NaN":            "accepted: 0 to 600 seconds",
		"delay=1h":             "accepted: 0 to 600 seconds",
		"colour=blue":          `"colour" is unknown; accepted: status=200`,
		"status=500&delay=now": "delay=now: not a delay",
		"%zz":                  "accepted: status=200",
	}
	for query, says := range cases {
		b := New("b1", 0)
		w := ask(b, "POST", "/_backend/mode?"+query)
		assert.Equal(t, 400, w.Code, query)
		assert.Contains(t, w.Body.String(), says, query)
		assert.Equal(t, Mode{Status: 200}, b.Mode(), query)
	}
	assert.Equal(t, 405, ask(New("b1", 0), "DELETE", "/_backend/mode").Code)
}

func TestDelayIsWaitedForUnlessTheClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New("b1", 50*time.Millisecond)
		start := time.Now()
		ask(b, "GET", "/")
		assert.Equal(t, 50*time.Millisecond, time.Since(start))
		ask(b, "POST", "/_backend/mode?delay=0.2")
		start = time.Now()
		ask(b, "GET", "/health")
		assert.Equal(t, 200*time.Millisecond, time.Since(start), "/health is as slow as requests are")
		ask(b, "POST", "/_backend/mode?health=200")
		start = time.Now()
		ask(b, "GET", "/health")
		assert.Zero(t, time.Since(start), "told apart, it answers at once")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		start = time.Now()
		b.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil))
		assert.Equal(t, 10*time.Millisecond, time.Since(start))
	})
}

func TestServeEndsWithItsContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- Serve(ctx, l, New("b1", 0)) }()
	r, err := http.Get("http://" + l.Addr().String() + "/health")
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	cancel()
	assert.NoError(t, <-ended)
	http.DefaultClient.CloseIdleConnections()
}
