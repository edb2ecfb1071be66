package lb

import (
	"math"
	"time"

	"minilb/core/stat"
)

// Loads counts requests in flight by slot, dense in memory. Pickers read it
// through their Set, so that a balancer with a stale or partial view of the
// world runs the same picker over other Loads.
type Loads struct {
	n [MaxBackends]Int32
}

// InFlight returns the count at a slot.
func (l *Loads) InFlight(slot int) int { return int(l.n[slot].Load()) }

// Store sets the count at a slot; for a view that is refreshed from elsewhere.
func (l *Loads) Store(slot, n int) { l.n[slot].Store(int32(n)) }

// claim adds one request at a slot unless that would go over limit (0: no
// limit). It never overshoots, however many claim at once.
func (l *Loads) claim(slot int, limit int32) bool {
	if limit == 0 {
		l.n[slot].Add(1)
		return true
	}
	for {
		n := l.n[slot].Load()
		if n >= limit {
			return false
		}
		if l.n[slot].CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Latencies keeps a peak-sensitive moving average of latency by slot: it jumps
// to a higher latency at once and decays towards lower ones with a time
// constant, as in Finagle's peak EWMA.
type Latencies struct {
	decay float64 // nanoseconds
	slots [MaxBackends]latency
}

type latency struct {
	ewma Uint64 // float64 bits, nanoseconds
	at   Int64  // Time of the last change
}

// NewLatencies returns averages that forget 63% of the past in decay.
func NewLatencies(decay time.Duration) *Latencies {
	return &Latencies{decay: float64(decay)}
}

// Observe takes one latency in. Simultaneous observations may lose one of them.
func (l *Latencies) Observe(now Time, slot int, d time.Duration) {
	s := &l.slots[slot]
	old := math.Float64frombits(s.ewma.Load())
	seen := float64(d)
	if seen < old {
		w := l.fade(now, s)
		seen = float64(old*w) + float64(seen*(1-w))
	}
	s.ewma.Store(math.Float64bits(seen))
	s.at.Store(int64(now))
}

// At returns the average at a slot in nanoseconds, decayed to now; 0 when
// nothing has been seen.
func (l *Latencies) At(now Time, slot int) float64 {
	s := &l.slots[slot]
	old := math.Float64frombits(s.ewma.Load())
	if old == 0 {
		return 0
	}
	return old * l.fade(now, s)
}

// fade is what is left of the past by now. Callers' clocks may be out of order
// by a little; nothing grows because of that.
func (l *Latencies) fade(now Time, s *latency) float64 {
	return faded(float64(max(0, now-Time(s.at.Load()))) / l.decay)
}

func (l *Latencies) forget(slot int) {
	l.slots[slot].ewma.Store(0)
	l.slots[slot].at.Store(0)
}

// faded is exp(-x), how much of an average is left after x time constants.
// Between two requests x is mostly tiny, and four terms of the series are then
// as exact as a float is.
func faded(x float64) float64 {
	if !(0 <= x && x < 1.0/4096) {
		return stat.Exp(-x)
	}
	square := float64(x * x)
	return 1 - x + float64(square*(0.5-float64(x*(1.0/6))))
}
