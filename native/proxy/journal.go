package proxy

import (
	"fmt"
	"io"
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
	out   io.Writer
	ready chan struct{} // something is to be printed
	done  chan struct{} // the printing goroutine has ended

	mu      sync.Mutex
	latest  []lb.Event // oldest first
	pending []lb.Event
	missed  int
	closed  bool
}

// maxPending bounds what waits for a terminal that does not take it.
const maxPending = 10_000

func newJournal(out io.Writer) *journal {
	j := &journal{out: out, ready: make(chan struct{}, 1), done: make(chan struct{})}
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

func (j *journal) print() {
	defer close(j.done)
	for range j.ready {
		j.mu.Lock()
		events, missed := j.pending, j.missed
		j.pending, j.missed = nil, 0
		j.mu.Unlock()
		for _, e := range events {
			fmt.Fprintf(j.out, "[minilb] %s\n", e)
		}
		if missed > 0 {
			fmt.Fprintf(j.out, "[minilb] %d events were not printed in time\n", missed)
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
