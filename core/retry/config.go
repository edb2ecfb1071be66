package retry

import "time"

// Config is when a request may be tried again, and how much load retries may add.
type Config struct {
	Retries             int           `param:"retries" unit:"retries" range:"0,10" default:"0" serve:"1" help:"most retries of one request, each on another backend"`
	RetryOn             []string      `param:"retry-on" choices:"connect-failure,gateway-error,5xx,timeout" default:"connect-failure,gateway-error" help:"what may be retried; all but connect-failure only when the method is idempotent" advanced:"true"`
	PerTryTimeout       time.Duration `param:"per-try-timeout" unit:"s" range:"0s,10m" slider:"0,10" step:"0.01" default:"0" help:"longest time of one attempt; 0 = no limit" advanced:"true"`
	Backoff             time.Duration `param:"backoff" unit:"s" range:"0s,10m" slider:"0,2" step:"0.005" default:"0" help:"base of the wait before a retry, drawn at random up to base × 2^n; 0 = at once" advanced:"true"`
	BackoffMax          time.Duration `param:"backoff-max" unit:"s" range:"0s,10m" slider:"0,30" default:"1" help:"longest wait before a retry" advanced:"true"`
	BudgetPercent       float64       `param:"budget-percent" unit:"%" range:"0,1000" slider:"0,100" default:"20" help:"retries in flight may be at most this share of requests in flight"`
	MinRetryConcurrency int           `param:"min-retry-concurrency" unit:"retries" range:"0,1000000" slider:"0,20" default:"3" help:"retries in flight that are always allowed" advanced:"true"`
	BudgetWait          time.Duration `param:"budget-wait" unit:"s" range:"0s,1m" slider:"0,2" step:"0.01" default:"0" serve:"100ms" help:"how long a retry may wait for room in the budget; 0 = skipped at once" advanced:"true"`
}
