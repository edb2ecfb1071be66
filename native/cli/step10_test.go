package cli

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A walk is the walk-through's setting: three backends and the proxy, each by
// its command, and curl in front.
type walk struct {
	t        *testing.T
	address  string
	backends []string
	proxy    *running
}

// newWalk starts it all, with the walk-through's flags and more, which win.
func newWalk(t *testing.T, flags ...string) *walk {
	t.Helper()
	w := &walk{t: t}
	args := []string{
		"serve", "--listen", "127.0.0.1:0", "--check-interval", "0.2", "--check-jitter", "0", "--rise", "2", "--fall", "3",
		"--consecutive-5xx", "3", "--base-ejection", "1", "--max-ejection-percent", "34", "--sticky-cookie", "MINILB",
	}
	for i, delay := range []string{"0", "0.05", "0"} {
		name := fmt.Sprintf("b%d", i+1)
		b := w.start("backend", "--name", name, "--port", "0", "--delay", delay)
		w.backends = append(w.backends, b.said(t, `listening on (\S+)`)[1])
		args = append(args, "--backend", name+"="+w.backends[i])
	}
	w.proxy = w.start(append(args, flags...)...)
	w.address = w.proxy.said(t, `listening on ([^:]+:\d+): round_robin over 3 backends`)[1]
	return w
}

// start runs a command until the test ends, and says that it ended well.
func (w *walk) start(args ...string) *running {
	r := start(args...)
	w.t.Cleanup(func() {
		r.cancel()
		assert.Zero(w.t, <-r.done, args[0])
	})
	return r
}

func (w *walk) curl(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("curl", append([]string{"--silent", "--show-error", "--max-time", "20"}, args...)...).CombinedOutput()
	require.NoError(w.t, err, string(out))
	return string(out)
}

// get is curl's view of one request to the proxy: the status and the fields.
func (w *walk) get(args ...string) (status string, fields map[string]string) {
	w.t.Helper()
	head := w.curl(append([]string{"--output", "/dev/null", "--dump-header", "-", w.address + "/"}, args...)...)
	fields = map[string]string{}
	for line := range strings.Lines(head) {
		if name, value, ok := strings.Cut(line, ": "); ok {
			fields[strings.ToLower(name)] = strings.TrimSpace(value)
		}
	}
	_, status, _ = strings.Cut(head, " ")
	return status[:3], fields
}

func (w *walk) served(args ...string) string {
	w.t.Helper()
	_, fields := w.get(args...)
	return fields["x-minilb-backend"]
}

func (w *walk) mode(i int, query string) {
	w.t.Helper()
	w.curl("--fail", "--request", "POST", w.backends[i]+"/_backend/mode?"+query)
}

func (w *walk) state(name string) string {
	w.t.Helper()
	var status struct {
		Backends []struct{ Name, State string }
	}
	require.NoError(w.t, json.Unmarshal([]byte(w.curl(w.address+"/_minilb/status")), &status))
	for _, b := range status.Backends {
		if b.Name == name {
			return b.State
		}
	}
	return "gone"
}

func (w *walk) until(name, state string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.state(name) == state }, 20*time.Second, 20*time.Millisecond, "%s is not %s", name, state)
}

// TestTheWalkThrough is all of it, command by command.
func TestTheWalkThrough(t *testing.T) {
	t.Parallel()
	w := newWalk(t, "--retries", "0")
	counts := map[string]int{}
	for range 9 {
		counts[w.served()]++
	}
	assert.Equal(t, map[string]int{"b1": 3, "b2": 3, "b3": 3}, counts)

	w.mode(2, "status=500&health=200") // the checks come later, however slow this machine
	for ejected := false; !ejected; {
		w.get()
		ejected = strings.Contains(w.proxy.log.String(), "b3 ejected")
	}
	w.proxy.said(t, `(?m)^\[minilb\] t=\d+\.\d{3} b3 ejected: 3 consecutive 5xx; ejected for 1s \(ejection 1\)$`)

	w.mode(2, "status=500") // and /health
	w.until("b3", "unhealthy")
	w.proxy.said(t, `(?m)^\[minilb\] t=\d+\.\d{3} b3 down: 3 consecutive failed checks \(last: HTTP 500\)$`)
	w.proxy.said(t, `b3 returned: ejection \d over after \ds`)
	for range 6 {
		status, fields := w.get()
		assert.Equal(t, "200", status, "the checks keep it out after its ejection")
		assert.NotEqual(t, "b3", fields["x-minilb-backend"])
	}

	w.mode(2, "status=200")
	w.until("b3", "healthy")
	w.proxy.said(t, `(?m)^\[minilb\] t=\d+\.\d{3} b3 up: 2 consecutive passed checks$`)
	names := w.served() + w.served() + w.served()
	assert.Contains(t, names, "b3")
}

