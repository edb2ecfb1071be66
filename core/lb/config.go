package lb

import "time"

// Limits on what a pool may hold. A limit on everything keeps a hostile
// scenario from becoming a hostile allocation.
const (
	MaxBackends = 1024
	MaxWeight   = 1000
	MaxQueue    = 1 << 20
)

// Config is what a pool is told about limits, fail-open, warm-up and
// stickiness. The zero value limits nothing.
type Config struct {
	PanicThreshold float64       `param:"panic-threshold" unit:"%" range:"0,100" default:"0" help:"below this share of eligible backends every backend that is not draining gets traffic; 0 = never" advanced:"true"`
	SlowStart      time.Duration `param:"slow-start" unit:"s" range:"0s,1h" slider:"0,60" default:"0" help:"how long a backend that comes up or is added takes to grow to its full weight" advanced:"true"`
	MaxInflight    int           `param:"max-inflight" unit:"requests" range:"0,1000000" slider:"0,100" default:"0" help:"most requests in flight at one backend; 0 = no limit" advanced:"true"`
	Queue          int           `param:"queue" unit:"requests" range:"0,1000000" slider:"0,1000" default:"0" help:"requests that may wait in front of the pool when every backend is at max-inflight" advanced:"true"`
	QueueTimeout   time.Duration `param:"queue-timeout" unit:"s" range:"0s,10m" slider:"0,10" default:"1" help:"longest wait in that queue" advanced:"true"`
	StickyCookie   string        `param:"sticky-cookie" default:"" help:"name of the cookie that keeps a client on its backend; empty = off" advanced:"true"`
	DrainSticky    bool          `param:"drain-sticky" default:"false" help:"a draining backend still takes the requests of clients pinned to it" advanced:"true"`
}
