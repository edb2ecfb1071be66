package lb_test

import (
	"fmt"
	"testing"
	"time"

	"minilb/core/drain"
	"minilb/core/lb"
)

// BenchmarkChange is what a change of the eligible backends costs, without the
// table of a policy: one backend of a hundred leaves and returns.
func BenchmarkChange(b *testing.B) {
	var backends []lb.Backend
	for i := range 100 {
		backends = append(backends, lb.Backend{Name: fmt.Sprintf("b%d", i), Weight: 1})
	}
	pool, err := lb.New(0, lb.Config{}, lb.Parts{Pickers: first, Drain: drain.Policy{}}, backends)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := pool.Acquire(0, lb.Query{Sticky: "b50"}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = pool.Drain(0, "b50", time.Hour)
		_ = pool.Undrain(0, "b50")
	}
}

// BenchmarkQueue is a request that waits for the one before it.
func BenchmarkQueue(b *testing.B) {
	pool, err := lb.New(0, lb.Config{MaxInflight: 1, Queue: 10}, lb.Parts{Pickers: first}, abc()[:1])
	if err != nil {
		b.Fatal(err)
	}
	l, _ := pool.Acquire(0, lb.Query{})
	ticket := &lb.Ticket{Wake: func() {}}
	b.ReportAllocs()
	for b.Loop() {
		if err := pool.Enqueue(0, lb.Query{}, ticket); err != nil {
			b.Fatal(err)
		}
		pool.Release(0, l, ok)
		l, _ = pool.Take(ticket)
	}
}
