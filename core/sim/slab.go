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

func (s *slab[T]) give(i int32) { s.free = append(s.free, i) }

func (s *slab[T]) at(i int32) *T { return &s.chunks[i>>chunkBits][i&(chunkSize-1)] }

// len is how many places are taken.
func (s *slab[T]) len() int { return int(s.used) - len(s.free) }
