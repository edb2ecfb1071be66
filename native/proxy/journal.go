package proxy

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"

	"minilb/core/lb"
)

// kept is how many events the status shows.
const kept = 200

// A journal keeps the latest events and prints each one. Events come in under
// the pool's lock, so printing is left to a goroutine: a slow terminal must not
// hold requests up.
type journal struct {
	out   *slog.Logger
	ready chan struct{} // something is to be printed
	done  chan struct{} // the printing goroutine has ended

	ending chan struct{} // whoever follows the events is to stop

	mu      sync.Mutex
	latest  []lb.Event // oldest first
	total   uint64     // ever logged: the number of the latest one
	readers map[chan struct{}]bool
	pending []lb.Event
	missed  int
	closed  bool
}

// maxPending bounds what waits for a terminal that does not take it.
const maxPending = 10_000

func newJournal(out io.Writer) *journal { return newJournalTo(eventLogger(out, "plain")) }

func newJournalTo(out *slog.Logger) *journal {
	j := &journal{
		out: out, ready: make(chan struct{}, 1), done: make(chan struct{}),
		ending: make(chan struct{}), readers: map[chan struct{}]bool{},
	}
	go j.print()
	return j
}

// log takes an event in.
func (j *journal) log(e lb.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.latest) == kept {
		j.latest = j.latest[:copy(j.latest, j.latest[1:])]
	}
	j.latest = append(j.latest, e)
	j.total++
	for reader := range j.readers {
		poke(reader)
	}
	if j.closed {
		return
	}
	if len(j.pending) == maxPending {
		j.missed++
		return
	}
	j.pending = append(j.pending, e)
	poke(j.ready)
}

// events are the latest, oldest first.
func (j *journal) events() []lb.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.latest)
}

// subscribe returns a channel that is poked after each event, until stop.
func (j *journal) subscribe() (news <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.readers[c] = true
	return c, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.readers, c)
	}
}

// since returns the kept events after the one of a number, and the number of
// the latest. A number that is not of this journal means from the beginning.
func (j *journal) since(seen uint64) ([]lb.Event, uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := uint64(len(j.latest))
	if seen <= j.total {
		n = min(n, j.total-seen)
	}
	return slices.Clone(j.latest[uint64(len(j.latest))-n:]), j.total
}

// end lets go of those who follow.
func (j *journal) end() { close(j.ending) }

func (j *journal) print() {
	defer close(j.done)
	for range j.ready {
		j.mu.Lock()
		events, missed := j.pending, j.missed
		j.pending, j.missed = nil, 0
		j.mu.Unlock()
		for _, e := range events {
			logEvent(j.out, e)
		}
		if missed > 0 {
			j.out.Warn(fmt.Sprintf("%d events were not printed in time", missed))
		}
	}
}

// close prints what is left and ends.
func (j *journal) close() {
	j.mu.Lock()
	j.closed = true
	close(j.ready) // log writes to it under the lock, and only while not closed
	j.mu.Unlock()
	<-j.done
}

// poke wakes whoever reads from a channel of capacity one.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
