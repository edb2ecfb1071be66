package scenario

import (
	"minilb/core/drain"
	"minilb/core/health"
	"minilb/core/lb"
	"minilb/core/outlier"
	"minilb/core/pick"
)

// Change gives a running pool another configuration in place of was, which it
// has now. What the two have in common goes on undisturbed: only the machines
// whose own parameters differ are replaced, and those inherit from the old.
// Nothing changes when there is an error.
func (b Balancer) Change(now lb.Time, pool *lb.Pool, algorithm string, was Balancer, random uint64) error {
	parts, err := b.parts(algorithm, random)
	if err != nil {
		return err
	}
	inUse := pool.Parts()
	if b.HealthConfig == was.HealthConfig {
		parts.Health = inUse.Health
	}
	if b.OutlierConfig == was.OutlierConfig {
		parts.Outlier = inUse.Outlier
	}
	if parts.Latency != nil && inUse.Latency != nil && b.EwmaDecay == was.EwmaDecay {
		parts.Latency = inUse.Latency
	}
	pool.Reconfigure(now, b.PoolConfig, parts)
	return nil
}

// parts are the machines that the configuration switches on.
func (b Balancer) parts(algorithm string, random uint64) (lb.Parts, error) {
	policy, ok := pick.Find(algorithm)
	if !ok {
		return lb.Parts{}, unknownAlgorithm(algorithm)
	}
	if err := b.Check(); err != nil {
		return lb.Parts{}, err
	}
	pickers, err := policy.Pickers(b.PickConfig)
	if err != nil {
		return lb.Parts{}, err
	}
	parts := lb.Parts{Pickers: pickers, Drain: drain.Policy{}}
	if policy.Latency {
		parts.Latency = lb.NewLatencies(b.EwmaDecay)
	}
	if b.CheckInterval > 0 {
		parts.Health = health.New(b.HealthConfig, random)
	}
	if b.OutlierConfig.On() {
		parts.Outlier = outlier.New(b.OutlierConfig)
	}
	return parts, nil
}
