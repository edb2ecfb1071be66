package outlier_test

import (
	"fmt"
	"time"

	"minilb/core/lb"
	"minilb/core/outlier"
)

// Three errors in a row take a backend out; Next says when it is back.
func ExampleDetector() {
	d := outlier.New(outlier.Config{Consecutive5xx: 3, BaseEjection: time.Second, MaxEjectionPercent: 34})
	for slot := range 3 {
		d.Add(slot)
	}
	pool := lb.Census{Members: 3, Counts: func(int) bool { return true }}
	now := lb.Time(1608 * time.Millisecond)
	for range 3 {
		if d.Note(2, lb.Outcome{Status: 500}) {
			v := d.Judge(now, 2, pool)
			fmt.Println(v.What, v.Reason)
		}
	}
	pool.Ejected = 1
	d.Advance(d.Next(), pool, func(slot int, v lb.Verdict) { fmt.Println(v.At, v.What, v.Reason) })
	// Output:
	// ejected 3 consecutive 5xx; ejected for 1s (ejection 1)
	// 2.608 returned ejection 1 over after 1s
}

// With Envoy's default cap of 10% a small pool never ejects anybody.
func ExampleConfig() {
	c := outlier.Config{Consecutive5xx: 5, MaxEjectionPercent: 10}
	fmt.Println(c.Warning(3))
	fmt.Println(c.Warning(10) == "")
	// Output:
	// max-ejection-percent 10 can never eject one of 3 backends (that would be 33.3%); use 34 or more, or always-eject-one-host
	// true
}
