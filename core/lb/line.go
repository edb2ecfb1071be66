package lb

// A Line is a passive queue of those who wait, first come first served. Each
// brings its own Spot, so waiting allocates nothing. The pool's queue and the
// retry budget's are lines; both are used under their owner's lock.
type Line[T any] struct {
	first, last *Spot[T]
}

// A Spot is somebody's place in a line.
type Spot[T any] struct {
	who        *T
	prev, next *Spot[T]
	waits      bool
}

// Waits says whether the spot is in a line.
func (s *Spot[T]) Waits() bool { return s.waits }

// Join puts who at the end.
func (l *Line[T]) Join(s *Spot[T], who *T) {
	s.who, s.prev, s.next, s.waits = who, l.last, nil, true
	if l.last == nil {
		l.first = s
	} else {
		l.last.next = s
	}
	l.last = s
}

// Leave takes a spot out of the line, wherever it is.
func (l *Line[T]) Leave(s *Spot[T]) {
	if s.prev == nil {
		l.first = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		l.last = s.prev
	} else {
		s.next.prev = s.prev
	}
	*s = Spot[T]{}
}

// First is who has waited longest; nil when nobody waits.
func (l *Line[T]) First() *T { return l.first.someone() }

// After is who comes after a spot; nil when it is the last.
func (s *Spot[T]) After() *T { return s.next.someone() }

func (s *Spot[T]) someone() *T {
	if s == nil {
		return nil
	}
	return s.who
}
