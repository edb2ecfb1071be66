package scenario

import (
	"minilb/core/health"
	"minilb/core/lb"
	"minilb/core/outlier"
	"minilb/core/pick"
	"minilb/core/retry"
)

// The configurations of core's rooms, by names of their own so that one struct
// can embed them all.
type (
	PickConfig    = pick.Config
	HealthConfig  = health.Config
	OutlierConfig = outlier.Config
	RetryConfig   = retry.Config
	PoolConfig    = lb.Config
)

// A Balancer is how one balancer behaves: what the simulator and the proxy
// have in common, each with defaults of its own.
type Balancer struct {
	PickConfig    `group:"policy"`
	HealthConfig  `group:"checks"`
	OutlierConfig `group:"ejection"`
	RetryConfig   `group:"retries"`
	PoolConfig    `group:"limits"`
}

// Check reports what no range of a single parameter can say, all of it at
// once. The error is Faults.
func (b Balancer) Check() error {
	var f Faults
	f.add(b.PickConfig.Check())
	f.add(b.HealthConfig.Check())
	f.add(b.OutlierConfig.Check())
	_, err := b.Plan()
	f.add(err)
	return f.err()
}

// An Outfit is what a pool needs beyond its configuration.
type Outfit struct {
	Random uint64         // spreads the probes' phases
	View   *lb.Loads      // what pickers see instead of the pool's own counts
	Log    func(lb.Event) // where events go
}

// NewPool puts a pool together from the machines that the configuration
// switches on.
func (b Balancer) NewPool(now lb.Time, algorithm string, backends []lb.Backend, o Outfit) (*lb.Pool, error) {
	parts, err := b.parts(algorithm, o.Random)
	if err != nil {
		return nil, err
	}
	parts.View, parts.Log = o.View, o.Log
	return lb.New(now, b.PoolConfig, parts, backends)
}
