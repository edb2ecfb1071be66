package proxy

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const token = "0123456789abcdef"

func TestOtherMachinesNeedTheToken(t *testing.T) {
	s := newStack(t, func(c *Config) { quiet(c); c.AdminToken = token }, 0)
	ask := func(header ...string) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/_minilb/weight?backend=b1&weight=2", nil)
		r.RemoteAddr, r.Host = "192.0.2.1:5", "lb.example"
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		s.front().ServeHTTP(w, r)
		return w.Code
	}
	assert.Equal(t, 401, ask())
	assert.Equal(t, 401, ask("Authorization", "Bearer wrong"))
	assert.Equal(t, 200, ask("Authorization", "Bearer "+token))
	r := httptest.NewRequest("GET", "/", nil)
	r.SetBasicAuth("anybody", token)
	assert.Equal(t, 200, ask("Authorization", r.Header.Get("Authorization")), "a browser's password")
	assert.Equal(t, 403, ask("Authorization", "Bearer "+token, "Origin", "http://evil.example"), "another site's page, with the browser's password")
	local, _ := s.do("GET", "/_minilb/status")
	assert.Equal(t, 200, local.StatusCode, "this machine needs none")
	_, config := s.do("GET", "/_minilb/config")
	assert.NotContains(t, config, token)
}

func TestBackendsAreAddedAndRemovedUnderTraffic(t *testing.T) {
	f := newFleet(t, 3)
	s := newStackOver(t, quiet, f.addresses[0], f.addresses[1])
	tr := s.under(4)
	tr.reach(t, 200)
	r, body := s.do("POST", "/_minilb/backends?name=b3&address="+f.addresses[2]+"&weight=2")
	require.Equal(t, 200, r.StatusCode, body)
	tr.reach(t, 200)
	r, body = s.do("DELETE", "/_minilb/backends?backend=b1&timeout=10")
	require.Equal(t, 200, r.StatusCode, body)
	tr.reach(t, 200)
	s.do("POST", "/_minilb/weight?backend=b2&weight=9")
	s.do("POST", "/_minilb/drain?backend=b3&timeout=10")
	s.do("POST", "/_minilb/undrain?backend=b3") // it may have left by then
	tr.reach(t, 200)
	tr.verify(f)
	assert.Positive(t, f.count(2))
	require.Eventually(t, func() bool { return !strings.Contains(fmt.Sprint(s.members()), "b1") }, 5*time.Second, time.Millisecond)
	assert.Contains(t, s.members(), "b2:9")
}

func TestABackendIsNeverMinilbItself(t *testing.T) {
	s := newStack(t, quiet, 0)
	r, body := s.do("POST", "/_minilb/backends?name=loop&address="+s.Addr())
	assert.Equal(t, 400, r.StatusCode)
	assert.Contains(t, body, "that is where minilb itself listens")
	cases := []struct {
		dial, listen string
		same         bool
	}{
		{"127.0.0.1:80", "127.0.0.1:80", true},
		{"localhost:80", "127.0.0.1:80", true},
		{"127.0.0.1:80", "localhost:80", true},
		{"127.0.0.1:80", ":80", true},
		{"[::1]:80", "[::]:80", true},
		{"127.0.0.1:80", "127.0.0.2:80", false},
		{"127.0.0.1:81", ":80", false},
		{"10.0.0.1:80", ":80", false},
		{"127.0.0.1:0", ":0", false},
	}
	for _, c := range cases {
		assert.Equal(t, c.same, sameSocket(c.dial, c.listen), "%s at %s", c.dial, c.listen)
	}
}

func TestAdminSaysWhatABackendIs(t *testing.T) {
	s := newStack(t, quiet, 0)
	for path, says := range map[string]string{
		"backends?name=b1&address=127.0.0.1:1":          "the name is taken",
		"backends?name=b2&address=nowhere":              "without a port",
		"backends?address=127.0.0.1:1":                  "backend without a name",
		"backends?name=b2&address=127.0.0.1:1&weight=0": "outside 1 to 1000",
		"backends?name=b2&address=h:1,weight=2":         "accepted: ",
		"backends?name=a=h:1,weight=3&address=h:1":      "accepted: ",
		"weight?backend=b1&weight=much":                 "accepted: 1 to 1000",
		"weight?backend=b7&weight=1":                    "accepted: b1",
	} {
		r, body := s.do("POST", "/_minilb/"+path)
		assert.GreaterOrEqual(t, r.StatusCode, 400, path)
		assert.Less(t, r.StatusCode, 500, path)
		assert.Contains(t, body, says, path)
	}
}

func TestTheAdminListenerKeepsItsPagesFromClients(t *testing.T) {
	s := newStack(t, func(c *Config) { quiet(c); c.Admin = "127.0.0.1:0" }, 0)
	_, body := s.send("GET", "http://"+s.AdminAddr()+"/_minilb/status")
	assert.Contains(t, body, `"name": "b1"`)
	r, _ := s.do("GET", "/_minilb/status")
	assert.Equal(t, "b1", r.Header.Get("x-minilb-backend"), "forwarded as any other path")
}

