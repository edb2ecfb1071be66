package pick

import (
	"cmp"
	"slices"

	"minilb/core/lb"
)

// Maglev is a lookup table that backends fill in turns, each along a
// permutation of its own (Eisenbud et al., Maglev: A Fast and Reliable Software
// Network Load Balancer, NSDI 2016, section 3.4). The spread is even to within
// one entry per unit of weight, and a removal needlessly moves a fraction of a
// percent of the other keys.
//
// The permutations are Envoy's: offset xxh64(name) mod M, skip xxh64(name,
// seed 1) mod (M-1) + 1, names sorted, turns by weight.
type Maglev struct {
	table []uint16
}

// filler is one backend's walk through the table.
type filler struct {
	owner  uint16
	next   int // entry it wants
	skip   int
	weight int
	target int // rounds × weight at which it takes its next turn
}

// NewMaglev builds a table of size entries, which must be a prime so that
// every skip visits all of them.
func NewMaglev(names []string, weights []int, size int) *Maglev {
	if !isPrime(size) {
		panic("pick: maglev table size is not a prime")
	}
	m := &Maglev{table: make([]uint16, size)}
	if len(names) > 0 {
		m.fill(fillers(names, weights, size))
	}
	return m
}

func fillers(names []string, weights []int, size int) []filler {
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(names[a], names[b]) })
	all := make([]filler, len(names))
	for at, i := range order {
		all[at] = filler{
			owner:  uint16(i),
			next:   int(HashSeed(names[i], 0) % uint64(size)),
			skip:   int(HashSeed(names[i], 1)%uint64(size-1)) + 1,
			weight: weights[i],
		}
	}
	return all
}

const free = ^uint16(0)

// fill lets everybody take turns. A backend of the greatest weight has a turn
// in every round, others whenever rounds × weight has caught up with their
// target, which grows by the greatest weight at each turn.
func (m *Maglev) fill(fillers []filler) {
	for i := range m.table {
		m.table[i] = free
	}
	heaviest := 0
	for _, f := range fillers {
		heaviest = max(heaviest, f.weight)
	}
	left := len(m.table)
	for round := 1; ; round++ {
		for i := range fillers {
			f := &fillers[i]
			if round*f.weight < f.target {
				continue
			}
			f.target += heaviest
			m.take(f)
			if left--; left == 0 {
				return
			}
		}
	}
}

// take gives a backend the next free entry of its permutation.
func (m *Maglev) take(f *filler) {
	at := f.next
	for m.table[at] != free {
		at = f.after(at, len(m.table))
	}
	m.table[at] = f.owner
	f.next = f.after(at, len(m.table))
}

func (f *filler) after(at, size int) int {
	if at += f.skip; at >= size {
		at -= size
	}
	return at
}

// Owner returns which name a hash belongs to.
func (m *Maglev) Owner(hash uint64) int { return int(m.table[hash%uint64(len(m.table))]) }

// Table returns the owner of every entry.
func (m *Maglev) Table() []uint16 { return m.table }

type maglevPicker struct {
	set *lb.Set
	*Maglev
}

func newMaglevPicker(c Config, s *lb.Set) lb.Picker {
	names, weights := make([]string, s.Len()), make([]int, s.Len())
	for i := range names {
		names[i], weights[i] = s.Backend(i).Name, s.Weight(i)
	}
	return &maglevPicker{s, NewMaglev(names, reduce(weights), c.TableSize)}
}

func (p *maglevPicker) Pick(q lb.Query) int {
	if !q.HasKey {
		return turn(p.set, &q)
	}
	at := int(q.Hash % uint64(len(p.table)))
	if i := int(p.table[at]); p.set.Usable(i, &q) {
		return i
	}
	if p.set.UsableFrom(0, &q) < 0 {
		return -1 // rather than find out by walking the whole table
	}
	for range p.table {
		if i := int(p.table[at]); p.set.Usable(i, &q) {
			return i
		}
		if at++; at == len(p.table) {
			at = 0
		}
	}
	return -1
}
