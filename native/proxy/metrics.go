package proxy

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"minilb/core/lb"
	"minilb/native/forward"
)

// buckets are the upper ends of every histogram of lengths of time, in seconds.
var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// meters count what happens to requests. Each backend's counters are looked up
// by name once; after that an attempt costs a few atomic additions.
type meters struct {
	registry *prometheus.Registry

	requests *prometheus.CounterVec   // by the backend that answered, and code
	attempts *prometheus.CounterVec   // by backend and outcome
	took     *prometheus.HistogramVec // an attempt, by backend
	retries  *prometheus.CounterVec   // by backend
	probes   *prometheus.CounterVec   // by backend and result
	skipped  *prometheus.CounterVec   // by reason
	reasons  [len(reasons)]prometheus.Counter
	request  prometheus.Histogram // a request with all its attempts
	waits    prometheus.Histogram // in the queue
	nobody   *backendMeters       // answers that no backend gave

	mu     sync.Mutex
	byName map[string]*backendMeters
	bySlot [lb.MaxBackends]atomic.Pointer[backendMeters]
}

// backendMeters are one backend's.
type backendMeters struct {
	name     string
	requests [len(codes)]prometheus.Counter
	attempts [len(outcomes)]prometheus.Counter
	took     prometheus.Observer
	retries  prometheus.Counter
}

var (
	codes    = [...]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}
	outcomes = [...]string{"1xx", "2xx", "3xx", "4xx", "5xx", "refused", "timeout", "broken", "cancelled"}
	reasons  = [...]string{"method", "budget", "no_other_backend", "full", "retry_buffer", "body", "deadline", "other"}
)

func newMeters() *meters {
	m := &meters{registry: prometheus.NewRegistry(), byName: map[string]*backendMeters{}}
	m.requests = m.counter("requests_total", "Requests that were answered, by the backend of the last attempt (- when there was none) and class of status (none: the client had left).", "backend", "code")
	m.attempts = m.counter("attempts_total", "Attempts that ended, by backend and outcome.", "backend", "outcome")
	m.retries = m.counter("retries_total", "Retries, by the backend they went to.", "backend")
	m.skipped = m.counter("retries_skipped_total", "Failed attempts that were not retried, by reason.", "reason")
	m.probes = m.counter("probes_total", "Active checks that ended, by backend and result.", "backend", "result")
	m.took = prometheus.NewHistogramVec(histogram("attempt_duration_seconds", "Length of an attempt from its lease to the end of its answer."), []string{"backend"})
	m.request = prometheus.NewHistogram(histogram("request_duration_seconds", "Length of a request with all its attempts."))
	m.waits = prometheus.NewHistogram(histogram("queue_wait_seconds", "Time of requests in the queue in front of a full pool."))
	m.registry.MustRegister(m.took, m.request, m.waits)
	for i, reason := range reasons {
		m.reasons[i] = m.skipped.WithLabelValues(reason)
	}
	m.nobody = &backendMeters{name: "-"}
	m.nobody.count(m.requests)
	return m
}

func (m *meters) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "minilb_" + name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

func histogram(name, help string) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Name: "minilb_" + name, Help: help, Buckets: buckets}
}

// backend finds or makes the counters of a backend.
func (m *meters) backend(name string) *backendMeters {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.byName[name]; b != nil {
		return b
	}
	b := &backendMeters{name: name, took: m.took.WithLabelValues(name), retries: m.retries.WithLabelValues(name)}
	b.count(m.requests)
	for i, outcome := range outcomes {
		b.attempts[i] = m.attempts.WithLabelValues(name, outcome)
	}
	m.byName[name] = b
	return b
}

// count resolves the counters of answers by class.
func (b *backendMeters) count(requests *prometheus.CounterVec) {
	for i, code := range codes {
		b.requests[i] = requests.WithLabelValues(b.name, code)
	}
}

// outcomes are how often each kind of outcome was seen of a backend.
func (m *meters) outcomes(name string) map[string]uint64 {
	all := map[string]uint64{}
	b := m.backend(name)
	for i, outcome := range outcomes {
		var now dto.Metric
		if b.attempts[i].Write(&now) == nil && now.Counter.GetValue() > 0 {
			all[outcome] = uint64(now.Counter.GetValue())
		}
	}
	return all
}

// of are the counters of a lease's backend.
func (m *meters) of(l lb.Lease) *backendMeters {
	slot := &m.bySlot[l.Slot()]
	if b := slot.Load(); b != nil && b.name == l.Name() {
		return b
	}
	b := m.backend(l.Name())
	slot.Store(b)
	return b
}

