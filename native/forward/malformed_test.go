package forward

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"minilb/core/lb"
)

func TestRequestThatNoBackendIsToSeeIsRefused(t *testing.T) {
	cases := []struct {
		claim string
		Request
		status int
	}{
		{"a path", Request{Method: "GET", Target: "/"}, 0},
		{"whatever a client wrote in it", Request{Method: "GET", Target: "//a%2Fb/../;c?d?e=%zz&f\xff"}, 0},
		{"the asterisk", Request{Method: "OPTIONS", Target: "*"}, 0},
		{"the asterisk for another method", Request{Method: "GET", Target: "*"}, 400},
		{"more than the asterisk", Request{Method: "OPTIONS", Target: "*a"}, 400},
		{"no target", Request{Method: "GET"}, 400},
		{"a fragment", Request{Method: "GET", Target: "/a#b"}, 400},
		{"an empty fragment", Request{Method: "GET", Target: "/?a#"}, 400},
		{"a space", Request{Method: "GET", Target: "/a b"}, 400},
		{"a line end", Request{Method: "GET", Target: "/\r\nA: b"}, 400},
		{"DEL", Request{Method: "GET", Target: "/\x7f"}, 400},
		{"a path without a slash", Request{Method: "GET", Target: "a"}, 400},
		{"a name", Request{Method: "GET", Target: "/", Host: "A-b.example:80"}, 0},
		{"an address", Request{Method: "GET", Target: "/", Host: "[fe80::1%25eth0]:80"}, 0},
		{"a user", Request{Method: "GET", Target: "/", Host: "a@b"}, 400},
		{"a path in the host", Request{Method: "GET", Target: "/", Host: "a/b"}, 400},
		{"a host beyond ASCII", Request{Method: "GET", Target: "/", Host: "caf\xc3\xa9"}, 400},
		{"CONNECT", Request{Method: "CONNECT", Target: "a:1", Host: "a:1"}, 405},
	}
	for _, c := range cases {
		status, why := c.refusal()
		assert.Equal(t, c.status, status, c.claim)
		assert.Equal(t, status == 0, why == "", c.claim)
	}
}

// finishes is an Observer of how requests ended.
type finishes struct{ statuses []int }

func (f *finishes) Attempted(lb.Lease, lb.Outcome) {}
func (f *finishes) Waited(time.Duration)           {}
func (f *finishes) Finished(r *Finished)           { f.statuses = append(f.statuses, r.Status) }

// TestRefusedRequestIsObservedWithItsStatus and without a backend.
func TestRefusedRequestIsObservedWithItsStatus(t *testing.T) {
	l := newLab(t, nil, status(200))
	seen := &finishes{}
	l.Observe = seen
	r := l.do("GET", "/", "")
	assert.Equal(t, 200, r.StatusCode)
	r = l.do("CONNECT", "/", "")
	assert.Equal(t, 405, r.StatusCode)
	assert.Equal(t, "-", r.Header.Get("x-minilb-backend"))
	assert.Equal(t, []int{200, 405}, seen.statuses)
	assert.Zero(t, l.Budget.Requests())
}

func TestTrailersThatPassAreThoseOfTheBodyAlone(t *testing.T) {
	h := http.Header{"Content-Length": {"1"}, "If-None-Match": {"a"}, "X-Minilb-Note": {"a"}, "Grpc-Status": {"0"}, "Etag": {"a"}, "Te": {"a"}, "Date": {"a"}, "Content-Digest": {"a"}}
	assert.Equal(t, http.Header{"Grpc-Status": {"0"}, "Etag": {"a"}, "Content-Digest": {"a"}}, trailing(h))
	assert.Len(t, h, 8, "the map is left as it is")
	assert.Equal(t, []string{"A", "Grpc-Status", "B"}, announcing([]string{"a, Host,, grpc-status", "Set-Cookie", "B"}))
	assert.Nil(t, announcing([]string{"x-forwarded-for"}))
}
