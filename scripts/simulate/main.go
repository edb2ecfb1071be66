// Command simulate runs one scenario and prints its result as JSON, with nothing around it that needs a socket. It is
// core and only core, so it builds for every target; scripts/same compares what those builds print.
package main

import (
	"fmt"
	"os"

	"minilb/core/scenario"
	"minilb/core/sim"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: simulate LINK, a scenario such as 'v1;algorithm=p2c;seed=1'")
		os.Exit(2)
	}
	result, err := simulate(os.Args[1])
	if result != nil { // what there is, also of a run that a limit has ended
		fmt.Printf("%s\n", result)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

func simulate(link string) ([]byte, error) {
	s, err := scenario.Decode(link)
	if err != nil {
		return nil, err
	}
	return sim.RunJSON(s)
}