func TestEventsAreSentAsTheyHappen(t *testing.T) {
	s := newStack(t, quiet, 0, 0)
	s.do("POST", "/_minilb/weight?backend=b1&weight=2")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "GET", "http://"+s.Addr()+"/_minilb/events", nil)
	resp, err := s.client.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	next := func() (id string, e EventStatus) {
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				id = text
			}
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				require.NoError(t, json.Unmarshal([]byte(text), &e))
				return id, e
			}
		}
		return "", e
	}
	id, e := next()
	assert.Equal(t, "1 b1 changed weight 2", fmt.Sprint(id, " ", e.Backend, " ", e.What, " ", e.Reason))
	s.do("POST", "/_minilb/weight?backend=b2&weight=3")
	id, e = next()
	assert.Equal(t, "2 b2", id+" "+e.Backend)

	back := httptest.NewRequest("GET", "/_minilb/events", nil)
	back.Header.Set("Last-Event-ID", "1")
	gone, leave := context.WithCancel(context.Background())
	leave()
	w := httptest.NewRecorder()
	s.serveEvents(w, back.WithContext(gone))
	assert.Contains(t, w.Body.String(), "id: 2\n", "what it missed")
	assert.NotContains(t, w.Body.String(), "id: 1\n")
}

func TestAStreamOfEventsDoesNotHoldUpTheEnd(t *testing.T) {
	for _, admin := range []string{"", "127.0.0.1:0"} {
		c := Default()
		quiet(&c)
		c.Listen, c.Admin = "127.0.0.1:0", admin
		require.NoError(t, ptr(&c).UnmarshalText([]byte("b1="+deadAddress(t))))
		p, err := Start(c, Options{Log: &logBuffer{}})
		require.NoError(t, err)
		client := &http.Client{}
		resp, err := client.Get("http://" + p.AdminAddr() + "/_minilb/events")
		require.NoError(t, err)
		began := time.Now()
		assert.Zero(t, p.Stop())
		assert.Less(t, time.Since(began), 5*time.Second)
		_ = resp.Body.Close()
		client.CloseIdleConnections()
	}
}

var sample = regexp.MustCompile(`(?m)^(minilb_[a-z_]+)(\{[^}]*\})? (\S+)$`)

func (s *stack) metrics() map[string]string {
	s.t.Helper()
	_, body := s.do("GET", "/_minilb/metrics")
	all := map[string]string{}
	for _, m := range sample.FindAllStringSubmatch(body, -1) {
		all[m[1]+m[2]] = m[3]
	}
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			require.True(s.t, strings.HasPrefix(line, "minilb_"), line)
		}
	}
	return all
}

func TestMetricsCountWhatHappened(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.Algorithm = "round_robin"; c.BudgetWait = 0 }, serveBackend(t, "b1", 0), deadAddress(t))
	for range 4 {
		s.served() // half of them go to b2 first
	}
	s.mode(0, "status=500")
	s.do("POST", "/")
	s.do("POST", "/")
	m := s.metrics()
	for name, value := range map[string]string{
		`minilb_requests_total{backend="b1",code="2xx"}`:               "4",
		`minilb_requests_total{backend="b1",code="5xx"}`:               "2",
		`minilb_attempts_total{backend="b1",outcome="2xx"}`:            "4",
		`minilb_backend_eligible{backend="b2"}`:                        "1",
		`minilb_backend_state{backend="b1",state="healthy"}`:           "1",
		`minilb_backend_state{backend="b1",state="ejected"}`:           "0",
		`minilb_backend_in_flight{backend="b1"}`:                       "0",
		`minilb_in_flight`:                                             "0",
		`minilb_queue_length`:                                          "0",
		`minilb_panic`:                                                 "0",
		`minilb_request_duration_seconds_count`:                        "6",
		`minilb_request_duration_seconds_bucket{le="+Inf"}`:            "6",
		`minilb_attempt_duration_seconds_bucket{backend="b1",le="60"}`: "6",
		`minilb_ejections_total`:                                       "0",
		`minilb_ejections_refused_total`:                               "0",
		`minilb_retries_in_flight`:                                     "0",
		`minilb_retry_budget`:                                          "3",
	} {
		assert.Equal(t, value, m[name], name)
	}
	assert.NotEqual(t, "0", m[`minilb_retries_total{backend="b1"}`])
	assert.Equal(t, m[`minilb_retries_total{backend="b1"}`], m[`minilb_attempts_total{backend="b2",outcome="refused"}`])
}

func TestProbesAreCounted(t *testing.T) {
	s := newStackOver(t, func(c *Config) { c.CheckInterval, c.CheckTimeout = 20*time.Millisecond, time.Second }, serveBackend(t, "b1", 0), deadAddress(t))
	s.until("b2", "unhealthy")
	m := s.metrics()
	assert.NotEmpty(t, m[`minilb_probes_total{backend="b1",result="pass"}`])
	assert.NotEmpty(t, m[`minilb_probes_total{backend="b2",result="fail"}`])
	assert.Equal(t, "0", m[`minilb_backend_eligible{backend="b2"}`])
}

