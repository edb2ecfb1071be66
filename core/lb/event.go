package lb

// An Event is one line of the transcript: what changed about a backend, when,
// and why. The simulator's page and the proxy's log print the same words.
type Event struct {
	At      Time
	Backend string // empty when the event is about the pool
	What    What
	Reason  string
}

// What names the kind of an event.
type What uint8

// The kinds of event.
const (
	Nothing What = iota // no event: nothing was decided
	WentDown
	CameUp
	WasEjected
	NotEjected // the cap refused it
	Returned   // an ejection ended
	DrainBegan
	DrainEnded // undrained
	WasAdded
	WasRemoved
	Changed // weight or address
	PanicBegan
	PanicEnded
)

var whatNames = [...]string{"nothing", "down", "up", "ejected", "not ejected", "returned", "draining", "undrained", "added", "removed", "changed", "panic", "panic over"}

// String is the word in the transcript.
func (w What) String() string { return whatNames[w] }

// String is the transcript's line: t=1.608 b3 ejected: 3 consecutive 5xx; ejected for 1s (ejection 1).
func (e Event) String() string {
	name := e.Backend
	if name == "" {
		name = "pool"
	}
	return "t=" + e.At.String() + " " + name + " " + e.What.String() + ": " + e.Reason
}
