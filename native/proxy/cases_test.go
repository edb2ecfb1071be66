package proxy

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What went wrong in other balancers, each with the public report's number.

// envoy#14968: with nobody healthy everybody gets traffic, or nobody does, as
// the panic threshold says; and the metrics tell which.
func TestAllUnhealthyFailsOpenOrClosedAsConfigured(t *testing.T) {
	for threshold, want := range map[float64]struct {
		status int
		panics string
	}{0: {503, "0"}, 50: {200, "1"}} {
		s := newStack(t, func(c *Config) {
			quiet(c)
			c.CheckInterval, c.CheckJitter, c.Fall, c.PanicThreshold = 20*time.Millisecond, 0, 1, threshold
		}, 0, 0)
		s.mode(0, "health=503")
		s.mode(1, "health=503")
		s.until("b1", "unhealthy")
		s.until("b2", "unhealthy")
		_, status := s.served()
		assert.Equal(t, want.status, status, "panic-threshold %g", threshold)
		m := s.metrics()
		assert.Equal(t, want.panics, m["minilb_panic"])
		assert.Equal(t, "0", m[`minilb_backend_eligible{backend="b1"}`])
	}
}

// haproxy#2679: with a retry every backend that failed is blamed, not the last
// alone.
func TestEveryBackendThatFailedARequestIsBlamed(t *testing.T) {
	s := newStack(t, func(c *Config) { quiet(c); c.RetryOn, c.BudgetWait = []string{"5xx"}, 0 }, 0, 0)
	s.mode(0, "status=500")
	s.mode(1, "status=500")
	r, _ := s.do("GET", "/")
	assert.Equal(t, "b1:500,b2:500", r.Header.Get("x-minilb-attempts"))
	for _, b := range s.status().Backends {
		assert.Equal(t, uint64(1), b.Failures, b.Name)
	}
	m := s.metrics()
	assert.Equal(t, "1", m[`minilb_attempts_total{backend="b1",outcome="5xx"}`])
	assert.Equal(t, "1", m[`minilb_attempts_total{backend="b2",outcome="5xx"}`])
}

// haproxy#1234: out by its errors and by its checks, and in again on its own.
// With uneject-on-check it does not wait for an ejection of an hour.
func TestBackendOutByBothHoldsComesBackOnItsOwn(t *testing.T) {
	s := newStack(t, func(c *Config) {
		step10(c)
		c.CheckInterval, c.MaxEjectionPercent, c.BaseEjection, c.UnejectOnCheck = 50*time.Millisecond, 50, time.Hour, true
	}, 0, 0)
	s.mode(1, "status=500")
	require.Eventually(t, func() bool { s.served(); return s.pool.Counts().Ejections == 1 }, 10*time.Second, time.Millisecond)
	s.until("b2", "unhealthy")
	s.mode(1, "status=200")
	s.until("b2", "healthy")
}

// nginx#340 and #355: 403 and 404 count as failures for whom that is so.
func TestStatusesThatCountAsErrorsAreConfigurable(t *testing.T) {
	for set, ejected := range map[string]bool{"500-599": false, "403,500-599": true} {
		s := newStack(t, func(c *Config) {
			quiet(c)
			c.Consecutive5xx = 3
			require.NoError(t, c.ErrorStatuses.UnmarshalText([]byte(set)))
		}, 0, 0)
		s.mode(1, "status=403")
		for range 12 {
			s.served()
		}
		b2 := s.status().Backends[1]
		assert.Equal(t, ejected, b2.State == "ejected", set)
		if ejected {
			assert.Equal(t, uint64(3), b2.Attempts)
			assert.Contains(t, b2.Reason, "3 consecutive errors")
		}
	}
}

// nginx#340: an answer that breaks off in the middle counts, though its status
// was 200.
func TestAnswersThatBreakOffEject(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.Consecutive5xx = 3 }, serveBackend(t, "b1", 0), serveHandler(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half"))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	broken := 0
	for range 12 {
		if r, err := s.client.Get("http://" + s.Addr()); err == nil {
			_, err = r.Body.Read(make([]byte, 200))
			for err == nil {
				_, err = r.Body.Read(make([]byte, 200))
			}
			if err.Error() != "EOF" {
				broken++
			}
			_ = r.Body.Close()
		}
	}
	assert.Equal(t, 3, broken)
	assert.Equal(t, "ejected", s.status().Backends[1].State)
}

// traefik#3975: after a retry the cookie names the backend that answered.
func TestCookieOfARetriedRequestNamesTheFinalBackend(t *testing.T) {
	s := newStack(t, func(c *Config) { quiet(c); c.StickyCookie = "MINILB" }, 0, 0)
	s.mode(0, "status=503")
	for _, cookie := range []string{"", "MINILB=b1", "MINILB=gone"} {
		r, _ := s.do("GET", "/", "Cookie", cookie)
		assert.Equal(t, 200, r.StatusCode)
		assert.Equal(t, "b2", r.Header.Get("x-minilb-backend"))
		require.Len(t, r.Cookies(), 1, cookie)
		assert.Equal(t, "b2", r.Cookies()[0].Value)
	}
}

// envoy#7218: a drain either keeps the clients whose cookie names the backend,
// or nobody.
func TestDrainKeepsStickyClientsOnlyWhenAskedTo(t *testing.T) {
	for _, stay := range []bool{false, true} {
		started, hold := make(chan struct{}, 1), make(chan struct{})
		var once atomic.Bool
		slow := serveHandler(t, func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/hold" && once.CompareAndSwap(false, true) {
				started <- struct{}{}
				<-hold
			}
		})
		s := newStackOver(t, func(c *Config) { quiet(c); c.StickyCookie, c.DrainSticky = "MINILB", stay }, serveBackend(t, "b1", 0), slow)
		held := make(chan string)
		go func() {
			r, _ := s.do("GET", "/hold", "Cookie", "MINILB=b2")
			held <- r.Header.Get("x-minilb-backend")
		}()
		<-started // and keeps b2 from being removed at once
		s.do("POST", "/_minilb/drain?backend=b2&timeout=30")
		r, _ := s.do("GET", "/", "Cookie", "MINILB=b2")
		if stay {
			assert.Equal(t, "b2", r.Header.Get("x-minilb-backend"))
			assert.Empty(t, r.Cookies())
		} else {
			assert.Equal(t, "b1", r.Header.Get("x-minilb-backend"))
			require.Len(t, r.Cookies(), 1)
			assert.Equal(t, "b1", r.Cookies()[0].Value, "the cookie is rewritten")
		}
		for range 4 {
			name, _ := s.served()
			assert.Equal(t, "b1", name, "new clients go elsewhere")
		}
		close(hold)
		assert.Equal(t, "b2", <-held, "what was in flight ends")
		require.Eventually(t, func() bool { return len(s.status().Backends) == 1 }, 5*time.Second, time.Millisecond)
	}
}
