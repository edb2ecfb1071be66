package retry_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/lb"
	"minilb/core/retry"
)

// A request in the model: what its shell knows of it.
type request struct {
	life     retry.Life
	slot     retry.Slot
	method   string
	deadline lb.Time
	lease    lb.Lease
	giveUp   lb.Time
	state    state
	at       lb.Time // of a Wait or a Queue
	woken    bool
	retrying bool // the present attempt is a retry
	went     map[string]bool
}

type state int

const (
	sent state = iota
	waiting
	queued
	done
)

// holds says whether the request occupies room in the budget.
func (r *request) holds() bool {
	return r.state == sent && r.retrying || r.state == waiting || r.state == queued && r.woken
}

// A world is many requests that share one budget and one pool, driven in any
// order that a simulator or a proxy could produce.
type world struct {
	t      *rapid.T
	c      retry.Config
	plan   *retry.Plan
	budget *retry.Budget
	pool   *lb.Pool
	now    lb.Time
	all    []*request
	line   []*request // who waits, in order
}

func newWorld(t *rapid.T) *world {
	c := retry.Config{
		Retries:             rapid.IntRange(0, 4).Draw(t, "retries"),
		RetryOn:             []string{"connect-failure", "gateway-error", "5xx", "timeout"},
		PerTryTimeout:       time.Duration(rapid.IntRange(0, 20).Draw(t, "per-try")),
		Backoff:             time.Duration(rapid.IntRange(0, 5).Draw(t, "backoff")),
		BackoffMax:          time.Duration(rapid.IntRange(0, 30).Draw(t, "max")),
		BudgetPercent:       float64(rapid.IntRange(0, 150).Draw(t, "percent")),
		MinRetryConcurrency: rapid.IntRange(0, 2).Draw(t, "least"),
		BudgetWait:          time.Duration(rapid.SampledFrom([]int{0, 10, 40}).Draw(t, "wait")),
	}
	return &world{t: t, c: c, plan: plan(t, c), budget: retry.NewBudget(c), pool: newPool(rapid.IntRange(1, 5).Draw(t, "backends"))}
}

func (w *world) begin() {
	r := &request{method: rapid.SampledFrom([]string{"GET", "POST"}).Draw(w.t, "method"), deadline: lb.Never, went: map[string]bool{}}
	if rapid.Bool().Draw(w.t, "has a deadline") {
		r.deadline = w.now + lb.Time(rapid.IntRange(1, 60).Draw(w.t, "time"))
	}
	r.life = w.plan.Begin(w.budget, r.method, r.deadline)
	r.slot.Wake = func() { w.wake(r) }
	w.all = append(w.all, r)
	w.send(r)
}

func (w *world) wake(r *request) {
	require.NotEmpty(w.t, w.line)
	assert.Same(w.t, w.line[0], r, "first come, first served")
	assert.LessOrEqual(w.t, float64(w.budget.Retries()), w.budget.Limit())
	w.line, r.woken = w.line[1:], true
}

func (w *world) send(r *request) {
	lease, err := w.pool.Acquire(w.now, lb.Query{Tried: r.life.Tried})
	if err != nil {
		a := r.life.NoBackend(err)
		assert.Equal(w.t, "not retried: no other backend", a.Note)
		w.follow(r, a)
		return
	}
	assert.False(w.t, r.went[lease.Name()], "each attempt goes to another backend")
	r.went[lease.Name()] = true
	r.lease, r.state = lease, sent
	r.giveUp = r.life.Sent(w.now, lease)
	assert.LessOrEqual(w.t, r.giveUp, r.deadline)
	assert.LessOrEqual(w.t, r.life.Attempts(), w.c.Retries+1)
	if r.retrying {
		assert.Less(w.t, w.now, r.deadline)
		assert.LessOrEqual(w.t, w.now.Add(w.c.PerTryTimeout), r.deadline, "a retry has all the time that it may take")
	}
}

// follow does what the Life wants.
func (w *world) follow(r *request, a retry.Action) {
	r.at = a.At
	switch a.Do {
	case retry.Finish:
		r.state = done
		r.life.End()
	case retry.Try:
		assert.Equal(w.t, w.now, a.At)
		r.retrying = true
		w.send(r)
	case retry.Wait:
		assert.Greater(w.t, a.At, w.now)
		r.retrying, r.state = true, waiting
	case retry.Queue:
		assert.LessOrEqual(w.t, w.now, a.At)
		assert.LessOrEqual(w.t, a.At.Add(w.c.PerTryTimeout), r.deadline)
		assert.LessOrEqual(w.t, a.At, w.now.Add(w.c.BudgetWait))
		r.retrying, r.state, r.woken = false, queued, false
		w.line = append(w.line, r)
		w.budget.Enqueue(&r.slot)
	}
}

