package sim

import "minilb/core/lb"

// kind is what an event is about. At the same instant a smaller kind comes
// first: an answer that arrives exactly at its timeout is still in time.
type kind uint8

const (
	served        kind = iota // a worker is done with a job
	retryDue                  // a back-off is over
	attemptLate               // an attempt has had its time
	probeLate                 // a probe has had its time
	queueLate                 // a request has waited long enough in front of the pool
	budgetLate                // a retry has waited long enough for the budget
	changeDue                 // something on the scenario's timeline
	refreshDue                // policies get to see new counts
	clientLate                // a client has waited long enough
	clientSends               // the wait before a client's retry is over
	thinkOver                 // a client of a closed loop sends its next request
	connectionOld             // a user's connection may have had its time
	kindBits      = 8         // of order
	sequenceBits  = 64 - kindBits
)

// An event is something that will happen at a known time. It is a value: the
// heap holds no pointers, so the garbage collector has nothing to look at.
type event struct {
	at    lb.Time
	order uint64 // kind, then the order of pushing: decides between equal times
	index int32  // of the job, request or waiter it is about
	turn  uint32 // of that slot's use; an event for an earlier use is void
}

func (e event) kind() kind { return kind(e.order >> sequenceBits) }

func (e *event) before(f *event) bool {
	return e.at < f.at || e.at == f.at && e.order < f.order
}

// A heap holds the events to come, the first of them on top. Four children to
// a node: half the levels of a binary heap, and the four lie close in memory.
type heap struct {
	events   []event
	sequence uint64
	hollow   bool // the top has been taken and not yet replaced
}

func (h *heap) push(at lb.Time, k kind, index int32, turn uint32) {
	h.sequence++
	e := event{at: at, order: uint64(k)<<sequenceBits | h.sequence, index: index, turn: turn}
	if h.hollow {
		h.hollow = false
		h.sink(e)
		return
	}
	h.events = append(h.events, e)
	h.rise(e)
}

// next is when the first event happens.
func (h *heap) next() lb.Time {
	if h.hollow {
		h.fill()
	}
	if len(h.events) == 0 {
		return lb.Never
	}
	return h.events[0].at
}

// pop takes the first event; next has said that there is one. The top stays
// hollow until the next push or look: most events cause another, which then
// takes that place and needs only one way through the heap.
func (h *heap) pop() event {
	h.hollow = true
	return h.events[0]
}

// fill puts the last event in the place of the top that was taken.
func (h *heap) fill() {
	h.hollow = false
	last := len(h.events) - 1
	e := h.events[last]
	h.events = h.events[:last]
	if last > 0 {
		h.sink(e)
	}
}

// rise puts e in at the end and lets it go up to its place.
func (h *heap) rise(e event) {
	events := h.events
	i := len(events) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&events[parent]) {
			break
		}
		events[i] = events[parent]
		i = parent
	}
	events[i] = e
}

// sink puts e in at the top and lets it go down to its place.
func (h *heap) sink(e event) {
	events, i := h.events, 0
	for 4*i+1 < len(events) {
		first := 4*i + 1
		children := events[first:min(first+4, len(events))]
		least := 0
		for c := 1; c < len(children); c++ {
			if children[c].before(&children[least]) {
				least = c
			}
		}
		if !children[least].before(&e) {
			break
		}
		events[i] = children[least]
		i = first + least
	}
	events[i] = e
}
