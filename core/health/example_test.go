package health_test

import (
	"fmt"
	"time"

	"minilb/core/health"
	"minilb/core/lb"
)

// The shell sleeps until Next, sends the probes that are due, and says what
// they found.
func ExampleChecker() {
	k := health.New(health.Config{CheckInterval: 2 * time.Second, Rise: 2, Fall: 3}, 0)
	k.Add(0, 0, false)
	for range 4 {
		now := k.Next()
		for _, slot := range k.Due(now, nil) {
			if up, changed, reason := k.Record(now, slot, lb.ProbeResult{Status: 500}); changed {
				fmt.Printf("t=%s up=%v: %s\n", now, up, reason)
			}
		}
	}
	// Output: t=4.000 up=false: 3 consecutive failed checks (last: HTTP 500)
}

// With check-expect only that status passes; by default any 2xx or 3xx does.
func ExampleConfig() {
	moved := lb.ProbeResult{Status: 302}
	fmt.Println(health.Config{}.Passes(moved))
	fmt.Println(health.Config{CheckExpect: 200}.Passes(moved))
	// Output:
	// true
	// false
}