func (w *world) answer(r *request, o lb.Outcome) {
	w.pool.Release(w.now, r.lease, o)
	a := r.life.After(w.now, o, rapid.Uint64().Draw(w.t, "rand"))
	if a.Do == retry.Try || a.Do == retry.Wait {
		assert.LessOrEqual(w.t, float64(w.budget.Retries()), w.budget.Limit())
	}
	if a.Do != retry.Finish {
		assert.NotEqual(w.t, lb.Answered == o.Kind && o.Status < 500, true, "a success is not repeated")
		assert.True(w.t, o.Kind == lb.Refused || r.method == "GET", "%s after %s", r.method, o)
		assert.Empty(w.t, a.Note)
	}
	w.follow(r, a)
}

// unqueue ends a request's wait for room.
func (w *world) unqueue(r *request) {
	if w.budget.Abandon(&r.slot) {
		assert.True(w.t, r.woken)
		w.follow(r, r.life.Granted(w.now, rapid.Uint64().Draw(w.t, "rand")))
		return
	}
	for i, other := range w.line {
		if other == r {
			w.line = append(w.line[:i:i], w.line[i+1:]...)
			break
		}
	}
	w.follow(r, r.life.Denied())
}

func (w *world) leave(r *request) {
	switch r.state {
	case sent:
		w.answer(r, lb.Outcome{Kind: lb.Cancelled})
	case waiting:
		r.state = done
		r.life.End()
	case queued:
		w.unqueue(r)
		if r.state == sent || r.state == waiting {
			w.leave(r)
		}
	}
}

// tick lets the timers of one instant fire.
func (w *world) tick() {
	w.now++
	for _, r := range w.all {
		switch {
		case r.state == sent && r.giveUp <= w.now:
			w.answer(r, lb.Outcome{Kind: lb.TimedOut})
		case r.state == waiting && r.at <= w.now:
			w.send(r)
		case r.state == queued && r.at <= w.now:
			w.unqueue(r)
		}
	}
}

func (w *world) draw(states ...state) *request {
	var fit []*request
	for _, r := range w.all {
		for _, s := range states {
			if r.state == s {
				fit = append(fit, r)
			}
		}
	}
	if len(fit) == 0 {
		w.t.Skip()
	}
	return fit[rapid.IntRange(0, len(fit)-1).Draw(w.t, "request")]
}

func (w *world) check() {
	live, held := 0, 0
	for _, r := range w.all {
		if r.state != done {
			live++
		}
		if r.holds() {
			held++
		}
	}
	assert.Equal(w.t, live, w.budget.Requests())
	assert.Equal(w.t, held, w.budget.Retries(), "room is held by whoever retries and by nobody else")
	// Nobody waits while there is room.
	assert.False(w.t, len(w.line) > 0 && float64(w.budget.Retries()+1) <= w.budget.Limit())
}

func TestManyLivesShareOneBudget(t *testing.T) {
	outcomes := []lb.Outcome{ok, status(404), status(500), status(503), refused, broken, timedOut}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		t.Repeat(map[string]func(*rapid.T){
			"begin":  func(t *rapid.T) { w.t = t; w.begin() },
			"answer": func(t *rapid.T) { w.t = t; w.answer(w.draw(sent), rapid.SampledFrom(outcomes).Draw(t, "outcome")) },
			"leave":  func(t *rapid.T) { w.t = t; w.leave(w.draw(sent, waiting, queued)) },
			"wake": func(t *rapid.T) {
				w.t = t
				if r := w.draw(queued); r.woken {
					w.unqueue(r)
				}
			},
			"time": func(t *rapid.T) {
				w.t = t
				for range rapid.IntRange(1, 15).Draw(t, "passes") {
					w.tick()
				}
			},
			"": func(t *rapid.T) { w.t = t; w.check() },
		})
		w.t = t
		for _, r := range w.all {
			w.leave(r)
		}
		w.check()
		assert.Zero(t, w.budget.Requests())
		assert.Zero(t, w.budget.Retries())
	})
}