func TestABackendThatLeftLeavesNoSeriesBehind(t *testing.T) {
	s := newStack(t, quiet, 0, 0)
	for range 4 {
		s.served()
	}
	require.Contains(t, s.metrics(), `minilb_attempts_total{backend="b2",outcome="2xx"}`)
	s.do("DELETE", "/_minilb/backends?backend=b2")
	require.Eventually(t, func() bool {
		_, there := s.metrics()[`minilb_attempts_total{backend="b2",outcome="2xx"}`]
		return !there
	}, 5*time.Second, 5*time.Millisecond)
}

func TestSkippedRetriesGoByTheirReason(t *testing.T) {
	for note, reason := range map[string]string{
		"not retried: POST is not idempotent":                      "method",
		"not retried: retry budget exhausted":                      "budget",
		"not retried: no other backend":                            "no_other_backend",
		"not retried: every backend is at max-inflight":            "full",
		"not retried: body of 5 MB is over --retry-buffer":         "retry_buffer",
		"not retried: the client was still sending its body":       "body",
		"not retried: something that nobody has thought of so far": "other",
	} {
		assert.Equal(t, reason, reasons[reasonIndex(note)], note)
	}
}

func TestTheAccessLogHasALineForEachRequest(t *testing.T) {
	for form, want := range map[string]string{
		"common": `^127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "GET /a%20b\?q=1 HTTP/1\.1" 200 \d+\n$`,
		"json":   `^\{"time":"[^"]+","level":"INFO","msg":"request","client":"127.0.0.1","method":"GET","host":"[^"]+","target":"/a%20b\?q=1","protocol":"HTTP/1.1","status":200,"bytes":\d+,"took_s":[0-9.e-]+,"backend":"b1","attempts":"b1:200","note":"","user_agent":"Go-http-client/1.1"\}\n$`,
		"off":    `^$`,
	} {
		access := &logBuffer{}
		c := Default()
		quiet(&c)
		c.Listen, c.AccessLog = "127.0.0.1:0", form
		require.NoError(t, ptr(&c).UnmarshalText([]byte("b1="+serveBackend(t, "b1", 0))))
		s := &stack{t: t, log: &logBuffer{}, client: &http.Client{}}
		var err error
		s.Proxy, err = Start(c, Options{Log: s.log, Access: access})
		require.NoError(t, err)
		s.do("GET", "/a%20b?q=1")
		s.client.CloseIdleConnections()
		s.Stop()
		assert.Regexp(t, want, access.String(), form)
	}
}

// ptr is room for one backend at the end of a configuration's list.
func ptr(c *Config) *Backend {
	c.Backends = append(c.Backends, Backend{})
	return &c.Backends[len(c.Backends)-1]
}

func TestAForgedLineStaysInItsOwn(t *testing.T) {
	var out strings.Builder
	r := &logged{client: "192.0.2.1", method: "GET", target: "/\" 200 1\n192.0.2.9 - - [x] \"GET /", protocol: "HTTP/1.1"}
	commonLine(&out, r, &answered{status: 404}, time.Unix(0, 0).UTC())
	assert.Equal(t, `192.0.2.1 - - [01/Jan/1970:00:00:00 +0000] "GET /\" 200 1\n192.0.2.9 - - [x] \"GET / HTTP/1.1" 404 0`+"\n", out.String())
}

func TestEventsAreLoggedInTheFormAskedFor(t *testing.T) {
	for form, want := range map[string]string{
		"plain": `\[minilb\] t=\d+\.\d+ b1 changed: weight 2\n`,
		"text":  `level=INFO msg="t=[0-9.]+ b1 changed: weight 2" at=[0-9.]+ backend=b1 what=changed reason="weight 2"\n`,
		"json":  `"msg":"t=[0-9.]+ b1 changed: weight 2","at":[0-9.]+,"backend":"b1","what":"changed","reason":"weight 2"\}\n`,
	} {
		s := newStack(t, func(c *Config) { quiet(c); c.EventLog = form }, 0)
		s.do("POST", "/_minilb/weight?backend=b1&weight=2")
		require.Eventually(t, func() bool { return regexp.MustCompile(want).MatchString(s.log.String()) }, 5*time.Second, time.Millisecond, "%s: %s", form, s.log)
	}
}

func TestThePageAsksNobodyElse(t *testing.T) {
	s := newStack(t, quiet, 0)
	r, body := s.do("GET", "/_minilb/", "Accept", "text/html,*/*")
	assert.Contains(t, r.Header.Get("Content-Type"), "text/html")
	assert.NotRegexp(t, `(src|href)="?(https?:)?//`, body)
	assert.Contains(t, body, `new EventSource("events")`)
	assert.Contains(t, r.Header.Get("Content-Security-Policy"), "connect-src 'self'")
}
