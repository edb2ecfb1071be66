package outlier

import (
	"fmt"
	"strconv"
	"time"

	"minilb/core/lb"
	"minilb/core/param"
)

// Config is when a backend is ejected for what its real responses show, for
// how long, and how many may be out at once.
type Config struct {
	Consecutive5xx     int           `param:"consecutive-5xx" unit:"errors" range:"0,1000" slider:"0,20" default:"0" serve:"5" help:"errors in a row (5xx, timeouts, failed connections) that eject a backend; 0 = off"`
	ConsecutiveGateway int           `param:"consecutive-gateway" unit:"errors" range:"0,1000" slider:"0,20" default:"0" help:"502, 503, 504, timeouts and failed connections in a row that eject a backend; 0 = off" advanced:"true"`
	SuccessRateStdev   float64       `param:"success-rate-stdev" unit:"stdev" range:"0,10" step:"0.1" default:"0" help:"eject a backend whose success rate is this many standard deviations below the pool's mean, judged each outlier-interval; 0 = off" advanced:"true"`
	FailurePercentage  float64       `param:"failure-percentage" unit:"%" range:"0,100" default:"0" help:"eject a backend that fails at least this share of its requests in an outlier-interval; 0 = off" advanced:"true"`
	OutlierInterval    time.Duration `param:"outlier-interval" unit:"s" range:"0s,1h" slider:"0,60" default:"0" help:"time between two looks of the detector, as in Envoy; 0 = ejections end exactly when they are over" advanced:"true"`
	BaseEjection       time.Duration `param:"base-ejection" unit:"s" range:"1ms,24h" slider:"0.5,120" default:"30" serve:"10" help:"first ejection's length; the second is twice as long, and so on"`
	MaxEjection        time.Duration `param:"max-ejection" unit:"s" range:"1ms,24h" slider:"1,600" default:"300" help:"longest ejection (or the base, if that is longer)" advanced:"true"`
	MaxEjectionPercent float64       `param:"max-ejection-percent" unit:"%" range:"0,100" default:"50" help:"share of the pool that may be ejected, the ejection about to happen included"`
	AlwaysEjectOneHost bool          `param:"always-eject-one-host" default:"false" help:"one backend may always be ejected, whatever the cap says" advanced:"true"`
	EjectionDecay      bool          `param:"ejection-decay" default:"false" help:"a backend that stays in for an interval has its next ejection shortened by one step" advanced:"true"`
	ErrorStatuses      Statuses      `param:"error-statuses" default:"500-599" help:"statuses that count as errors of a backend, as in 429,500-599; timeouts and failed connections always do" advanced:"true"`
	UnejectOnCheck     bool          `param:"uneject-on-check" default:"false" help:"a passed active check ends an ejection" advanced:"true"`
}

// Envoy's conditions for its statistical detectors: a backend is judged with
// enough requests in the interval, and the success rates of a pool are
// compared when enough backends have them.
const (
	judgeRequests   = 100 // success_rate_request_volume
	judgeBackends   = 5   // success_rate_minimum_hosts
	failureRequests = 50  // failure_percentage_request_volume
	failureBackends = 5   // failure_percentage_minimum_hosts
)

// On says whether the configuration can ever eject anything.
func (c Config) On() bool {
	return c.Consecutive5xx > 0 || c.ConsecutiveGateway > 0 || c.statistical()
}

// statistical says whether a detector judges whole intervals.
func (c Config) statistical() bool { return c.SuccessRateStdev > 0 || c.FailurePercentage > 0 }

// Check reports what no range can say: these parameters mean something only
// with an interval.
func (c Config) Check() error {
	need := &param.Error{Name: "outlier-interval", Value: "0", Accepted: "an interval such as 10s"}
	switch {
	case c.OutlierInterval > 0:
		return nil
	case c.statistical():
		need.Problem = "success-rate-stdev and failure-percentage are judged once each interval"
	case c.EjectionDecay && c.On():
		need.Problem = "ejection-decay shortens by one step each interval"
	default:
		return nil
	}
	return need
}

// Warning says when the configuration can never eject from a pool of that
// size, or returns "". With Envoy's default of 10% and three backends nothing
// is ever ejected.
func (c Config) Warning(backends int) string {
	switch {
	case backends == 0 || !c.On():
		return ""
	case !c.allows(lb.Census{Members: backends}):
		return fmt.Sprintf("max-ejection-percent %g can never eject one of %d backends (that would be %s%%); use %d or more, or always-eject-one-host",
			c.MaxEjectionPercent, backends, percent(1, backends), (100+backends-1)/backends)
	case c.statistical() && backends < min(judgeBackends, failureBackends):
		return fmt.Sprintf("success-rate-stdev and failure-percentage compare at least %d backends and can never eject one of %d; use consecutive-5xx",
			min(judgeBackends, failureBackends), backends)
	}
	return ""
}

// percent is n of all in percent, with at most one decimal.
func percent(n, all int) string {
	tenths := (n*1000 + all/2) / all
	return strconv.FormatFloat(float64(tenths)/10, 'f', -1, 64)
}

// allows applies the cap to the pool with the ejection about to happen, or
// lets the first one through when one backend may always go.
func (c Config) allows(pool lb.Census) bool {
	if c.AlwaysEjectOneHost && pool.Ejected == 0 {
		return true
	}
	return float64((pool.Ejected+1)*100) <= float64(pool.Members)*c.MaxEjectionPercent
}

// length is base × steps, at most max (or the base, if that is longer).
func (c Config) length(steps int) time.Duration {
	longest := max(c.BaseEjection, c.MaxEjection)
	if int64(steps) > int64(longest/max(c.BaseEjection, 1)) {
		return longest
	}
	return c.BaseEjection * time.Duration(steps)
}

// longer is the step after this one. It stops where the length does, or a
// backend that was out a hundred times would need a hundred quiet intervals
// before its decay showed.
func (c Config) longer(steps int) int {
	if c.length(steps) == c.length(steps+1) {
		return steps
	}
	return steps + 1
}
