// Package drain decides when a backend that takes no new requests may go.
package drain

import (
	"strconv"

	"minilb/core/lb"
)

// Policy is the rule of connection draining, as in an ALB's deregistration
// delay: a backend leaves when its last request has ended, or at a deadline
// with whatever it still holds. The zero value is ready for use.
type Policy struct{}

// Leave says whether a draining backend is done, and why in words.
func (Policy) Leave(now, deadline lb.Time, inFlight int) (done bool, reason string) {
	switch {
	case inFlight <= 0:
		return true, "drained: no requests in flight"
	case now >= deadline:
		return true, "drain deadline passed with " + strconv.Itoa(inFlight) + " in flight"
	}
	return false, ""
}
