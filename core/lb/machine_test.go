package lb_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/lb"
	"minilb/core/pick"
)

// The pool against a dumb twin: rapid calls the pool's methods in any order,
// the twin keeps a flat list of flags and counts, and after every step both
// must tell the same of every backend. Which backend a policy chooses is not
// the twin's business; that it may be chosen is.

// twinBackend is everything about a backend, in plain words.
type twinBackend struct {
	name               string
	slot               int
	weight             int
	down               bool
	ejected, draining  bool
	until, deadline    lb.Time
	streak             int
	ejections          int
	inFlight           int
	attempts, failures uint64
	gone               bool
}

func (b *twinBackend) state() string {
	switch {
	case b.draining:
		return "draining"
	case b.down:
		return "unhealthy"
	case b.ejected:
		return "ejected"
	}
	return "healthy"
}

// twinTicket is one request that waits.
type twinTicket struct {
	lb.Ticket
	tried []*twinBackend
	woken bool
}

// twinLease is one request in flight.
type twinLease struct {
	lb.Lease
	on *twinBackend
}

// machine is the pool under test and its twin.
type machine struct {
	t       *rapid.T
	y       *story
	config  lb.Config
	now     lb.Time
	members []*twinBackend // in order, the gone ones taken out
	every   []*twinBackend // by slot
	leases  []twinLease
	queue   []*twinTicket
	refused int
	out     int // ejections
}

const (
	twinStreak  = 2               // errors in a row that eject
	twinEject   = 10 * second     // every ejection's length
	twinPercent = 50              // at most this many out
	longest     = 3 * time.Second // of slow starts
)

func newMachine(t *rapid.T) *machine {
	s := plain()
	s.policy = rapid.SampledFrom(pick.Names()).Draw(t, "policy")
	s.pool.MaxInflight = rapid.IntRange(0, 3).Draw(t, "max in flight")
	s.pool.Queue = rapid.IntRange(0, 4).Draw(t, "queue")
	s.pool.PanicThreshold = rapid.SampledFrom([]float64{0, 30, 50, 100}).Draw(t, "panic threshold")
	s.pool.SlowStart = rapid.SampledFrom([]time.Duration{0, longest}).Draw(t, "slow start")
	s.pool.DrainSticky = rapid.Bool().Draw(t, "drain sticky")
	s.health.CheckInterval, s.health.Rise, s.health.Fall = time.Second, 1, 1
	s.outlier.Consecutive5xx, s.outlier.MaxEjectionPercent = twinStreak, twinPercent
	s.outlier.BaseEjection, s.outlier.MaxEjection = time.Duration(twinEject), time.Duration(twinEject)
	m := &machine{t: t, config: s.pool}
	var backends []lb.Backend
	for i := range rapid.IntRange(0, 5).Draw(t, "backends") {
		b := lb.Backend{Name: fmt.Sprintf("b%d", i), Weight: 1 + i%3}
		backends = append(backends, b)
		m.join(b, false)
	}
	m.y = s.start(t, backends...)
	return m
}

func (m *machine) join(b lb.Backend, down bool) {
	twin := &twinBackend{name: b.Name, weight: b.Weight, slot: len(m.every), down: down}
	m.members, m.every = append(m.members, twin), append(m.every, twin)
}

func (m *machine) find(name string) *twinBackend {
	for _, b := range m.members {
		if b.name == name {
			return b
		}
	}
	return nil
}

func (m *machine) panics() bool {
	eligible, present := 0, 0
	for _, b := range m.members {
		if !b.draining {
			present++
		}
		if b.state() == "healthy" {
			eligible++
		}
	}
	return present > 0 && float64(100*eligible) < m.config.PanicThreshold*float64(present)
}

func (m *machine) takes(b *twinBackend) bool {
	return b.state() == "healthy" || m.panics() && !b.draining
}

func (m *machine) hasRoom(b *twinBackend) bool {
	return m.config.MaxInflight == 0 || b.inFlight < m.config.MaxInflight
}

// candidates are the backends that may take a request which has been to tried.
func (m *machine) candidates(tried []*twinBackend) (all []*twinBackend) {
	for _, b := range m.members {
		if m.takes(b) && m.hasRoom(b) && !slices.Contains(tried, b) {
			all = append(all, b)
		}
	}
	return all
}

// settle ends what is over: ejections by time, drains by time or by the last
// request.
func (m *machine) settle() {
	for _, b := range slices.Clone(m.members) {
		if b.ejected && b.until <= m.now {
			b.ejected, b.streak = false, 0
		}
		if b.draining && (b.inFlight == 0 || b.deadline <= m.now) {
			b.gone = true
			m.members = slices.DeleteFunc(m.members, func(o *twinBackend) bool { return o == b })
		}
	}
}

// name draws a backend, mostly one that is there.
func (m *machine) name(t *rapid.T) string {
	return fmt.Sprintf("b%d", rapid.IntRange(0, 7).Draw(t, "backend"))
}

