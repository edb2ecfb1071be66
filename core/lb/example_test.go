package lb_test

import (
	"fmt"
	"time"

	"minilb/core/drain"
	"minilb/core/lb"
	"minilb/core/outlier"
	"minilb/core/param"
	"minilb/core/pick"
)

// roundRobin is what most examples choose with.
func roundRobin() lb.Pickers {
	policy, _ := pick.Find("round_robin")
	build, _ := policy.Pickers(pick.Config{TableSize: 65537})
	return build
}

// pair is a pool of a and b that logs to the output.
func pair(c lb.Config) *lb.Pool {
	pool, _ := lb.New(0, c, lb.Parts{
		Pickers: roundRobin(), Drain: drain.Policy{},
		Log: func(e lb.Event) { fmt.Println(e) },
	}, []lb.Backend{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}})
	return pool
}

func ExamplePool() {
	pool := pair(lb.Config{})
	for range 4 {
		l, err := pool.Acquire(0, lb.Query{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(l.Name(), " ")
		pool.Release(0, l, lb.Outcome{Status: 200})
	}
	// Output: a b a b
}

// A draining backend finishes what it holds and takes nothing new.
func ExamplePool_Drain() {
	pool := pair(lb.Config{})
	held, _ := pool.Acquire(0, lb.Query{Sticky: "b"})
	_ = pool.Drain(0, "b", 30*time.Second)
	l, _ := pool.Acquire(0, lb.Query{})
	fmt.Println("new:", l.Name())
	pool.Release(lb.Time(2*time.Second), held, lb.Outcome{Status: 200})
	// Output:
	// t=0.000 b draining: 1 in flight, at most 30s
	// new: a
	// t=2.000 b removed: drained: no requests in flight
}

func ExampleLease() {
	pool := pair(lb.Config{})
	l, _ := pool.Acquire(lb.Time(time.Second), lb.Query{Sticky: "b"})
	fmt.Println(l.Name(), l.Slot(), l.Start, l.Sticky, l.Panic)
	pool.Release(lb.Time(2*time.Second), l, lb.Outcome{Status: 200, Latency: time.Second})
	// Output: b 1 1.000 true false
}

// A retry says where the request has been, and goes elsewhere.
func ExampleTried() {
	pool := pair(lb.Config{})
	var tried lb.Tried
	for {
		l, err := pool.Acquire(0, lb.Query{Tried: tried})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(l.Name(), "fails")
		tried = tried.With(l)
		pool.Release(0, l, lb.Outcome{Status: 503})
	}
	// Output:
	// a fails
	// b fails
	// no other backend
}

func ExampleQuery() {
	policy, _ := pick.Find("maglev")
	build, _ := policy.Pickers(pick.Config{TableSize: 65537})
	pool, _ := lb.New(0, lb.Config{}, lb.Parts{Pickers: build}, []lb.Backend{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}})
	for range 3 {
		l, _ := pool.Acquire(0, lb.Query{Hash: pick.Hash("ann"), HasKey: true})
		fmt.Print(l.Name(), " ")
	}
	// Output: b b b
}

// A ticket waits in front of a pool whose backends are all at their limit.
func ExampleTicket() {
	pool := pair(lb.Config{MaxInflight: 1, Queue: 10})
	first, _ := pool.Acquire(0, lb.Query{})
	_, _ = pool.Acquire(0, lb.Query{})
	_, err := pool.Acquire(0, lb.Query{})
	fmt.Println(err)

	t := &lb.Ticket{Wake: func() { fmt.Println("a place is free") }} // a shell wakes its waiter here
	_ = pool.Enqueue(0, lb.Query{}, t)
	pool.Release(0, first, lb.Outcome{Status: 200})
	l, granted := pool.Take(t)
	fmt.Println(l.Name(), granted)
	// Output:
	// every backend is at max-inflight
	// a place is free
	// a true
}

func ExampleConfig() {
	var c lb.Config
	schema := param.Of(&c)
	schema.Reset(param.Scenario)
	fmt.Println(schema.Lookup("panic-threshold").Set("101"))
	fmt.Println(c.Queue, c.QueueTimeout)
	// Output:
	// panic-threshold=101: outside 0 to 100 %
	// 0 1s
}

func ExampleParts() {
	pool, err := lb.New(0, lb.Config{}, lb.Parts{
		Pickers: roundRobin(),
		Outlier: outlier.New(outlier.Config{Consecutive5xx: 1, BaseEjection: 10 * time.Second, MaxEjectionPercent: 50}),
		Drain:   drain.Policy{},
		Log:     func(e lb.Event) { fmt.Println(e.Backend, e.What, "at", e.At) },
	}, []lb.Backend{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, _ := pool.Acquire(0, lb.Query{})
	pool.Release(0, l, lb.Outcome{Status: 500})
	pool.Advance(pool.Next())
	// Output:
	// a ejected at 0.000
	// a returned at 10.000
}

func ExampleBackend() {
	fmt.Println(lb.Backend{Name: "b1", Address: "127.0.0.1:9001", Weight: 5}.Check())
	fmt.Println(lb.Backend{Name: "b1", Weight: 1001}.Check())
	// Output:
	// <nil>
	// backend b1: weight 1001 outside 1 to 1000
}

func ExampleSet() {
	loads := new(lb.Loads)
	set := lb.NewSet([]lb.Backend{{Name: "a", Weight: 1}, {Name: "b", Weight: 2}}, loads)
	loads.Store(1, 7)
	for i := range set.Len() {
		fmt.Println(set.Backend(i).Name, set.Weight(i), set.InFlight(i))
	}
	// Output:
	// a 1000 0
	// b 2000 7
}

// A balancer with a view of its own decides by what it sees, true or not.
func ExampleLoads() {
	view := new(lb.Loads)
	policy, _ := pick.Find("least_conn")
	build, _ := policy.Pickers(pick.Config{TableSize: 65537})
	pool, _ := lb.New(0, lb.Config{}, lb.Parts{Pickers: build, View: view}, []lb.Backend{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}})
	view.Store(0, 1)
	for range 3 {
		l, _ := pool.Acquire(0, lb.Query{})
		fmt.Print(l.Name(), " ")
	}
	fmt.Println(pool.Loads().InFlight(1))
	// Output: b b b 3
}

func ExampleLatencies() {
	l := lb.NewLatencies(10 * time.Second)
	l.Observe(0, 3, 200*time.Millisecond)
	fmt.Printf("%.0f ms, ten seconds later %.0f ms\n", l.At(0, 3)/1e6, l.At(lb.Time(10*time.Second), 3)/1e6)
	// Output: 200 ms, ten seconds later 74 ms
}

// even takes only the backends at even positions.
type even struct{ set *lb.Set }

func (e even) Pick(q lb.Query) int {
	for i := 0; i < e.set.Len(); i += 2 {
		if e.set.Usable(i, &q) {
			return i
		}
	}
	return -1
}

func ExamplePicker() {
	var p lb.Picker = even{lb.NewSet(make([]lb.Backend, 3), new(lb.Loads))}
	fmt.Println(p.Pick(lb.Query{}))
	// Output: 0
}

func ExamplePickers() {
	var build lb.Pickers = func(s *lb.Set) lb.Picker {
		fmt.Println("a picker for", s.Len())
		return even{s}
	}
	pool, _ := lb.New(0, lb.Config{}, lb.Parts{Pickers: build}, []lb.Backend{{Name: "a", Weight: 1}})
	_ = pool.Add(0, lb.Backend{Name: "b", Weight: 1})
	// Output:
	// a picker for 1
	// a picker for 2
}

func ExampleStatus() {
	pool := pair(lb.Config{})
	_, _ = pool.Acquire(0, lb.Query{})
	for _, s := range pool.Status(0) {
		fmt.Println(s.Name, s.State, s.InFlight, s.Attempts)
	}
	// Output:
	// a healthy 1 1
	// b healthy 0 0
}

func ExampleCounts() {
	pool := pair(lb.Config{})
	_, _ = pool.Acquire(0, lb.Query{})
	fmt.Printf("%+v\n", pool.Counts())
	// Output: {Ejections:0 Refused:0 Waiting:0 InFlight:1 Panic:false}
}

func ExampleTime() {
	t := lb.Time(0).Add(1608 * time.Millisecond)
	fmt.Println(t, t.Sub(lb.Time(time.Second)), lb.Never)
	// Output: 1.608 608ms never
}

func ExampleEvent() {
	fmt.Println(lb.Event{At: lb.Time(1608 * time.Millisecond), Backend: "b3", What: lb.WasEjected, Reason: "3 consecutive 5xx; ejected for 1s (ejection 1)"})
	// Output: t=1.608 b3 ejected: 3 consecutive 5xx; ejected for 1s (ejection 1)
}

func ExampleWhat() {
	fmt.Println(lb.CameUp, lb.WentDown, lb.NotEjected)
	// Output: up down not ejected
}

func ExampleOutcome() {
	for _, o := range []lb.Outcome{{Status: 404}, {Status: 500}, {Status: 503}, {Kind: lb.TimedOut}, {Kind: lb.Cancelled}} {
		fmt.Println(o, o.Failed(), o.Gateway())
	}
	// Output:
	// 404 false false
	// 500 true false
	// 503 true true
	// timeout true true
	// cancelled false false
}

func ExampleKind() {
	fmt.Println(lb.Outcome{Kind: lb.Refused}, lb.Outcome{Kind: lb.Broken})
	// Output: refused broken
}

// watcher is the smallest health machine: it asks for a probe of everybody
// once, and one result decides.
type watcher struct{ slots []int }

func (w *watcher) Add(_ lb.Time, slot int, running bool) bool {
	w.slots = append(w.slots, slot)
	return !running
}
func (w *watcher) Remove(int) {}
func (w *watcher) Next() lb.Time {
	if len(w.slots) == 0 {
		return lb.Never
	}
	return 0
}
func (w *watcher) Inherit(lb.Time, int, bool, lb.Health) {}
func (w *watcher) Due(_ lb.Time, slots []int) []int {
	slots, w.slots = append(slots, w.slots...), nil
	return slots
}
func (w *watcher) Passes(r lb.ProbeResult) bool { return r.Status == 200 }
func (w *watcher) Record(_ lb.Time, _ int, r lb.ProbeResult) (up, changed bool, reason string) {
	return w.Passes(r), true, fmt.Sprintf("status %d", r.Status)
}

func ExampleHealth() {
	pool, _ := lb.New(0, lb.Config{}, lb.Parts{
		Pickers: roundRobin(), Health: &watcher{},
		Log: func(e lb.Event) { fmt.Println(e) },
	}, []lb.Backend{{Name: "a", Weight: 1}})
	for _, p := range pool.Due(0, nil) {
		pool.Probed(0, p, lb.ProbeResult{Status: 500})
	}
	_, err := pool.Acquire(0, lb.Query{})
	fmt.Println(err)
	// Output:
	// t=0.000 a down: status 500
	// no healthy upstream
}

// A shell sends the probes that are due and brings back what it saw.
func ExampleProbe() {
	pool, _ := lb.New(0, lb.Config{}, lb.Parts{Pickers: roundRobin(), Health: &watcher{}}, []lb.Backend{
		{Name: "a", Address: "127.0.0.1:9001", Weight: 1}, {Name: "b", Address: "127.0.0.1:9002", Weight: 1},
	})
	for _, p := range pool.Due(0, nil) {
		fmt.Println("GET", p.Address)
	}
	// Output:
	// GET 127.0.0.1:9001
	// GET 127.0.0.1:9002
}

func ExampleProbeResult() {
	w := &watcher{}
	fmt.Println(w.Passes(lb.ProbeResult{Status: 200}), w.Passes(lb.ProbeResult{Kind: lb.Refused, Detail: "connection reset"}))
	// Output: true false
}

func ExampleOutlier() {
	var d lb.Outlier = outlier.New(outlier.Config{Consecutive5xx: 2, BaseEjection: time.Second, MaxEjectionPercent: 50})
	d.Add(0)
	d.Add(1)
	fmt.Println(d.Note(0, lb.Outcome{Status: 500}), d.Note(0, lb.Outcome{Status: 500}))
	// Output: false true
}

func ExampleCensus() {
	d := outlier.New(outlier.Config{Consecutive5xx: 1, BaseEjection: time.Second, MaxEjectionPercent: 10})
	d.Add(0)
	d.Note(0, lb.Outcome{Status: 500})
	everybody := func(int) bool { return true }
	fmt.Println(d.Judge(0, 0, lb.Census{Members: 3, Counts: everybody}).What)
	fmt.Println(d.Judge(0, 0, lb.Census{Members: 10, Counts: everybody}).What)
	// Output:
	// not ejected
	// ejected
}

func ExampleVerdict() {
	d := outlier.New(outlier.Config{Consecutive5xx: 1, BaseEjection: time.Second, MaxEjection: time.Minute, MaxEjectionPercent: 50})
	d.Add(0)
	d.Note(0, lb.Outcome{Status: 500})
	v := d.Judge(0, 0, lb.Census{Members: 2, Counts: func(int) bool { return true }})
	fmt.Println(v.What, "until", v.Until)
	// Output: ejected until 1.000
}

func ExampleDrain() {
	var d lb.Drain = drain.Policy{}
	done, _ := d.Leave(0, lb.Time(time.Second), 1)
	fmt.Println(done)
	fmt.Println(d.Leave(0, lb.Time(time.Second), 0))
	// Output:
	// false
	// true drained: no requests in flight
}

func ExampleHold() {
	hold := lb.Down | lb.Ejected
	fmt.Println(hold&lb.Draining == 0, hold&^lb.Down == lb.Ejected)
	// Output: true true
}
