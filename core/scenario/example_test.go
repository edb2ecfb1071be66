package scenario_test

import (
	"fmt"

	"minilb/core/scenario"
)

// A link says only what differs from the defaults, always in the same order.
func ExampleEncode() {
	s := scenario.Default()
	fmt.Println(scenario.Encode(s))

	s.Seed = 42
	s.Algorithms = []string{"least_conn"}
	s.CheckPath = "/ready"
	fmt.Println(scenario.Encode(s))
	fmt.Println(s.Command())
	// Output:
	// #v1
	// #v1;algorithm=least_conn;seed=42;check-path=_2Fready
	// minilb simulate --scenario 'v1;algorithm=least_conn;seed=42;check-path=_2Fready'
}

// What a person types is read generously; what they got wrong is reported all at once.
func ExampleDecode() {
	s, err := scenario.Decode("v1;algorithm=p2c,maglev;backend=a=20;backend=b=20,errors=0.1;check-interval=200ms")
	fmt.Println(s.Algorithms, s.Backends[1].Errors, s.CheckInterval, err)

	_, err = scenario.Decode("v1;rate=NaN;backend=a:20,weight:0;fall=0")
	fmt.Println(err)

	_, err = scenario.Decode("v2;rate=3")
	fmt.Println(err)
	// Output:
	// [p2c maglev] 0.1 200ms <nil>
	// rate=NaN: not a number; accepted: 0.001 to 1000000 requests/s
	// backend=a:20,weight:0: weight=0: outside 1 to 1000
	// fall=0: outside 1 to 100 probes
	// version "v2" of links: unknown, so it cannot be read safely; this build knows v1 (v1;key=value;…, or v1z.… when deflated)
}
