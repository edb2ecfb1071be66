package proxy

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// soakRequests is how many requests each kind of change has to stand:
// MINILB_SOAK=50000 go test ./native/proxy -run Soak.
func soakRequests(t *testing.T) int64 {
	text := os.Getenv("MINILB_SOAK")
	if text == "" {
		return 1500
	}
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err, "MINILB_SOAK")
	return n
}

// Reload, drain, add and remove, over and over while POSTs come in: every one
// is answered, none is executed twice, and when it is over nothing is left.
func TestSoakNoChangeLosesOrRepeatsARequest(t *testing.T) {
	n := soakRequests(t)
	kinds := map[string]func(s *stack, f *fleet, write func(string), i int){
		"reload": func(_ *stack, f *fleet, write func(string), i int) { write(soakPolicy(f, i)) },
		"drain": func(s *stack, f *fleet, _ func(string), _ int) {
			s.do("POST", "/_minilb/drain?backend=b2&timeout=20")
			s.do("POST", "/_minilb/undrain?backend=b2")
			s.do("POST", "/_minilb/backends?name=b2&address="+f.addresses[1]) // it may have left
		},
		"add and remove": func(s *stack, f *fleet, _ func(string), i int) {
			s.do("POST", fmt.Sprintf("/_minilb/backends?name=x%d&address=%s&weight=%d", i, f.addresses[2], 1+i%3))
			s.do("DELETE", fmt.Sprintf("/_minilb/backends?backend=x%d&timeout=20", i-1))
			s.do("POST", fmt.Sprintf("/_minilb/weight?backend=b1&weight=%d", 1+i%5))
		},
	}
	for name, change := range kinds {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, 4)
			s, write := newPolicyStack(t, soakPolicy(f, 0))
			before := descriptors()
			tr := s.under(4)
			i := 0
			for ; i < 10 || tr.sent.Load() < n; i++ {
				change(s, f, write, i+1)
				pauseFor := tr.sent.Load() + n/100
				require.Eventually(t, func() bool { return tr.sent.Load() >= pauseFor }, 30*time.Second, 100*time.Microsecond)
			}
			tr.verify(f)
			verifyNothingIsLeft(t, s)
			s.client.CloseIdleConnections()
			s.upstream.close()
			if before > 0 {
				require.Eventually(t, func() bool { return descriptors() <= before+2 }, 10*time.Second, 10*time.Millisecond, "%d descriptors before, %d after", before, descriptors())
			}
		})
	}
}

func soakPolicy(f *fleet, i int) string {
	policies := []string{"round_robin", "least_conn", "p2c", "peak_ewma", "weighted_round_robin", "random", "maglev"}
	backends := fmt.Sprintf("- {name: b1, address: %s, weight: %d}\n- b2=%s\n", f.addresses[0], 1+i%4, f.addresses[1])
	if i%2 == 1 {
		backends += "- b3=" + f.addresses[2+i%4/2] + "\n"
	}
	return fmt.Sprintf("%salgorithm: %s\nhash-on: header:X-Id\nretries: %d\nmax-inflight: %d\nqueue: 50\nbackends:\n%s",
		still, policies[i%len(policies)], i%3, i%2*3, backends)
}

func verifyNothingIsLeft(t *testing.T, s *stack) {
	t.Helper()
	assert.Eventually(t, func() bool { return s.pool.Counts().InFlight == 0 && s.ops.requests() == 0 }, 5*time.Second, time.Millisecond)
	assert.Zero(t, s.pool.Counts().Waiting)
	for _, h := range s.ops.all() {
		assert.Zero(t, h.Budget.Retries())
	}
}

// descriptors is how many this process has open; 0 where that cannot be seen.
func descriptors() int {
	if runtime.GOOS != "linux" {
		return 0
	}
	http.DefaultClient.CloseIdleConnections()
	all, _ := os.ReadDir("/proc/self/fd")
	return len(all)
}
