package pick_test

import (
	"strconv"
	"testing"
	"time"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/stat"
)

// BenchmarkAcquireRelease is one whole attempt through the pool, as the proxy
// makes them: choose, count, take the outcome in.
func BenchmarkAcquireRelease(b *testing.B) {
	for _, p := range pick.All {
		b.Run(p.Name, func(b *testing.B) { acquireRelease(b, p.Name, p.Latency, 5) })
	}
	b.Run("least_conn_of_100", func(b *testing.B) { acquireRelease(b, "least_conn", false, 100) })
}

func acquireRelease(b *testing.B, policy string, latency bool, n int) {
	parts := lb.Parts{Pickers: pickers(b, policy, defaults())}
	if latency {
		parts.Latency = lb.NewLatencies(10 * time.Second)
	}
	pool, err := lb.New(0, lb.Config{}, parts, backends(ones(n)...))
	if err != nil {
		b.Fatal(err)
	}
	done := lb.Outcome{Status: 200, Latency: time.Millisecond}
	b.ReportAllocs()
	word := uint64(1)
	now := lb.Time(0)
	for b.Loop() {
		word = stat.Next(word)
		now += 1000
		l, err := pool.Acquire(now, lb.Query{Rand: word, Hash: word, HasKey: true})
		if err != nil {
			b.Fatal(err)
		}
		pool.Release(now, l, done)
	}
}

// BenchmarkLookup is the hashing policies' structures without the pool, for
// keys that are hashed already.
func BenchmarkLookup(b *testing.B) {
	b.Run("maglev", func(b *testing.B) {
		m := pick.NewMaglev(names(5), ones(5), 65537)
		lookup(b, m.Owner)
	})
	for _, n := range []int{5, 100} {
		b.Run("ring_of_"+strconv.Itoa(n), func(b *testing.B) {
			r := pick.NewRing(names(n), times(n, 160))
			lookup(b, r.Owner)
		})
	}
}

var sink int

func lookup(b *testing.B, owner func(uint64) int) {
	b.ReportAllocs()
	word, sum := uint64(1), 0
	for b.Loop() {
		word = word*0xd1342543de82ef95 + 1
		sum += owner(word)
	}
	sink = sum
}

// BenchmarkHash is what a key costs before its lookup.
func BenchmarkHash(b *testing.B) {
	for _, n := range []int{8, 32, 100} {
		key := string(make([]byte, n))
		b.Run(strconv.Itoa(n)+"_bytes", func(b *testing.B) {
			b.ReportAllocs()
			sum := uint64(0)
			for b.Loop() {
				sum += pick.Hash(key)
			}
			sink = int(sum)
		})
	}
}

// BenchmarkBuild is what a change of the eligible backends costs.
func BenchmarkBuild(b *testing.B) {
	b.Run("maglev_65537_of_5", func(b *testing.B) {
		for b.Loop() {
			sink = pick.NewMaglev(names(5), ones(5), 65537).Owner(0)
		}
	})
	b.Run("ring_of_1000", func(b *testing.B) {
		for b.Loop() {
			sink = pick.NewRing(names(1000), times(1000, 160)).Len()
		}
	})
	b.Run("weighted_round_robin_1_to_128", func(b *testing.B) {
		weights := make([]int, 128)
		for i := range weights {
			weights[i] = i + 1
		}
		build, set := pickers(b, "weighted_round_robin", defaults()), lb.NewSet(backends(weights...), new(lb.Loads))
		for b.Loop() {
			sink = build(set).Pick(lb.Query{})
		}
	})
}