// keep drops the series of backends that have left, but for those named: a
// pool whose members come and go must not fill the memory.
func (m *meters) keep(names map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.byName {
		if !names[name] {
			delete(m.byName, name)
			label := prometheus.Labels{"backend": name}
			for _, v := range []*prometheus.MetricVec{m.requests.MetricVec, m.attempts.MetricVec, m.retries.MetricVec, m.probes.MetricVec, m.took.MetricVec} {
				v.DeletePartialMatch(label)
			}
			for i := range m.bySlot {
				if b := m.bySlot[i].Load(); b != nil && b.name == name {
					m.bySlot[i].CompareAndSwap(b, nil)
				}
			}
		}
	}
}

// Attempted counts an attempt. A meters is a forward.Observer.
func (m *meters) Attempted(l lb.Lease, o lb.Outcome) {
	b := m.of(l)
	b.attempts[outcomeIndex(o)].Inc()
	if o.Kind != lb.Cancelled {
		b.took.Observe(o.Latency.Seconds())
	}
}

func outcomeIndex(o lb.Outcome) int {
	if o.Kind != lb.Answered {
		return 4 + int(o.Kind)
	}
	return min(max(o.Status/100, 1), 5) - 1
}

// Waited counts a wait in the queue.
func (m *meters) Waited(d time.Duration) { m.waits.Observe(d.Seconds()) }

// Finished counts a request.
func (m *meters) Finished(r *forward.Finished) {
	b := m.nobody
	if r.Lease.Valid() {
		b = m.of(r.Lease)
	}
	b.requests[min(max(r.Status/100, 0), 5)].Inc()
	m.request.Observe(r.Took.Seconds())
	if r.Attempts > 1 {
		b.retries.Add(float64(r.Attempts - 1))
	}
	if r.Note != "" {
		m.reasons[reasonIndex(r.Note)].Inc()
	}
}

// reasonIndex puts a note under one of the few reasons that a metric may have.
func reasonIndex(note string) int {
	for i, words := range [...]string{"not idempotent", "budget", "no other backend", "max-inflight", "--retry-buffer", " body", "time"} {
		if strings.Contains(note, words) {
			return i
		}
	}
	return len(reasons) - 1
}

// probed counts an active check.
func (m *meters) probed(name string, passed bool) {
	result := "fail"
	if passed {
		result = "pass"
	}
	m.probes.WithLabelValues(name, result).Inc()
}

// A poolCollector reads the pool's own figures when they are asked for.
type poolCollector struct{ p *Proxy }

var (
	states = [...]string{"healthy", "unhealthy", "ejected", "draining"}

	descUp        = desc("up_seconds", "Time since the proxy started.")
	descInFlight  = desc("backend_in_flight", "Requests in flight, by backend.", "backend")
	descEligible  = desc("backend_eligible", "1 when the backend is up, not ejected and not draining.", "backend")
	descState     = desc("backend_state", "1 for the state that the backend is in.", "backend", "state")
	descWeight    = desc("backend_weight", "The backend's weight.", "backend")
	descEjections = desc("backend_ejections_total", "Ejections of the backend since it was added.", "backend")
	descAll       = desc("ejections_total", "Ejections since the proxy started.")
	descRefused   = desc("ejections_refused_total", "Ejections that the cap refused.")
	descNow       = desc("in_flight", "Requests in flight at all backends, those that have left included.")
	descWaiting   = desc("queue_length", "Requests in the queue in front of a full pool.")
	descPanic     = desc("panic", "1 while too few backends are eligible and all get traffic.")
	descRetries   = desc("retries_in_flight", "Retries in flight.")
	descBudget    = desc("retry_budget", "Retries that may be in flight now.")
	descPolicy    = desc("policy_file_ok", "1 while the policy file is followed (absent without one).")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("minilb_"+name, help, labels, nil)
}

// Describe is empty: what there is depends on the pool.
func (c poolCollector) Describe(chan<- *prometheus.Desc) {}

// Collect gives the figures of this moment.
func (c poolCollector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(d *prometheus.Desc, v int, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	now, counts, budget := c.p.now(), c.p.pool.Counts(), c.p.handler().Budget
	gauge(descUp, now.Seconds())
	gauge(descNow, float64(counts.InFlight))
	gauge(descWaiting, float64(counts.Waiting))
	gauge(descPanic, bit(counts.Panic))
	gauge(descRetries, float64(budget.Retries()))
	gauge(descBudget, budget.Limit())
	count(descAll, counts.Ejections)
	count(descRefused, counts.Refused)
	if c.p.config.Policy != "" {
		gauge(descPolicy, bit(c.p.ops.reload.state.get().Error == ""))
	}
	for _, b := range c.p.pool.Status(now) {
		gauge(descInFlight, float64(b.InFlight), b.Name)
		gauge(descEligible, bit(!b.Down && !b.Ejected && !b.Draining), b.Name)
		gauge(descWeight, float64(b.Weight), b.Name)
		count(descEjections, b.Ejections, b.Name)
		for _, s := range states {
			gauge(descState, bit(b.State == s), b.Name, s)
		}
	}
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// page answers a scrape.
func (m *meters) page() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
