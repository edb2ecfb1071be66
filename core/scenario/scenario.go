// Package scenario holds everything one run depends on, seed included, and the
// one line of text that says it: the same in a link, on the command line and
// in a handout.
package scenario

import (
	"minilb/core/param"
	"minilb/core/pick"
)

// A Scenario is everything one run depends on. Two equal scenarios give the
// same results to the last bit, on every target.
type Scenario struct {
	Algorithms []string `param:"algorithm" group:"policy" default:"round_robin,least_conn,p2c" help:"policies to run on the same arrivals, keys and service draws"`
	Traffic    `group:"traffic"`
	Backends   []Backend `param:"backend" group:"backends" default:"fast1=20 fast2=20 slow=100" help:"NAME=MEAN_MS and parts such as errors=0.1, capacity=4, weight=1"`
	Balancer

	// Unknown holds the pairs of a link that this build does not know, to be
	// shown and passed on.
	Unknown []Pair
}

// A Pair is one key=value of a link.
type Pair struct{ Key, Value string }

// Traffic is what the clients send.
type Traffic struct {
	Rate     float64 `param:"rate" unit:"requests/s" range:"0.001,1000000" slider:"1,1000" scale:"log" default:"150" help:"mean arrival rate of all clients together"`
	Requests int     `param:"requests" unit:"requests" range:"1,100000000" slider:"100,100000" scale:"log" default:"5000" help:"how many requests arrive"`
	Seed     uint64  `param:"seed" default:"1" help:"number from which all chance of the run is drawn"`
	Keys     int     `param:"keys" unit:"keys" range:"1,10000000" slider:"1,100000" scale:"log" default:"1000" help:"how many different keys the hashing policies see" advanced:"true"`
}

// ParamChoices names the policies for menus and messages.
func (Scenario) ParamChoices(name string) []string {
	if name == "algorithm" {
		return pick.Names()
	}
	return nil
}

// Default returns the scenario that an empty link means.
func Default() Scenario {
	var s Scenario
	s.Params().Reset(param.Scenario)
	return s
}

// Params is the schema over this scenario's fields: set one by name, and the
// scenario changes.
func (s *Scenario) Params() *param.Set { return param.Of(s) }
