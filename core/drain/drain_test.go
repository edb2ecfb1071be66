package drain_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"minilb/core/drain"
	"minilb/core/lb"
)

var _ lb.Drain = drain.Policy{}

func TestABackendLeavesWithItsLastRequestOrAtItsDeadline(t *testing.T) {
	const s = lb.Time(1e9)
	cases := []struct {
		now, deadline lb.Time
		inFlight      int
		done          bool
		reason        string
	}{
		{1 * s, 30 * s, 0, true, "drained: no requests in flight"},
		{1 * s, 30 * s, 1, false, ""},
		{30*s - 1, 30 * s, 2, false, ""},
		{30 * s, 30 * s, 2, true, "drain deadline passed with 2 in flight"},
		{31 * s, 30 * s, 1, true, "drain deadline passed with 1 in flight"},
		{31 * s, 30 * s, 0, true, "drained: no requests in flight"}, // nothing is cut off: say so
		{5 * s, 5 * s, 3, true, "drain deadline passed with 3 in flight"},
		{5 * s, lb.Never, 3, false, ""},
		{5 * s, lb.Never, 0, true, "drained: no requests in flight"},
	}
	for _, c := range cases {
		done, reason := drain.Policy{}.Leave(c.now, c.deadline, c.inFlight)
		assert.Equal(t, c.done, done, "%+v", c)
		assert.Equal(t, c.reason, reason, "%+v", c)
	}
}

// A backend waits for its requests, but not for ever.
func ExamplePolicy() {
	var policy drain.Policy
	done, _ := policy.Leave(10e9, 30e9, 2)
	fmt.Println(done)
	_, reason := policy.Leave(12e9, 30e9, 0)
	fmt.Println(reason)
	_, reason = policy.Leave(30e9, 30e9, 2)
	fmt.Println(reason)
	// Output:
	// false
	// drained: no requests in flight
	// drain deadline passed with 2 in flight
}
