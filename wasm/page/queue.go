package page

// A Queue decides what the Web Worker works on, so that the newest change wins without starving the page. Every change
// replaces the one that waits. A run in progress is given a short while to finish, because a run of a few thousand
// requests takes less than that and cancelling it at each movement of a slider would show nothing until the hand rests;
// a longer one is cancelled. Times are milliseconds of any clock.
type Queue struct {
	running, waiting int // run numbers; 0 is none
	last             int
	startedAt        float64
	cancelledAt      float64 // 0 when the run in progress has not been told to stop
}

const (
	patience   = 50   // longer than a run of 5000 requests, shorter than a person notices
	stuckAfter = 2000 // a worker that ignores a cancellation this long is replaced
)

// A Step is what the shell must do now. Start is the run to post to the worker, Cancel the run to stop, Replace says to
// terminate the worker and start another first. Wake asks for a Tick after that many milliseconds.
type Step struct {
	Start, Cancel int
	Replace       bool
	Wake          float64
}

// Submit announces a change and returns the number of its run.
func (q *Queue) Submit(now float64) (id int, s Step) {
	q.last++
	q.waiting = q.last
	return q.last, q.Tick(now)
}

// Finished tells that the worker has reported on a run, whole, failed or cancelled.
func (q *Queue) Finished(id int, now float64) Step {
	if id == q.running {
		q.running = 0
	}
	return q.Tick(now)
}

// Stop drops everything: the person pressed cancel.
func (q *Queue) Stop(now float64) Step {
	q.waiting = 0
	return q.cancel(now)
}

// Fresh says whether a run's results may be shown: nothing newer has been shown, and runs only ever finish in order.
func (q *Queue) Fresh(id int) bool { return id != 0 && id == q.running }

// Running is the number of the run in progress, 0 when there is none.
func (q *Queue) Running() int { return q.running }

// Idle says whether the page shows what its controls say.
func (q *Queue) Idle() bool { return q.running == 0 && q.waiting == 0 }

// Tick looks at the clock.
func (q *Queue) Tick(now float64) Step {
	switch {
	case q.running == 0:
		return q.start(now)
	case q.cancelledAt > 0 && now-q.cancelledAt >= stuckAfter:
		q.running = 0
		s := q.start(now)
		s.Replace = true
		return s
	case q.cancelledAt > 0:
		return Step{Wake: stuckAfter - (now - q.cancelledAt)}
	case q.waiting == 0:
		return Step{}
	case now-q.startedAt >= patience:
		return q.cancel(now)
	}
	return Step{Wake: patience - (now - q.startedAt)}
}

func (q *Queue) start(now float64) Step {
	q.running, q.waiting = q.waiting, 0
	q.startedAt, q.cancelledAt = now, 0
	return Step{Start: q.running}
}

func (q *Queue) cancel(now float64) Step {
	if q.running == 0 || q.cancelledAt > 0 {
		return Step{}
	}
	q.cancelledAt = max(now, 1e-9)
	return Step{Cancel: q.running, Wake: stuckAfter}
}

// A Throttle spaces out writes to the address bar: Chromium ignores more than 200 in 30 seconds, and then warns.
type Throttle struct {
	Every float64 // milliseconds between two writes
	next  float64
}

// Wait is how long from now the next write must wait; after that time the caller writes whatever is newest.
func (t *Throttle) Wait(now float64) float64 { return max(0, t.next-now) }

// Wrote notes a write.
func (t *Throttle) Wrote(now float64) { t.next = now + t.Every }
