// Package lb holds what every decision of minilb is about: the backends of a
// pool, which of them are eligible, and how many requests each has in flight.
//
// The simulator, the proxy, the page and the edge worker all drive the same
// Pool. It owns no clock, goroutine or source of chance: time comes in with
// each call, chance as a random word in the Query, and what should be slept,
// dialled or logged goes out as a value.
package lb

import (
	"strconv"
	"time"
)

// Time is an instant: nanoseconds since the run began. It is not the wall
// clock, so that a run can be replayed and two runs can be compared.
type Time int64

// Never is later than every instant of a run; it means that nothing is due.
const Never Time = 1<<63 - 1

// Add returns the instant d after t, or Never when that is past the end of time.
func (t Time) Add(d time.Duration) Time {
	if d > 0 && t > Never-Time(d) {
		return Never
	}
	return t + Time(d)
}

// Sub returns how long t is after u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Seconds returns the instant in seconds.
func (t Time) Seconds() float64 { return float64(t) / 1e9 }

// String gives seconds with three decimals, as in an event line: 1.608.
func (t Time) String() string {
	if t == Never {
		return "never"
	}
	return strconv.FormatFloat(t.Seconds(), 'f', 3, 64)
}
