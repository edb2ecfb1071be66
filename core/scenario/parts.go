package scenario

import (
	"fmt"
	"time"

	"minilb/core/param"
)

// Parts is what can be said of a simulated backend: how it serves, and what
// happens to it in the course of a run.
type Parts struct {
	Mean     float64 `param:"mean" unit:"ms" range:"0.001,3600000" slider:"1,500" scale:"log" default:"20" help:"mean service time"`
	Capacity int     `param:"capacity" unit:"workers" range:"1,100000" slider:"1,64" default:"4" help:"requests it serves at the same time; others wait in its queue"`
	Weight   int     `param:"weight" range:"1,1000" slider:"1,10" default:"1" help:"share of the traffic relative to the others"`
	Errors   float64 `param:"errors" range:"0,1" step:"0.01" default:"0" help:"share of requests it answers with a 500"`

	Service string  `param:"service" choices:"exponential,constant,lognormal,pareto,bimodal" default:"exponential" help:"distribution of the service time around its mean" advanced:"true"`
	CV      float64 `param:"cv" range:"0,20" slider:"0,5" step:"0.1" default:"2" help:"lognormal, pareto and bimodal: standard deviation of the service time over its mean" advanced:"true"`
	Queue   int     `param:"queue" unit:"requests" range:"0,1000000" slider:"0,1000" default:"0" help:"requests that may wait here; one more is answered 503 at once; 0 = no limit" advanced:"true"`
	Order   string  `param:"order" choices:"fifo,lifo" default:"fifo" help:"who of those that wait is served next: the first or the last to come" advanced:"true"`
	Health  string  `param:"health" choices:"honest,process,shared,flag" default:"honest" help:"what /health tests: honest fails like requests do, process passes as long as the process runs, shared also fails while the dependency is down, flag fails while requests work" advanced:"true"`
	ErrorMS float64 `param:"error-ms" unit:"ms" range:"0,3600000" slider:"0,500" default:"0" help:"mean time of an answer that is an error; 0 = as long as any other" advanced:"true"`

	ErrorsAfter time.Duration `param:"errors-after" unit:"s" range:"0s,1000h" slider:"0,120" default:"0" help:"when the errors begin; with health=flag, when /health begins to fail" advanced:"true"`
	SlowAfter   time.Duration `param:"slow-after" unit:"s" range:"0s,1000h" slider:"0,120" default:"0" help:"when it turns slower by slow_factor" advanced:"true"`
	SlowFactor  float64       `param:"slow-factor" range:"0.01,1000" slider:"1,50" default:"1" help:"how many times longer service takes from slow_after on; 1 = never slower" advanced:"true"`
	SlowUntil   time.Duration `param:"slow-until" unit:"s" range:"0s,1000h" slider:"0,120" default:"0" help:"when that ends; 0 = never" advanced:"true"`
	CrashAt     time.Duration `param:"crash-at" unit:"s" range:"0s,1000h" slider:"0,120" default:"0" help:"when it crashes: what it holds breaks, and connections are refused; 0 = never" advanced:"true"`
	HangAt      time.Duration `param:"hang-at" unit:"s" range:"0s,1000h" slider:"0,120" default:"0" help:"when it hangs: it accepts connections and never answers; 0 = never" advanced:"true"`
	StallAt     time.Duration `param:"stall-at" unit:"s" range:"0s,1000h" slider:"0,120" default:"0" help:"when its workers stop for stall_for; work queues and is served afterwards; 0 = never" advanced:"true"`
	StallFor    time.Duration `param:"stall-for" unit:"s" range:"0s,1000h" slider:"0,60" default:"10" help:"how long a stall lasts" advanced:"true"`
	RecoverAt   time.Duration `param:"recover-at" unit:"s" range:"0s,1000h" slider:"0,120" default:"0" help:"when everything that is wrong with it ends; 0 = never" advanced:"true"`
	AddAt       time.Duration `param:"add-at" unit:"s" range:"0s,1000h" slider:"0,120" default:"0" help:"when it joins the pool; 0 = there from the start" advanced:"true"`
	DrainAt     time.Duration `param:"drain-at" unit:"s" range:"0s,1000h" slider:"0,120" default:"0" help:"when it begins to drain; 0 = never" advanced:"true"`
	DrainFor    time.Duration `param:"drain-for" unit:"s" range:"0s,1000h" slider:"0,120" default:"30" help:"longest time of that drain; what is in flight then is cut off" advanced:"true"`
	ColdFor     time.Duration `param:"cold-for" unit:"s" range:"0s,1000h" slider:"0,120" default:"0" help:"how long it is slower after it has started, been added or recovered; 0 = never cold" advanced:"true"`
	ColdFactor  float64       `param:"cold-factor" range:"1,1000" slider:"1,20" default:"5" help:"how many times longer service takes when coldest; it falls in a straight line to 1 over cold_for" advanced:"true"`
}

// Params is the schema over these parts.
func (p *Parts) Params() *param.Set { return partsSchema.Over(p) }

var partsSchema = param.Read(new(Parts))

// Fault is when something is first wrong with the backend and when all of it
// is over, as far as its timeline says; ok is false when nothing ever is, or
// when it is from the start on.
func (p Parts) Fault() (from, to time.Duration, ok bool) {
	end := func(at time.Duration) time.Duration {
		if at == 0 || p.RecoverAt > 0 && p.RecoverAt < at {
			return p.RecoverAt
		}
		return at
	}
	last := false // something never ends
	note := func(at, until time.Duration) {
		if at == 0 {
			return
		}
		if !ok || at < from {
			from = at
		}
		last = last || until == 0
		ok, to = true, max(to, until)
	}
	note(p.CrashAt, p.RecoverAt)
	note(p.HangAt, p.RecoverAt)
	note(p.ErrorsAfter, p.RecoverAt)
	if p.SlowFactor != 1 {
		note(p.SlowAfter, end(p.SlowUntil))
	}
	if p.StallAt > 0 {
		note(p.StallAt, end(p.StallAt+p.StallFor))
	}
	if last {
		to = 0
	}
	return from, to, ok
}

// check reports which instants of a timeline contradict each other.
func (p Parts) check() error {
	from, _, faulty := p.Fault()
	switch {
	case p.DrainAt > 0 && p.DrainAt <= p.AddAt:
		return fmt.Errorf("drain_at %s is not after add_at %s", p.DrainAt, p.AddAt)
	case p.RecoverAt > 0 && faulty && p.RecoverAt <= from:
		return fmt.Errorf("recover_at %s comes before anything goes wrong at %s", p.RecoverAt, from)
	case p.SlowUntil > 0 && p.SlowUntil <= p.SlowAfter:
		return fmt.Errorf("slow_until %s is not after slow_after %s", p.SlowUntil, p.SlowAfter)
	}
	return nil
}
