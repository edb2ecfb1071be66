package pick_test

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/stat"
)

// A world is what a twin sees of the backends at one pick.
type world struct {
	names    []string
	weights  []int
	inFlight []int
	usable   []bool
	turns    int // picks so far of a policy that takes turns
}

func (w *world) turn() int {
	w.turns++
	return w.turns - 1
}

// among returns the usable positions.
func (w *world) among() []int {
	var all []int
	for i, ok := range w.usable {
		if ok {
			all = append(all, i)
		}
	}
	return all
}

// from is the first usable of the positions, taken in the given order.
func (w *world) from(order []int) int {
	for _, i := range order {
		if w.usable[i] {
			return i
		}
	}
	return -1
}

// circle is the positions from start on, once around.
func circle(start, n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = (start + i) % n
	}
	return all
}

// A twin is a policy written for its reader: slow, obvious, nothing kept
// between picks but the number of turns.
type twin func(w *world, q lb.Query) int

// twins has one for every policy that is a function of what it is given; a
// draw by weight is tested by what its table adds up to instead.
func twins(c pick.Config) map[string]twin {
	return map[string]twin{
		"round_robin":          twinRoundRobin,
		"weighted_round_robin": twinWeighted,
		"least_conn":           twinLeastConn,
		"p2c":                  func(w *world, q lb.Query) int { return twinDrawn(w, q, c.Choices, twinLoad) },
		"peak_ewma":            func(w *world, q lb.Query) int { return twinDrawn(w, q, c.Choices, twinCost) },
		"random":               twinRandom,
		"first":                func(w *world, _ lb.Query) int { return w.from(circle(0, len(w.names))) },
		"modulo_hash":          keyOrTurn(twinModulo),
		"ring_hash":            keyOrTurn(func(w *world, q lb.Query) int { return twinRing(w, q, c) }),
		"maglev":               keyOrTurn(func(w *world, q lb.Query) int { return twinMaglev(w, q, c.TableSize) }),
		"rendezvous":           keyOrTurn(twinRendezvous),
	}
}

func twinRoundRobin(w *world, _ lb.Query) int {
	return w.from(circle(w.turn()%len(w.names), len(w.names)))
}

func keyOrTurn(keyed twin) twin {
	return func(w *world, q lb.Query) int {
		if !q.HasKey {
			return twinRoundRobin(w, q)
		}
		return keyed(w, q)
	}
}

// twinWeighted runs nginx's state machine from the start: as many steps as
// there were turns, then on until a usable backend comes up.
func twinWeighted(w *world, _ lb.Query) int {
	total, current := 0, make([]int, len(w.weights))
	for _, weight := range w.weights {
		total += weight
	}
	step := func() int {
		best := -1
		for i, weight := range w.weights {
			current[i] += weight
			if best < 0 || current[i] > current[best] {
				best = i
			}
		}
		current[best] -= total
		return best
	}
	for range w.turn() % total {
		step()
	}
	for range total {
		if i := step(); w.usable[i] {
			return i
		}
	}
	return -1
}

func twinLeastConn(w *world, _ lb.Query) int {
	turn := w.turn()
	var lowest *big.Rat
	var tied []int
	for _, i := range w.among() {
		load := twinLoad(w, i)
		if lowest == nil || load.Cmp(lowest) < 0 {
			lowest, tied = load, nil
		}
		if load.Cmp(lowest) == 0 {
			tied = append(tied, i)
		}
	}
	if len(tied) == 0 {
		return -1
	}
	return tied[turn%len(tied)]
}

func twinLoad(w *world, i int) *big.Rat { return big.NewRat(int64(w.inFlight[i]), int64(w.weights[i])) }

// twinCost is peak EWMA's when no latency has been seen.
func twinCost(w *world, i int) *big.Rat {
	if w.inFlight[i] == 0 {
		return new(big.Rat)
	}
	return big.NewRat(int64(w.inFlight[i]+1), int64(w.weights[i]))
}

// twinDrawn takes the cheapest of some drawn out of a hat, the first of equals.
func twinDrawn(w *world, q lb.Query, choices int, cost func(*world, int) *big.Rat) int {
	all := circle(0, len(w.names))
	drawn := outOfAHat(q.Rand, all, choices)
	if slices.ContainsFunc(drawn, func(i int) bool { return !w.usable[i] }) {
		drawn = outOfAHat(stat.Next(q.Rand^0x6a09e667f3bcc909), w.among(), choices)
	}
	if len(drawn) == 0 {
		return -1
	}
	return slices.MinFunc(drawn, func(i, j int) int { return cost(w, i).Cmp(cost(w, j)) })
}

