package param_test

import (
	"fmt"
	"time"

	"minilb/core/param"
)

// One line per parameter is all that a flag, a link, a slider and an error message need.
func ExampleOf() {
	var config struct {
		Interval time.Duration `param:"check-interval" range:"0,3600" default:"0" serve:"2" help:"time between two probes of a backend; 0 for none"`
		Fall     int           `param:"fall" unit:"probes" range:"1,100" default:"3" help:"consecutive failed probes that take a backend out"`
	}
	set := param.Of(&config)
	set.Reset(param.Serve)
	for _, p := range set.All() {
		fmt.Printf("--%s %s  %s (default %s)\n", p.Name, p.Type(), p.Help, p)
	}

	fmt.Println(set.Lookup("check-interval").Set("200ms"), config.Interval)
	fmt.Println(set.Lookup("fall").Set("0"))
	fmt.Println("did you mean", set.Nearest("fal"))
	// Output:
	// --check-interval duration  time between two probes of a backend; 0 for none (default 2)
	// --fall int  consecutive failed probes that take a backend out (default 3)
	// <nil> 200ms
	// fall=0: outside 1 to 100 probes
	// did you mean fall
}
