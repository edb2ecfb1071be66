package health

import (
	"strconv"
	"time"

	"minilb/core/lb"
	"minilb/core/param"
)

// Config is how backends are probed and what a run of results changes.
type Config struct {
	CheckInterval time.Duration `param:"check-interval" unit:"s" range:"0s,1h" slider:"0,30" step:"0.1" default:"0" serve:"2" help:"time between two probes of a backend; 0 = no active checks"`
	CheckTimeout  time.Duration `param:"check-timeout" unit:"s" range:"1ms,10m" slider:"0.05,10" step:"0.05" default:"1" help:"a probe without an answer by then has failed"`
	CheckJitter   float64       `param:"check-jitter" range:"0,1" step:"0.05" default:"0" serve:"1" help:"spread of the backends' probe phases over the interval, so that probes do not all start together" advanced:"true"`
	CheckPath     string        `param:"check-path" default:"/health" help:"path that an http probe asks for" advanced:"true"`
	CheckExpect   int           `param:"check-expect" unit:"status" range:"0,599" default:"0" help:"the exact status that passes; 0 = any 2xx or 3xx" advanced:"true"`
	CheckType     string        `param:"check-type" choices:"http,tcp" default:"http" help:"http asks for check-path, tcp only connects" advanced:"true"`
	Rise          int           `param:"rise" unit:"probes" range:"1,100" slider:"1,20" default:"2" help:"consecutive passed probes that bring a backend back"`
	Fall          int           `param:"fall" unit:"probes" range:"1,100" slider:"1,20" default:"3" help:"consecutive failed probes that take a backend out"`
	Initial       string        `param:"initial" choices:"up,down,haproxy" default:"up" help:"how a backend starts: up, down until rise probes pass, or up but one failure from down as HAProxy does" advanced:"true"`
}

// Check reports an expected status that no answer has, so that no probe could
// ever pass.
func (c Config) Check() error {
	if c.CheckExpect == 0 || c.CheckExpect >= 100 {
		return nil
	}
	return &param.Error{Name: "check-expect", Value: strconv.Itoa(c.CheckExpect), Problem: "not a status", Accepted: "100 to 599, or 0 for any 2xx or 3xx"}
}

// Passes says whether a result is a pass: the expected status, or any 2xx or
// 3xx when none is set; for a tcp probe, that it connected.
func (c Config) Passes(r lb.ProbeResult) bool {
	switch {
	case r.Kind != lb.Answered:
		return false
	case c.CheckType == "tcp":
		return true
	case c.CheckExpect != 0:
		return r.Status == c.CheckExpect
	}
	return 200 <= r.Status && r.Status <= 399
}
