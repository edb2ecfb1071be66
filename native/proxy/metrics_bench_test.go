package proxy

import (
	"testing"
	"time"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/native/forward"
)

// What the metrics cost a request: an attempt and its end, without allocation.
func BenchmarkMeters(b *testing.B) {
	policy, _ := pick.Find("first")
	pickers, err := policy.Pickers(Default().PickConfig)
	if err != nil {
		b.Fatal(err)
	}
	pool, err := lb.New(0, lb.Config{}, lb.Parts{Pickers: pickers}, []lb.Backend{{Name: "b1", Weight: 1}})
	if err != nil {
		b.Fatal(err)
	}
	lease, err := pool.Acquire(0, lb.Query{})
	if err != nil {
		b.Fatal(err)
	}
	m, o := newMeters(), lb.Outcome{Status: 200, Latency: time.Millisecond}
	f := forward.Finished{Lease: lease, Status: 200, Attempts: 1, Took: time.Millisecond}
	b.ReportAllocs()
	for b.Loop() {
		m.Attempted(lease, o)
		m.Finished(&f)
	}
}