// tried draws some backends that have requests now as where one has been.
func (m *machine) tried(t *rapid.T) (set lb.Tried, twins []*twinBackend) {
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "tried") {
		if len(m.leases) > 0 {
			l := rapid.SampledFrom(m.leases).Draw(t, "been to")
			if !set.Has(l.Slot()) {
				set, twins = set.With(l.Lease), append(twins, l.on)
			}
		}
	}
	return set, twins
}

func (m *machine) acquire(t *rapid.T) {
	set, been := m.tried(t)
	q := lb.Query{Rand: rapid.Uint64().Draw(t, "rand"), Hash: rapid.Uint64().Draw(t, "hash"), HasKey: rapid.Bool().Draw(t, "key"), Tried: set}
	if rapid.IntRange(0, 2).Draw(t, "with a cookie") == 0 {
		q.Sticky = m.name(t)
	}
	l, err := m.y.Acquire(m.now, q)
	want := m.expect(q.Sticky, been)
	require.ErrorIs(t, err, want)
	if want != nil {
		require.False(t, l.Valid())
		return
	}
	require.Equal(t, m.sticks(q.Sticky, been), l.Sticky)
	if l.Sticky {
		require.Equal(t, q.Sticky, l.Name())
	} else {
		require.Contains(t, m.candidates(been), m.every[l.Slot()], "not a backend that may take it")
	}
	m.began(l)
}

// sticks says whether a cookie decides.
func (m *machine) sticks(cookie string, been []*twinBackend) bool {
	b := m.find(cookie)
	if b == nil || !m.hasRoom(b) || slices.Contains(been, b) {
		return false
	}
	return m.takes(b) || m.config.DrainSticky && b.draining && !b.down && !b.ejected
}

func (m *machine) expect(cookie string, been []*twinBackend) error {
	all := slices.DeleteFunc(slices.Clone(m.members), func(b *twinBackend) bool { return !m.takes(b) })
	untried := slices.DeleteFunc(slices.Clone(all), func(b *twinBackend) bool { return slices.Contains(been, b) })
	switch {
	case len(m.queue) > 0:
		return lb.ErrFull
	case m.sticks(cookie, been) || len(m.candidates(been)) > 0:
		return nil
	case len(all) == 0:
		return lb.ErrNoBackend
	case len(untried) == 0:
		return lb.ErrNoOther
	}
	return lb.ErrFull
}

func (m *machine) began(l lb.Lease) {
	b := m.every[l.Slot()]
	require.Equal(m.t, b.name, l.Name())
	require.Equal(m.t, m.panics(), l.Panic, "panic only when it should")
	require.False(m.t, b.gone)
	b.inFlight++
	b.attempts++
	m.leases = append(m.leases, twinLease{l, b})
}

func (m *machine) release(t *rapid.T) {
	if len(m.leases) == 0 {
		t.Skip("nothing in flight")
	}
	i := rapid.IntRange(0, len(m.leases)-1).Draw(t, "lease")
	l := m.leases[i]
	m.leases = slices.Delete(m.leases, i, i+1)
	outcome := rapid.SampledFrom([]lb.Outcome{ok, bad, bad, {Kind: lb.Cancelled}}).Draw(t, "outcome")
	l.on.inFlight--
	m.observe(l.on, outcome)
	m.settle()
	m.y.Release(m.now, l.Lease, outcome)
}

func (m *machine) observe(b *twinBackend, o lb.Outcome) {
	switch {
	case o.Kind == lb.Cancelled:
	case !o.Failed():
		b.streak = 0
	default:
		b.failures++
		b.streak++
		if b.streak >= twinStreak && !b.ejected && !b.draining && !b.gone {
			m.eject(b)
		}
	}
}

func (m *machine) eject(b *twinBackend) {
	members, ejected := 0, 0
	for _, o := range m.members {
		if !o.draining {
			members++
			if o.ejected {
				ejected++
			}
		}
	}
	if (ejected+1)*100 > members*twinPercent {
		m.refused++
		return
	}
	m.out++
	b.ejected, b.until = true, m.now+twinEject
	b.ejections++
}

func (m *machine) probe(t *rapid.T) {
	if len(m.every) == 0 {
		t.Skip("no backends")
	}
	b := rapid.SampledFrom(m.every).Draw(t, "whose probe")
	passes := rapid.Bool().Draw(t, "passes")
	result := failed
	if passes {
		result = passed
	}
	if !b.gone {
		b.down = !passes
	}
	m.y.Probed(m.now, lb.Probe{Slot: b.slot, Name: b.name, Start: m.now}, result)
}

func (m *machine) add(t *rapid.T) {
	b := lb.Backend{Name: m.name(t), Weight: rapid.IntRange(1, 3).Draw(t, "weight")}
	err := m.y.Add(m.now, b)
	require.Equal(t, m.find(b.Name) != nil, err != nil)
	if err == nil {
		m.join(b, true)
	}
}

