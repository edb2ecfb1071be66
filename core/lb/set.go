package lb

// A Set is the backends that may take a request at one moment, in the pool's
// order. It never changes; the pool publishes a new one instead. Positions in
// it run from 0 to Len()-1, and every picker speaks of positions.
type Set struct {
	backends []Backend
	slots    []uint16
	weights  []uint32 // thousandths, slow start included
	warm     []warmth // by position; nil when nothing is warming up
	uniform  bool     // all weights are the same
	limit    int32    // most in flight per backend, 0 = none
	loads    *Loads
	lat      *Latencies
	cursor   *Uint64
}

type warmth struct {
	from, to Time
	full     uint32
}

// Unit is weight 1 in the thousandths that Weight speaks of.
const Unit = 1000

// NewSet returns a set of backends at slots 0, 1, 2… for use without a pool: a
// test, a benchmark, a question on the command line.
func NewSet(backends []Backend, loads *Loads) *Set {
	s := &Set{loads: loads, cursor: new(Uint64)}
	for i, b := range backends {
		s.add(b, i, uint32(b.Weight)*Unit)
	}
	s.seal()
	return s
}

func (s *Set) add(b Backend, slot int, weight uint32) {
	s.backends = append(s.backends, b)
	s.slots = append(s.slots, uint16(slot))
	s.weights = append(s.weights, weight)
}

func (s *Set) seal() {
	s.uniform = s.warm == nil
	for _, w := range s.weights {
		s.uniform = s.uniform && w == s.weights[0]
	}
}

// Len is how many backends are in the set.
func (s *Set) Len() int { return len(s.backends) }

// Backend returns the backend at a position.
func (s *Set) Backend(i int) Backend { return s.backends[i] }

// InFlight returns how many requests the backend at a position has in flight,
// as far as this balancer can see.
func (s *Set) InFlight(i int) int { return int(s.loads.n[s.slots[i]].Load()) }

// Latency returns the peak EWMA of the backend at a position in nanoseconds; 0
// when nothing has been seen of it, or nobody keeps latencies.
func (s *Set) Latency(i int, now Time) float64 {
	if s.lat == nil {
		return 0
	}
	return s.lat.At(now, int(s.slots[i]))
}

// Uniform says whether all weights are the same, now and until the next set.
func (s *Set) Uniform() bool { return s.uniform }

// Weight returns the weight at a position in thousandths when the set was
// made; tables are built from it.
func (s *Set) Weight(i int) int { return int(s.weights[i]) }

// LiveWeight returns the weight at a position in thousandths at this moment:
// it grows smoothly through a slow start.
func (s *Set) LiveWeight(i int, now Time) int {
	if s.warm == nil {
		return int(s.weights[i])
	}
	return int(s.warm[i].weight(now))
}

// weight grows in a straight line over the warm-up, from a tenth on, as
// Envoy's slow start does with aggression 1 and its minimum of 10%.
func (w warmth) weight(now Time) uint32 {
	if now >= w.to {
		return w.full
	}
	grown := uint64(w.full) * uint64(max(now-w.from, 0)) / uint64(w.to-w.from)
	return max(uint32(grown), w.full/10, 1)
}

// Turn advances the pool's counter and returns its former value. Round robin
// takes its turns from it and least_conn rotates through ties with it.
func (s *Set) Turn() uint64 { return s.cursor.Add(1) - 1 }

// Turns is how many turns have been taken.
func (s *Set) Turns() uint64 { return s.cursor.Load() }

// Usable says whether the backend at a position can take this request: the
// request has not tried it, and it is not at its limit.
func (s *Set) Usable(i int, q *Query) bool {
	slot := s.slots[i]
	return (q.Tried.n == 0 || !q.Tried.Has(int(slot))) && (s.limit == 0 || s.loads.n[slot].Load() < s.limit)
}

// UsableFrom returns the first usable position at or after i, wrapping around,
// or -1 when there is none.
func (s *Set) UsableFrom(i int, q *Query) int {
	for range s.Len() {
		if s.Usable(i, q) {
			return i
		}
		if i++; i == s.Len() {
			i = 0
		}
	}
	return -1
}

// A Query is what a choice may depend on. It is passed by value: nothing of it
// is kept.
type Query struct {
	Now    Time
	Rand   uint64 // a random word; all chance of this choice is drawn from it
	Hash   uint64 // of the request's key, see pick.Hash
	HasKey bool   // false: hashing policies take turns instead
	Tried  Tried  // backends that have had this request
	Sticky string // the backend that the client's cookie names
}

// Tried is the set of backends a request has been sent to. A request has at
// most as many attempts as there is room.
type Tried struct {
	n     uint8
	slots [15]uint16
}

// Has says whether the backend at a slot has had the request.
func (t *Tried) Has(slot int) bool {
	for _, s := range t.slots[:t.n] {
		if int(s) == slot {
			return true
		}
	}
	return false
}

// With returns the set with the lease's backend in it.
func (t Tried) With(l Lease) Tried {
	t.add(l.at.slot)
	return t
}

// Add puts the lease's backend into the set.
func (t *Tried) Add(l Lease) { t.add(l.at.slot) }

// first is the set as it was when it had n members.
func (t Tried) first(n uint8) Tried {
	t.n = n
	return t
}

// add reports whether there was room.
func (t *Tried) add(slot int) bool {
	if int(t.n) == len(t.slots) {
		return false
	}
	t.slots[t.n] = uint16(slot)
	t.n++
	return true
}

// Len is how many backends have had the request.
func (t *Tried) Len() int { return int(t.n) }

// A Picker is a policy built for one set. Pick returns a position in that set,
// or -1 when no backend in it is usable. It must not allocate, and may be
// called by many at once.
type Picker interface {
	Pick(q Query) int
}

// Pickers builds the picker of a policy for a new set. It is called under the
// pool's lock, once for each change of the eligible backends.
type Pickers func(*Set) Picker
