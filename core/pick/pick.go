// Package pick holds the policies: each is a rule that chooses one backend of
// a set. There is one file per policy, and All is the table that menus, flags,
// documents and tests range over.
package pick

import (
	"strconv"

	"minilb/core/lb"
	"minilb/core/param"
)

// A Policy is a named balancing algorithm. Built for one set of backends it
// becomes a Picker.
type Policy struct {
	Name    string
	Summary string // the rule in one line
	When    string // when to choose it
	Hashes  bool   // needs a key; without one it takes turns
	Latency bool   // needs lb.Latencies
	build   func(Config, *lb.Set) lb.Picker
}

// All is every policy, in the order in which menus show them.
var All = []Policy{
	{Name: "round_robin", Summary: "equal turns", When: "backends and requests are alike",
		build: func(_ Config, s *lb.Set) lb.Picker { return newRoundRobin(s) }},
	{Name: "weighted_round_robin", Summary: "turns in proportion to weight, interleaved as nginx does", When: "backends differ in size by a known ratio",
		build: func(_ Config, s *lb.Set) lb.Picker { return newWeightedRoundRobin(s) }},
	{Name: "least_conn", Summary: "fewest requests in flight per unit of weight; ties rotate", When: "requests differ in length and one balancer sees all of them; together with ejection, since it rewards failing fast",
		build: func(_ Config, s *lb.Set) lb.Picker { return leastConn{s} }},
	{Name: "p2c", Summary: "the less loaded of two backends drawn at random", When: "many balancers share the backends, or counts are a little stale",
		build: func(c Config, s *lb.Set) lb.Picker { return newP2C(c, s) }},
	{Name: "random", Summary: "a backend at random, in proportion to weight", When: "there are many short requests and no state is wanted",
		build: func(_ Config, s *lb.Set) lb.Picker { return newRandom(s) }},
	{Name: "first", Summary: "the first eligible backend of the list", When: "the others are spares",
		build: func(_ Config, s *lb.Set) lb.Picker { return first{s} }},
	{Name: "modulo_hash", Summary: "the key's hash modulo the number of backends", When: "backends never change: every change moves most keys", Hashes: true,
		build: func(_ Config, s *lb.Set) lb.Picker { return moduloHash{s} }},
	{Name: "ring_hash", Summary: "the first point on a ring at or after the key's hash", When: "a key should stay where its cache or session is while backends come and go", Hashes: true,
		build: func(c Config, s *lb.Set) lb.Picker { return newRingPicker(c, s) }},
	{Name: "maglev", Summary: "a lookup table that backends fill in turns", When: "as ring_hash, with an even spread and a few needless moves", Hashes: true,
		build: func(c Config, s *lb.Set) lb.Picker { return newMaglevPicker(c, s) }},
	{Name: "rendezvous", Summary: "the backend with the highest score for the key", When: "as ring_hash, with exact weights and few backends", Hashes: true,
		build: func(_ Config, s *lb.Set) lb.Picker { return newRendezvous(s) }},
	{Name: "peak_ewma", Summary: "the lower latency × in flight of two backends drawn at random", When: "backends differ in speed and the difference changes", Latency: true,
		build: func(c Config, s *lb.Set) lb.Picker { return newPeakEWMA(c, s) }},
}

// Names lists the policies' names in the order of All.
func Names() []string {
	names := make([]string, len(All))
	for i, p := range All {
		names[i] = p.Name
	}
	return names
}

// Find returns the policy of that name.
func Find(name string) (Policy, bool) {
	for _, p := range All {
		if p.Name == name {
			return p, true
		}
	}
	return Policy{}, false
}

// Pickers binds a policy to its configuration. It reports a configuration
// that the policy cannot work with.
func (p Policy) Pickers(c Config) (lb.Pickers, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return func(s *lb.Set) lb.Picker {
		if s.Len() == 0 {
			return nobody{}
		}
		return p.build(c, s)
	}, nil
}

// nobody is every policy's picker for no backends at all.
type nobody struct{}

func (nobody) Pick(lb.Query) int { return -1 }

// Check reports what no range can say: a table size that is not prime, a
// balance factor between 0 and 1.
func (c Config) Check() error {
	if !isPrime(c.TableSize) {
		return &param.Error{Name: "table-size", Value: strconv.Itoa(c.TableSize), Problem: "not a prime", Accepted: "a prime such as " + strconv.Itoa(primeNear(c.TableSize))}
	}
	if f := c.HashBalanceFactor; f != 0 && !(1 <= f) {
		return &param.Error{Name: "hash-balance-factor", Value: param.FormatFloat(f), Problem: "below 1 no backend could take its fair share", Accepted: "0 (off) or 1 to 100"}
	}
	return nil
}
