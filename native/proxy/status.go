package proxy

import (
	"time"

	"minilb/core/lb"
)

// A Status is the answer of /_minilb/status. Instants and lengths of time are
// in seconds; instants count from the proxy's start.
type Status struct {
	Version     string          `json:"version"`
	UptimeS     float64         `json:"uptime_s"`
	Layer       string          `json:"layer"` // l7 or l4
	Algorithm   string          `json:"algorithm"`
	Policy      *PolicyStatus   `json:"policy"` // null without --policy
	DNS         *DNSStatus      `json:"dns"`    // null without --backend-dns
	InFlight    int             `json:"in_flight"`
	Waiting     int             `json:"waiting"` // in the queue in front of a full pool
	Panic       bool            `json:"panic"`
	Ejections   int             `json:"ejections"`
	Refused     int             `json:"ejections_refused"`
	RetriesNow  int             `json:"retries_in_flight"`
	RetryBudget float64         `json:"retry_budget"`
	Backends    []BackendStatus `json:"backends"`
	Events      []EventStatus   `json:"events"` // the last 200, oldest first
}

// A BackendStatus is one backend's.
type BackendStatus struct {
	Name         string            `json:"name"`
	Address      string            `json:"address"`
	Weight       int               `json:"weight"`
	State        string            `json:"state"` // healthy, unhealthy, ejected or draining
	Since        float64           `json:"since"`
	Reason       string            `json:"reason"`
	Down         bool              `json:"down"`
	Ejected      bool              `json:"ejected"`
	Draining     bool              `json:"draining"`
	InFlight     int               `json:"in_flight"`
	Attempts     uint64            `json:"attempts"`
	Failures     uint64            `json:"failures"`
	Outcomes     map[string]uint64 `json:"outcomes"` // attempts that ended, by 2xx, 5xx, refused, timeout, broken, cancelled …
	Ejections    int               `json:"ejections"`
	EjectedUntil *float64          `json:"ejected_until"` // null when not ejected
	LastProbe    *ProbeStatus      `json:"last_probe"`    // null before the first
}

// A ProbeStatus is a backend's last active check.
type ProbeStatus struct {
	At     float64 `json:"at"`
	TookS  float64 `json:"took_s"`
	Passed bool    `json:"passed"`
	Result string  `json:"result"` // a status such as 200, refused, timeout or broken; ok for tcp
	Detail string  `json:"detail,omitempty"`
}

// An EventStatus is one event, in parts and as the line that was printed.
type EventStatus struct {
	At      float64 `json:"at"`
	Backend string  `json:"backend"`
	What    string  `json:"what"`
	Reason  string  `json:"reason"`
	Line    string  `json:"line"`
}

// Status is what the proxy is doing now.
func (p *Proxy) Status() Status {
	now := p.now()
	counts, budget := p.pool.Counts(), p.handler().Budget
	s := Status{
		Version: p.options.Version, UptimeS: seconds(now), Layer: p.config.Layer, Algorithm: p.live().Algorithm,
		InFlight: counts.InFlight, Waiting: counts.Waiting, Panic: counts.Panic, Ejections: counts.Ejections, Refused: counts.Refused,
		RetriesNow: budget.Retries(), RetryBudget: budget.Limit(),
		Backends: []BackendStatus{}, Events: []EventStatus{},
	}
	for _, b := range p.pool.Status(now) {
		s.Backends = append(s.Backends, p.backendStatus(b))
	}
	for _, e := range p.journal.events() {
		s.Events = append(s.Events, eventStatus(e))
	}
	p.sources(&s)
	return s
}

// sources says what the policy file and the DNS have last given.
func (p *Proxy) sources(s *Status) {
	if p.config.Policy != "" {
		policy := p.ops.reload.state.get()
		s.Policy = &policy
	}
	if p.ops.discovery != nil {
		dns := p.ops.discovery.state.get()
		s.DNS = &dns
	}
}

func eventStatus(e lb.Event) EventStatus {
	return EventStatus{At: seconds(e.At), Backend: e.Backend, What: e.What.String(), Reason: e.Reason, Line: e.String()}
}

func (p *Proxy) backendStatus(b lb.Status) BackendStatus {
	s := BackendStatus{
		Name: b.Name, Address: b.Address, Weight: b.Weight, State: b.State, Since: seconds(b.Since), Reason: b.Reason,
		Down: b.Down, Ejected: b.Ejected, Draining: b.Draining,
		InFlight: b.InFlight, Attempts: b.Attempts, Failures: b.Failures, Ejections: b.Ejections,
		Outcomes: p.ops.meters.outcomes(b.Name),
	}
	if b.Ejected {
		until := seconds(b.Until)
		s.EjectedUntil = &until
	}
	if l, ok := p.prober.latest(b.Name); ok {
		s.LastProbe = l.status()
	}
	return s
}

func (l lastProbe) status() *ProbeStatus {
	result := lb.Outcome{Kind: l.result.Kind, Status: l.result.Status}.String()
	if l.result.Kind == lb.Answered && l.result.Status == 0 {
		result = "ok"
	}
	return &ProbeStatus{At: seconds(l.at), TookS: seconds(lb.Time(l.took)), Passed: l.passed, Result: result, Detail: l.result.Detail}
}

// seconds is an instant to the millisecond, as event lines print it.
func seconds(t lb.Time) float64 {
	return float64(time.Duration(t).Round(time.Millisecond)/time.Millisecond) / 1000
}