func (m *machine) drain(t *rapid.T) {
	name, timeout := m.name(t), rapid.SampledFrom([]time.Duration{0, 5 * time.Second, 20 * time.Second}).Draw(t, "timeout")
	err := m.y.Drain(m.now, name, timeout)
	b := m.find(name)
	require.Equal(t, b == nil, err != nil)
	if b != nil {
		b.draining, b.deadline = true, m.now.Add(timeout)
		m.settle()
	}
}

func (m *machine) undrain(t *rapid.T) {
	name := m.name(t)
	err := m.y.Undrain(m.now, name)
	b := m.find(name)
	require.Equal(t, b == nil || !b.draining, err != nil)
	if err == nil {
		b.draining = false
	}
}

func (m *machine) weigh(t *rapid.T) {
	name, weight := m.name(t), rapid.IntRange(0, 3).Draw(t, "weight")
	err := m.y.SetWeight(m.now, name, weight)
	b := m.find(name)
	require.Equal(t, b == nil || weight == 0, err != nil)
	if err == nil {
		b.weight = weight
	}
}

func (m *machine) enqueue(t *rapid.T) {
	set, been := m.tried(t)
	ticket := &twinTicket{tried: been}
	ticket.Wake = func() { ticket.woken = true }
	q := lb.Query{Rand: rapid.Uint64().Draw(t, "rand"), Hash: rapid.Uint64().Draw(t, "hash"), HasKey: true, Tried: set}
	full := len(m.queue) >= m.config.Queue
	err := m.y.Enqueue(m.now, q, &ticket.Ticket)
	require.Equal(t, full, err != nil)
	if err == nil {
		m.queue = append(m.queue, ticket)
	}
}

func (m *machine) abandon(t *rapid.T) {
	if len(m.queue) == 0 {
		t.Skip("nobody waits")
	}
	i := rapid.IntRange(0, len(m.queue)-1).Draw(t, "ticket")
	_, granted := m.y.Abandon(&m.queue[i].Ticket)
	require.False(t, granted)
	m.queue = slices.Delete(m.queue, i, i+1)
}

func (m *machine) pass(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(1, 120).Draw(t, "tenths of a second")) * time.Second / 10)
	m.settle()
	m.y.Advance(m.now)
}

// serve takes in what the queue was given, in order.
func (m *machine) serve(t *rapid.T) {
	waitingPlain := false
	for _, ticket := range slices.Clone(m.queue) {
		if !ticket.woken {
			waitingPlain = waitingPlain || len(ticket.tried) == 0
			continue
		}
		require.False(t, waitingPlain && len(ticket.tried) == 0, "served out of turn")
		l, granted := m.y.Take(&ticket.Ticket)
		require.True(t, granted)
		require.Contains(t, m.candidates(ticket.tried), m.every[l.Slot()])
		m.began(l)
		m.queue = slices.DeleteFunc(m.queue, func(o *twinTicket) bool { return o == ticket })
	}
	for _, ticket := range m.queue {
		require.Empty(t, m.candidates(ticket.tried), "somebody waits beside a free place")
	}
}

// check is what holds after every step.
func (m *machine) check(t *rapid.T) {
	status := m.y.Status(m.now)
	m.serve(t)
	require.Len(t, status, len(m.members))
	for i, s := range m.y.Status(m.now) {
		b := m.members[i]
		require.Equal(t, b.name, s.Name)
		require.Equal(t, b.weight, s.Weight, b.name)
		require.Equal(t, b.state(), s.State, b.name)
		require.Equal(t, []bool{b.down, b.ejected, b.draining}, []bool{s.Down, s.Ejected, s.Draining}, b.name)
		require.Equal(t, b.inFlight, s.InFlight, b.name)
		require.Equal(t, []uint64{b.attempts, b.failures}, []uint64{s.Attempts, s.Failures}, b.name)
		require.Equal(t, b.ejections, s.Ejections, b.name)
	}
	for _, b := range m.every {
		require.True(t, 0 <= b.inFlight && (m.config.MaxInflight == 0 || b.inFlight <= m.config.MaxInflight), "%s: %d in flight", b.name, b.inFlight)
	}
	want := lb.Counts{Ejections: m.out, Refused: m.refused, Waiting: len(m.queue), InFlight: len(m.leases), Panic: m.panics()}
	require.Equal(t, want, m.y.Counts(), "nothing is lost")
	require.Greater(t, m.y.Next(), lb.Time(-1))
}

func TestThePoolAgreesWithItsDumbTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		t.Repeat(map[string]func(*rapid.T){
			"":         m.check,
			"acquire":  m.acquire,
			"acquire2": m.acquire, // more of what a pool is for
			"acquire3": m.acquire,
			"release":  m.release,
			"release2": m.release,
			"probe":    m.probe,
			"add":      m.add,
			"drain":    m.drain,
			"undrain":  m.undrain,
			"weigh":    m.weigh,
			"enqueue":  m.enqueue,
			"enqueue2": m.enqueue,
			"abandon":  m.abandon,
			"pass":     m.pass,
		})
	})
}
