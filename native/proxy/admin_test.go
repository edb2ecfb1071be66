package proxy

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var testSite = fstest.MapFS{
	"index.html":     {Data: []byte("<!doctype html>the playground")},
	"minilb.wasm":    {Data: []byte("\x00asm")},
	"minilb.wasm.gz": {Data: gzipped("\x00asm")},
	"app.js":         {Data: []byte("1")},
}

func gzipped(text string) []byte {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return []byte(b.String())
}

func TestAdminAnswersOnlyToThisMachineAndItsOwnPages(t *testing.T) {
	s := newStack(t, quiet, 0, 0)
	cases := []struct {
		claim  string
		header []string
		status int
	}{
		{"curl", nil, 200},
		{"its own page", []string{"Origin", "http://" + s.Addr(), "Sec-Fetch-Site", "same-origin"}, 200},
		{"another site's page, new browser", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"another port's page", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"another site's page, old browser", []string{"Origin", "http://evil.example"}, 403},
		{"a page without an origin", []string{"Origin", "null"}, 403},
		{"a name that was pointed here", []string{"Host", "evil.example"}, 403},
	}
	for _, c := range cases {
		r, body := s.do("POST", "/_minilb/drain?backend=b2&timeout=-1", c.header...)
		if c.status == 200 {
			assert.Equal(t, 400, r.StatusCode, "%s: let in, and told about the timeout: %s", c.claim, body)
			continue
		}
		assert.Equal(t, c.status, r.StatusCode, c.claim)
	}
	for remote, status := range map[string]int{"127.0.0.1:5": 200, "[::1]:5": 200, "[::ffff:127.0.0.1]:5": 200, "192.0.2.1:5": 403, "": 403} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/_minilb/status", nil)
		r.RemoteAddr, r.Host = remote, "localhost:8080"
		s.front().ServeHTTP(w, r)
		assert.Equal(t, status, w.Code, remote)
	}
}

func TestAdminSaysWhatItAccepts(t *testing.T) {
	s := newStack(t, quiet, 0, 0)
	cases := []struct {
		method, path string
		status       int
		says         string
	}{
		{"POST", "/_minilb/drain?backend=b9", 404, `backend "b9": no such backend; accepted: b1, b2`},
		{"POST", "/_minilb/drain", 404, `backend "": no such backend`},
		{"POST", "/_minilb/drain?backend=b1&timeout=soon", 400, "accepted: 0 to 24h"},
		{"POST", "/_minilb/drain?backend=b1&timeout=NaN", 400, "accepted: 0 to 24h"},
		{"POST", "/_minilb/undrain?backend=b1", 409, "backend b1 is not draining"},
		{"GET", "/_minilb/nothing", 404, "GET  /_minilb/status"},
		{"GET", "/_minilb/", 200, "GET  /_minilb/status"},
		{"GET", "/_minilb", 200, "GET  /_minilb/status"},
	}
	for _, c := range cases {
		r, body := s.do(c.method, c.path)
		assert.Equal(t, c.status, r.StatusCode, c.path)
		assert.Contains(t, body, c.says, c.path)
	}
	r, _ := s.do("GET", "/_minilb/drain?backend=b1")
	assert.NotEqual(t, 200, r.StatusCode, "a link cannot drain")
	assert.Len(t, s.status().Backends, 2)
}

func TestStatusTellsEverything(t *testing.T) {
	s := newStack(t, quiet, 0)
	s.do("GET", "/")
	status := s.status()
	assert.Equal(t, "test", status.Version)
	assert.Equal(t, "round_robin", status.Algorithm)
	b := status.Backends[0]
	assert.Equal(t, s.addresses[0], b.Address)
	assert.Equal(t, uint64(1), b.Attempts)
	assert.Equal(t, "healthy", b.State)
	assert.Nil(t, b.EjectedUntil)
	assert.Nil(t, b.LastProbe)
	_, body := s.do("GET", "/_minilb/status")
	for _, key := range []string{"version", "uptime_s", "algorithm", "name", "address", "weight", "state", "since", "reason", "in_flight", "attempts", "failures", "ejections", "ejected_until", "last_probe", "events"} {
		assert.Contains(t, body, `"`+key+`": `)
	}
}

func TestPlaygroundIsServedWithItsTypes(t *testing.T) {
	play := playground(testSite)
	cases := []struct {
		name, accept, kind, encoding string
		status                       int
	}{
		{"", "", "text/html; charset=utf-8", "", 200},
		{"index.html", "", "text/html; charset=utf-8", "", 200},
		{"app.js", "gzip", "text/javascript; charset=utf-8", "", 200},
		{"minilb.wasm", "", "application/wasm", "", 200},
		{"minilb.wasm", "br, gzip;q=0.5", "application/wasm", "gzip", 200},
		{"minilb.wasm", "gzip;q=0, br", "application/wasm", "", 200},
		{"nothing.js", "", "text/plain; charset=utf-8", "", 404},
		{"../admin.go", "", "text/plain; charset=utf-8", "", 404},
	}
	for _, c := range cases {
		r := httptest.NewRequest("GET", "/", nil)
		r.URL.Path = c.name
		r.Header.Set("Accept-Encoding", c.accept)
		w := httptest.NewRecorder()
		play.ServeHTTP(w, r)
		assert.Equal(t, c.status, w.Code, c.name)
		assert.Equal(t, c.kind, w.Header().Get("Content-Type"), c.name)
		assert.Equal(t, c.encoding, w.Header().Get("Content-Encoding"), c.name)
	}
}

func TestUnbuiltPlaygroundSaysHowToBuildIt(t *testing.T) {
	s := newStack(t, quiet, 0)
	r, body := s.do("GET", "/_minilb/play/")
	assert.Equal(t, 200, r.StatusCode)
	assert.Contains(t, body, "the playground")
	for _, site := range []fstest.MapFS{{}, {"placeholder.html": {Data: []byte("run make site, please")}}} {
		w := httptest.NewRecorder()
		playground(site).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		assert.Contains(t, w.Body.String(), "make site")
	}
	w := httptest.NewRecorder()
	playground(nil).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	require.Equal(t, http.StatusOK, w.Code)
	assert.Contains(t, w.Body.String(), "make site")
}
