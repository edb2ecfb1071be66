package sim

const (
	chunkBits = 10
	chunkSize = 1 << chunkBits
)

// A slab hands out numbered places for values of one type and takes them back.
// It grows by chunks, so that a place never moves, and holds as many values as
// there ever were at one time: a run of millions of requests needs the memory
// of those in flight.
type slab[T any] struct {
	chunks []*[chunkSize]T
	free   []int32
	used   int32 // places below were used at least once
}

// take returns a place whose value is whatever was last there.
func (s *slab[T]) take() int32 {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		return i
	}
	if int(s.used)>>chunkBits == len(s.chunks) {
		s.chunks = append(s.chunks, new([chunkSize]T))
	}
	s.used++
	return s.used - 1
}

func (s *slab[T]) give(i int32) {
	if len(s.free) == cap(s.free) {
		s.grow()
	}
	s.free = append(s.free, i)
}

// grow makes room for twice as many free places, never for more than there
// are. What append would do by itself leaves four times as much behind, all of
// it when a long queue has emptied and memory is at its peak.
func (s *slab[T]) grow() {
	n := min(max(chunkSize, 2*cap(s.free)), chunkSize*len(s.chunks))
	s.free = append(make([]int32, 0, n), s.free...)
}

func (s *slab[T]) at(i int32) *T { return &s.chunks[i>>chunkBits][i&(chunkSize-1)] }

// reach returns a place by its number without taking it: for a slab that goes
// along with another one.
func (s *slab[T]) reach(i int32) *T {
	for int(i)>>chunkBits >= len(s.chunks) {
		s.chunks = append(s.chunks, new([chunkSize]T))
	}
	return s.at(i)
}

// len is how many places are taken.
func (s *slab[T]) len() int { return int(s.used) - len(s.free) }