// Twelve times curl may take longer than an ejection of a second, so this one
// is longer.
func TestTheWalkThroughShowsThreeErrors(t *testing.T) {
	t.Parallel()
	w := newWalk(t, "--retries", "0", "--base-ejection", "600", "--check-interval", "0")
	w.mode(2, "status=500")
	var codes []string
	for range 12 {
		status, _ := w.get()
		codes = append(codes, status)
	}
	assert.Equal(t, 3, strings.Count(strings.Join(codes, " "), "500"), "three 500s, then only 200s: %s", codes)
	assert.NotContains(t, codes[9:], "500")
}

func TestTheWalkThroughWithACookie(t *testing.T) {
	t.Parallel()
	w := newWalk(t, "--retries", "0", "--check-interval", "0", "--base-ejection", "600")
	_, fields := w.get()
	pinned := fields["x-minilb-backend"]
	assert.Equal(t, "MINILB="+pinned+"; Path=/; HttpOnly; SameSite=Lax", fields["set-cookie"])
	cookie := []string{"--header", "Cookie: MINILB=b3"}
	for range 4 {
		_, fields = w.get(cookie...)
		assert.Equal(t, "b3", fields["x-minilb-backend"])
		assert.Empty(t, fields["set-cookie"], "nothing to rewrite")
	}
	w.mode(2, "status=500")
	for range 3 {
		status, _ := w.get(cookie...)
		assert.Equal(t, "500", status, "stickiness does not hide errors")
	}
	_, fields = w.get(cookie...)
	assert.NotEqual(t, "b3", fields["x-minilb-backend"], "it is ejected: the policy chooses")
	assert.Contains(t, fields["set-cookie"], "MINILB="+fields["x-minilb-backend"]+";", "and the cookie is rewritten")
}

func TestTheWalkThroughWithADrain(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.mode(1, "delay=1") // so that one request is in flight for a while
	held := make(chan string)
	go func() {
		held <- w.served("--header", "Cookie: MINILB=b2")
	}()
	require.Eventually(t, func() bool {
		return strings.Contains(w.curl(w.address+"/_minilb/metrics"), `minilb_backend_in_flight{backend="b2"} 1`)
	}, 10*time.Second, 5*time.Millisecond)
	w.curl("--fail", "--request", "POST", w.address+"/_minilb/drain?backend=b2&timeout=30")
	assert.Equal(t, "draining", w.state("b2"))
	_, fields := w.get("--header", "Cookie: MINILB=b2")
	assert.NotEqual(t, "b2", fields["x-minilb-backend"], "no new requests, sticky ones included")
	assert.Equal(t, "b2", <-held, "what it had ends")
	w.until("b2", "gone")
	w.proxy.said(t, `(?m)^\[minilb\] t=\d+\.\d{3} b2 removed: drained: no requests in flight$`)
	for range 6 {
		status, fields := w.get()
		assert.Equal(t, "200", status)
		assert.NotEqual(t, "b2", fields["x-minilb-backend"])
	}
}

func TestTheWalkThroughWithRetries(t *testing.T) {
	t.Parallel()
	flags := []string{"--retries", "1", "--retry-on", "connect-failure,gateway-error,5xx", "--check-interval", "0", "--base-ejection", "600"}
	w := newWalk(t, flags...)
	w.mode(2, "status=500")
	failed := 0
	for range 12 {
		status, fields := w.get()
		assert.Equal(t, "200", status, "no client sees an error")
		if strings.HasPrefix(fields["x-minilb-attempts"], "b3:500,b") {
			failed++
		}
	}
	assert.Equal(t, 3, failed, "and b3 is ejected all the same")

	w = newWalk(t, flags...)
	w.mode(2, "status=500")
	notes := map[string]int{}
	for range 6 {
		status, fields := w.get("--request", "POST", "--data", "order")
		notes[status+" "+fields["x-minilb-note"]]++
	}
	assert.Equal(t, map[string]int{"200 ": 4, "500 not retried: POST is not idempotent": 2}, notes)
}