func outOfAHat(word uint64, hat []int, choices int) []int {
	hat = slices.Clone(hat)
	var drawn []int
	k := min(choices, len(hat))
	for t := range k {
		var at int
		if k == 2 { // the two halves of one word
			half := word >> 32
			if t == 1 {
				half = word & 0xffffffff
			}
			at = int(half * uint64(len(hat)) >> 32)
		} else {
			word = stat.Next(word)
			at = stat.Below(word, len(hat))
		}
		drawn = append(drawn, hat[at])
		hat = slices.Delete(hat, at, at+1)
	}
	return drawn
}

// twinRandom knows equal weights only, and answers -2 (no opinion) for others.
func twinRandom(w *world, q lb.Query) int {
	if slices.Min(w.weights) != slices.Max(w.weights) {
		return -2
	}
	word := q.Rand
	for range 16 {
		if i := stat.Below(word, len(w.names)); w.usable[i] {
			return i
		}
		word = stat.Next(word)
	}
	return w.from(circle(stat.Below(word, len(w.names)), len(w.names)))
}

func twinModulo(w *world, q lb.Query) int {
	return w.from(circle(int(q.Hash%uint64(len(w.names))), len(w.names)))
}

// twinRing sorts all points and looks at each.
func twinRing(w *world, q lb.Query, c pick.Config) int {
	type point struct {
		hash  uint64
		owner int
	}
	var points []point
	for owner, name := range w.names {
		for i := range c.RingPoints * w.weights[owner] {
			points = append(points, point{xxhash.Sum64String(name + "_" + strconv.Itoa(i)), owner})
		}
	}
	slices.SortFunc(points, func(a, b point) int {
		if a.hash < b.hash {
			return -1
		}
		return 1
	})
	start := max(0, slices.IndexFunc(points, func(p point) bool { return p.hash >= q.Hash }))
	var order []int
	for i := range points {
		order = append(order, points[(start+i)%len(points)].owner)
	}
	if c.HashBalanceFactor > 0 {
		below := *w
		below.usable = belowBound(w, c.HashBalanceFactor)
		if i := below.from(order); i >= 0 {
			return i
		}
	}
	return w.from(order)
}

func belowBound(w *world, factor float64) []bool {
	total, weights := 1, 0
	for i := range w.names {
		total += w.inFlight[i]
		weights += w.weights[i]
	}
	below := slices.Clone(w.usable)
	for i := range below {
		below[i] = below[i] && w.inFlight[i] < bound(factor, total, w.weights[i], weights)
	}
	return below
}

// twinMaglev is the listing of the paper, with Envoy's turns by weight.
func twinMaglev(w *world, q lb.Query, size int) int {
	byName := circle(0, len(w.names))
	slices.SortFunc(byName, func(a, b int) int {
		if w.names[a] < w.names[b] {
			return -1
		}
		return 1
	})
	entry, filled := times(size, -1), 0
	next, target := make([]int, len(w.names)), make([]float64, len(w.names))
	heaviest := float64(slices.Max(w.weights))
	for round := 1; filled < size; round++ {
		for _, i := range byName {
			if float64(round*w.weights[i]) < target[i] || filled == size {
				continue
			}
			target[i] += heaviest
			offset, skip := pick.HashSeed(w.names[i], 0)%uint64(size), pick.HashSeed(w.names[i], 1)%uint64(size-1)+1
			at := func() int { return int((offset + uint64(next[i])*skip) % uint64(size)) }
			for entry[at()] >= 0 {
				next[i]++
			}
			entry[at()] = i
			filled++
		}
	}
	for _, at := range circle(int(q.Hash%uint64(size)), size) {
		if w.usable[entry[at]] {
			return entry[at]
		}
	}
	return -1
}

func twinRendezvous(w *world, q lb.Query) int {
	score := func(i int) float64 {
		return stat.Exponential(stat.Next(q.Hash^xxhash.Sum64String(w.names[i]))) / float64(w.weights[i])
	}
	left := w.among()
	if len(left) == 0 {
		return -1
	}
	return slices.MinFunc(left, func(i, j int) int {
		if score(i) < score(j) {
			return -1
		}
		return 1
	})
}
