package outlier

import "time"

// Config is when a backend is ejected for what its real responses show, for
// how long, and how many may be out at once.
type Config struct {
	Consecutive5xx     int           `param:"consecutive-5xx" unit:"errors" range:"0,1000" slider:"0,20" default:"0" serve:"5" help:"errors in a row (5xx, timeouts, failed connections) that eject a backend; 0 = off"`
	ConsecutiveGateway int           `param:"consecutive-gateway" unit:"errors" range:"0,1000" slider:"0,20" default:"0" help:"502, 503, 504, timeouts and failed connections in a row that eject a backend; 0 = off" advanced:"true"`
	SuccessRateStdev   float64       `param:"success-rate-stdev" unit:"stdev" range:"0,10" step:"0.1" default:"0" help:"eject a backend whose success rate is this many standard deviations below the pool's mean, judged each outlier-interval; 0 = off" advanced:"true"`
	FailurePercentage  float64       `param:"failure-percentage" unit:"%" range:"0,100" default:"0" help:"eject a backend that fails at least this share of its requests in an outlier-interval; 0 = off" advanced:"true"`
	OutlierInterval    time.Duration `param:"outlier-interval" unit:"s" range:"0s,1h" slider:"0,60" default:"0" help:"time between two looks of the detector, as in Envoy; 0 = ejections end exactly when they are over" advanced:"true"`
	BaseEjection       time.Duration `param:"base-ejection" unit:"s" range:"1ms,24h" slider:"0.5,120" default:"10" help:"first ejection's length; the second is twice as long, and so on"`
	MaxEjection        time.Duration `param:"max-ejection" unit:"s" range:"1ms,24h" slider:"1,600" default:"300" help:"longest ejection (or the base, if that is longer)" advanced:"true"`
	MaxEjectionPercent float64       `param:"max-ejection-percent" unit:"%" range:"0,100" default:"50" help:"share of the pool that may be ejected, the ejection about to happen included"`
	AlwaysEjectOneHost bool          `param:"always-eject-one-host" default:"false" help:"one backend may always be ejected, whatever the cap says" advanced:"true"`
	EjectionDecay      bool          `param:"ejection-decay" default:"false" help:"a backend that stays in for an interval has its next ejection shortened by one step" advanced:"true"`
	UnejectOnCheck     bool          `param:"uneject-on-check" default:"false" help:"a passed active check ends an ejection" advanced:"true"`
}
