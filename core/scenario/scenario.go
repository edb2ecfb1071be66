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
	Clients    `group:"clients"`
	Backends   []Backend `param:"backend" group:"backends" default:"fast1=20 fast2=20 slow=100" help:"NAME=MEAN_MS and parts such as errors=0.1, capacity=4, weight=1"`
	Balancer
	Layout     `group:"balancers"`
	Dependency `group:"dependency"`

	// Trace is the requests of arrivals=trace. It is not in links: whoever
	// opens the link of such a scenario needs the file as well.
	Trace []TraceRow

	// Unknown holds the pairs of a link that this build does not know, to be
	// shown and passed on.
	Unknown []Pair
}

// A Pair is one key=value of a link.
type Pair struct{ Key, Value string }

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
func (s *Scenario) Params() *param.Set { return schema.Over(s) }

// schema is read once. Its defaults contain backends, whose texts need what a
// backend's own schema says.
var schema = func() *param.Schema {
	_ = plain
	return param.Read(new(Scenario))
}()
