package pick_test

import (
	"fmt"

	"minilb/core/lb"
	"minilb/core/param"
	"minilb/core/pick"
)

// A policy becomes a picker for one set of backends. A pool does this for each
// change of who is eligible.
func ExamplePolicy() {
	weighted, _ := pick.Find("weighted_round_robin")
	build, err := weighted.Pickers(pick.Config{TableSize: 65537})
	if err != nil {
		fmt.Println(err)
		return
	}
	picker := build(lb.NewSet([]lb.Backend{
		{Name: "a", Weight: 5}, {Name: "b", Weight: 1}, {Name: "c", Weight: 1},
	}, new(lb.Loads)))
	for range 7 {
		fmt.Print(picker.Pick(lb.Query{}), " ")
	}
	// Output: 0 0 1 0 2 0 0
}

func ExampleConfig() {
	var c pick.Config
	schema := param.Of(&c)
	schema.Reset(param.Scenario)
	fmt.Println(c.RingPoints, c.TableSize, c.Choices, c.EwmaDecay)

	_ = schema.Lookup("table-size").Set("65536")
	fmt.Println(c.Check())
	// Output:
	// 160 65537 2 10s
	// table-size=65536: not a prime; accepted: a prime such as 65537
}

// When a backend leaves, only its own keys move.
func ExampleRing() {
	before := pick.NewRing([]string{"a", "b", "c"}, []int{160, 160, 160})
	after := pick.NewRing([]string{"a", "b"}, []int{160, 160})
	for _, user := range []string{"ann", "bob", "cid", "dan", "eve"} {
		h := pick.Hash(user)
		fmt.Println(user, "abc"[before.Owner(h):][:1], "->", "ab"[after.Owner(h):][:1])
	}
	// Output:
	// ann c -> a
	// bob c -> b
	// cid b -> b
	// dan a -> a
	// eve c -> b
}

// Every backend owns the same number of entries, to within one.
func ExampleMaglev() {
	m := pick.NewMaglev([]string{"a", "b", "c"}, []int{1, 1, 1}, 13)
	fmt.Println(m.Table())
	fmt.Println("ann belongs to", "abc"[m.Owner(pick.Hash("ann")):][:1])
	// Output:
	// [2 0 2 0 1 1 0 0 1 1 2 2 0]
	// ann belongs to a
}

func ExampleHash() {
	fmt.Printf("%016x\n", pick.Hash("user-1"))
	// Output: a173746b114c6be8
}
