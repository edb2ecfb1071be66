package lb

// The pool drives these three state machines under its lock, by slot. Each
// room implements one; the pool is all that knows of more than one of them.

// Health decides from probes whether a backend is up.
type Health interface {
	// Add begins to check the backend at a slot. A backend added to a
	// running pool starts outside and enters after one passed probe.
	Add(now Time, slot int, running bool) (up bool)
	Remove(slot int)
	// Inherit goes on with a backend that was up or down under old, which
	// is nil when there were no checks.
	Inherit(now Time, slot int, up bool, old Health)
	// Next is when the next probe is due, Never without checks.
	Next() Time
	// Due appends the slots whose probes are due and plans the ones after.
	Due(now Time, slots []int) []int
	// Record takes a probe's result. When it changes the backend's state,
	// reason says why in words.
	Record(now Time, slot int, r ProbeResult) (up, changed bool, reason string)
	// Passes says whether a result is a pass.
	Passes(r ProbeResult) bool
}

// Outlier decides from real responses whether a backend is ejected.
type Outlier interface {
	Add(slot int)
	Remove(slot int)
	// Inherit goes on with a backend that old watched; nil: nobody did.
	Inherit(slot int, old Outlier)
	// Note takes one outcome in without the pool's lock, by atomics alone,
	// and says whether Judge is to be called.
	Note(slot int, o Outcome) (judge bool)
	// Judge ejects the backend if its streak is complete and the cap allows.
	Judge(now Time, slot int, c Census) Verdict
	// Passed is told of a passed active check; it may end an ejection.
	Passed(now Time, slot int) (returned bool, reason string)
	// Next is when the machine wants Advance: an ejection ends, or the
	// detector looks at its interval. Never when neither is to come.
	Next() Time
	// Advance does what is due and reports each change.
	Advance(now Time, c Census, report func(slot int, v Verdict))
}

// A Census is what the cap on ejections is a share of: backends that are not
// draining, and how many of those are ejected.
type Census struct {
	Members int
	Ejected int
	Counts  func(slot int) bool // is a member that is not draining
}

// A Verdict is what the outlier machine decided about one backend.
type Verdict struct {
	What   What // WasEjected, NotEjected, Returned or Nothing
	At     Time // when it took effect
	Until  Time // end of an ejection
	Reason string
	Quiet  bool // a repeated refusal: count it, do not report it again
}

// Drain decides when a leaving backend may go.
type Drain interface {
	// Leave says whether a backend that is draining is done at now, and why.
	Leave(now, deadline Time, inFlight int) (done bool, reason string)
}
