package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"minilb/core/lb"
	"minilb/core/scenario"
)

// benchmark plays a scenario again and again with one policy and reports how
// many events a second were dispatched.
func benchmark(b *testing.B, algorithm string, s scenario.Scenario, o Options) {
	b.Helper()
	b.ReportAllocs()
	simulate := func() uint64 {
		e, err := newEngine(s, algorithm, o)
		require.NoError(b, err)
		require.NoError(b, e.run())
		return e.steps
	}
	simulate() // not counted: node compiles for speed only what it has seen at work
	b.ResetTimer()
	events := uint64(0)
	for range b.N {
		events += simulate()
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkSimulateRoundRobin(b *testing.B) {
	benchmark(b, "round_robin", steady(b, 100_000), Options{})
}

func BenchmarkSimulateLeastConn(b *testing.B) {
	benchmark(b, "least_conn", steady(b, 100_000), Options{})
}

func BenchmarkSimulateP2C(b *testing.B) { benchmark(b, "p2c", steady(b, 100_000), Options{}) }

func BenchmarkSimulateSeries(b *testing.B) {
	benchmark(b, "p2c", steady(b, 100_000), Options{Series: true, Events: true})
}

func BenchmarkSimulateGuarded(b *testing.B) {
	benchmark(b, "p2c", guarded(b, 100_000), Options{})
}

func BenchmarkSimulateOverload(b *testing.B) {
	s := steady(b, 100_000)
	s.Rate = 1000
	benchmark(b, "round_robin", s, Options{})
}

// Every error of a backend that the cap keeps in is judged and refused.
func BenchmarkSimulateRefused(b *testing.B) {
	s := one(b, "p2c", "a=20", "b=20", "broken=2,errors=1")
	s.Consecutive5xx, s.MaxEjectionPercent, s.Requests = 5, 33, 100_000
	benchmark(b, "p2c", s, Options{})
}

// The plain queue: one backend of four workers at four fifths of its capacity.
func BenchmarkSimulateMM4(b *testing.B) {
	s := one(b, "round_robin", "a=20")
	s.Rate, s.Requests = 160, 100_000
	benchmark(b, "round_robin", s, Options{})
}

// What an event loop costs that does nothing but keep events in order: the
// measure beside which the others stand.
func BenchmarkBareHeap(b *testing.B) {
	b.ReportAllocs()
	var h heap
	for i := range 8 {
		h.push(lb.Time(i), served, 0, 0)
	}
	draws := chance(1)
	for i := range b.N {
		at := h.next()
		h.pop()
		h.push(at+lb.Time(draws.word(forService, uint64(i), 0)>>44), served, 0, 0)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
