package pick

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"

	"minilb/core/lb"
)

// A Ring places points for every backend on a circle of 64-bit hashes; a key
// belongs to the first point at or after its own hash, wrapping around. When a
// backend leaves, only its points go, so only its keys move.
//
// Point i of a backend is xxh64(name + "_" + i), as in Envoy's ring hash. The
// shares' coefficient of variation is sqrt((N-1)/(N·p+1)) for N backends of p
// points each: .071 for five backends of 160 points.
type Ring struct {
	hashes []uint64
	owners []uint16
	index  []int32 // where the points of each slice of the circle begin
	shift  uint
}

// maxRingPoints bounds the ring's memory: 10 bytes a point.
const maxRingPoints = 1 << 22

type point struct {
	hash  uint64
	owner uint16
}

// NewRing builds the ring of the given names. counts says how many points each
// has; more than a few million in all are halved until they fit.
func NewRing(names []string, counts []int) *Ring {
	counts = halved(counts)
	points := make([]point, 0, sum(counts))
	var buf []byte
	for owner, name := range names {
		for i := range counts[owner] {
			buf = strconv.AppendInt(append(append(buf[:0], name...), '_'), int64(i), 10)
			points = append(points, point{HashSeed(buf, 0), uint16(owner)})
		}
	}
	sortPoints(points, names)
	return newRing(points)
}

// halved keeps the ring within its limit. Halving, unlike scaling to fit, gives
// the backends that stay the same points after most changes, so that on a huge
// ring, too, only a removed backend's keys move.
func halved(counts []int) []int {
	half := slices.Clone(counts)
	for halvings := 1; sum(half) > maxRingPoints+len(half); halvings++ {
		for i, n := range counts {
			half[i] = max(1, n>>halvings)
		}
	}
	return half
}

func sum(counts []int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}

// sortPoints orders points by hash, and equal hashes by their owners' names so
// that the order of the list does not matter. Hashes are uniform, so one pass
// of counting by the top bits leaves almost nothing to sort.
func sortPoints(points []point, names []string) {
	order := func(a, b point) int {
		if a.hash != b.hash {
			return cmp.Compare(a.hash, b.hash)
		}
		return cmp.Compare(names[a.owner], names[b.owner])
	}
	shift := uint(64 - bits.Len(uint(len(points))))
	starts := make([]int32, 1<<(64-shift)+1)
	for _, p := range points {
		starts[p.hash>>shift+1]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	sorted, next := make([]point, len(points)), slices.Clone(starts)
	for _, p := range points {
		b := p.hash >> shift
		sorted[next[b]] = p
		next[b]++
	}
	for b := range len(starts) - 1 {
		if bucket := sorted[starts[b]:starts[b+1]]; len(bucket) > 1 {
			slices.SortFunc(bucket, order)
		}
	}
	copy(points, sorted)
}

func newRing(points []point) *Ring {
	r := &Ring{hashes: make([]uint64, len(points)), owners: make([]uint16, len(points))}
	r.shift = uint(64 - bits.Len(uint(len(points))))
	r.index = make([]int32, 1<<(64-r.shift)+1)
	slice := 0
	for i, p := range points {
		r.hashes[i], r.owners[i] = p.hash, p.owner
		for ; slice <= int(p.hash>>r.shift); slice++ {
			r.index[slice] = int32(i)
		}
	}
	for ; slice < len(r.index); slice++ {
		r.index[slice] = int32(len(points))
	}
	return r
}

// Len is how many points the ring has.
func (r *Ring) Len() int { return len(r.hashes) }

// Point returns the hash and the owner of the point at a place.
func (r *Ring) Point(at int) (hash uint64, owner int) { return r.hashes[at], int(r.owners[at]) }

// At returns the place of the first point at or after a hash. The index leaves
// about one point to look at.
func (r *Ring) At(hash uint64) int {
	i := int(r.index[hash>>r.shift])
	for i < len(r.hashes) && r.hashes[i] < hash {
		i++
	}
	if i == len(r.hashes) {
		return 0
	}
	return i
}

// Owner returns which name a hash belongs to.
func (r *Ring) Owner(hash uint64) int { return int(r.owners[r.At(hash)]) }

// ringPicker is ring_hash for one set, with bounded loads when a factor says so.
type ringPicker struct {
	set    *lb.Set
	ring   *Ring
	factor float64
}

func newRingPicker(c Config, s *lb.Set) lb.Picker {
	p := &ringPicker{set: s, factor: c.HashBalanceFactor}
	if s.Len() == 0 {
		return p
	}
	names, counts := make([]string, s.Len()), make([]int, s.Len())
	for i := range names {
		names[i] = s.Backend(i).Name
		counts[i] = max(1, c.RingPoints*s.Weight(i)/lb.Unit)
	}
	p.ring = NewRing(names, counts)
	return p
}

func (p *ringPicker) Pick(q lb.Query) int {
	if !q.HasKey {
		return turn(p.set, &q)
	}
	at := p.ring.At(q.Hash)
	if p.factor == 0 {
		return p.walk(at, &q)
	}
	return p.bounded(at, &q)
}

// walk returns the first usable owner from a point on, clockwise.
func (p *ringPicker) walk(at int, q *lb.Query) int {
	if i := int(p.ring.owners[at]); p.set.Usable(i, q) {
		return i
	}
	if p.set.UsableFrom(0, q) < 0 {
		return -1 // rather than find out by walking the whole ring
	}
	for range p.ring.owners {
		if at++; at == len(p.ring.owners) {
			at = 0
		}
		if i := int(p.ring.owners[at]); p.set.Usable(i, q) {
			return i
		}
	}
	return -1
}

// bounded walks past backends that hold their bound already: consistent
// hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam, 2016).
// Somebody is always below it, for the bounds add up to more than what is in
// flight; but that one may have had the request, and then the walk is free.
func (p *ringPicker) bounded(at int, q *lb.Query) int {
	if p.set.UsableFrom(0, q) < 0 {
		return -1
	}
	per := p.perWeight(q.Now)
	start := at
	for range p.ring.owners {
		i := int(p.ring.owners[at])
		if p.set.Usable(i, q) && p.set.InFlight(i) < p.bound(i, per, q.Now) {
			return i
		}
		if at++; at == len(p.ring.owners) {
			at = 0
		}
	}
	return p.walk(start, q)
}

// perWeight is the bound for one thousandth of weight: factor × the requests
// in flight, the one to come included, over all the weight.
func (p *ringPicker) perWeight(now lb.Time) float64 {
	inFlight, weight := 1, 0
	for i := range p.set.Len() {
		inFlight += p.set.InFlight(i)
		weight += p.set.LiveWeight(i, now)
	}
	return p.factor * float64(inFlight) / float64(weight)
}

// bound is the most that a backend may hold, its weight's share of them all.
func (p *ringPicker) bound(i int, per float64, now lb.Time) int {
	return ceil(float64(per * float64(p.set.LiveWeight(i, now))))
}

// ceil rounds up, forgiving the last bits of a product that should be whole.
func ceil(x float64) int {
	n := int(x)
	if slack := float64(1e-9 * x); x-float64(n) > slack {
		n++
	}
	return n
}
