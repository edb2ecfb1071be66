package pick

import (
	"fmt"
	"strconv"
	"strings"

	"minilb/core/lb"
	"minilb/core/stat"
)

// An explainer is a picker that can say in words why it chose.
type explainer interface {
	explain(q lb.Query, chosen int) []string
}

// Explain says, a line at a time, why a picker chose a position: the scores,
// the backends drawn, the points of the ring around the key. Call it right
// after Pick with the same query, before anything else changes.
func Explain(p lb.Picker, q lb.Query, chosen int) []string {
	e, ok := p.(explainer)
	if !ok {
		return []string{"no backend is usable"}
	}
	return e.explain(q, chosen)
}

// name is a position's backend; the answer to a -1 too.
func name(s *lb.Set, i int) string {
	if i < 0 {
		return "nobody"
	}
	return s.Backend(i).Name
}

// weighed is a backend's requests in flight, with its weight where weights
// matter.
func weighed(s *lb.Set, i int, now lb.Time) string {
	text := fmt.Sprintf("%s (%d in flight", name(s, i), s.InFlight(i))
	if !s.Uniform() {
		text += " / weight " + thousandths(s.LiveWeight(i, now))
	}
	return text + ")"
}

// thousandths writes a weight as its owner did.
func thousandths(w int) string {
	return strconv.FormatFloat(float64(w)/lb.Unit, 'f', -1, 64)
}

func explainTurn(s *lb.Set, chosen int) []string {
	turn := s.Turns() - 1
	return []string{fmt.Sprintf("turn %d: %d mod %d is the backend at place %d, %s",
		turn+1, turn, s.Len(), turn%uint64(s.Len())+1, name(s, chosen))}
}

func keyless(s *lb.Set, chosen int) []string {
	return append([]string{"no key: hashing policies take turns instead"}, explainTurn(s, chosen)...)
}

func (r roundRobin) explain(_ lb.Query, chosen int) []string { return explainTurn(r.set, chosen) }

// shownRound is the longest round that is written out.
const shownRound = 40

func (p *sequence) explain(_ lb.Query, chosen int) []string {
	n := uint64(len(p.order))
	at := (p.cursor.Load() - 1) % n
	lines := []string{fmt.Sprintf("turn %d of a round of %d: %s", at+1, n, name(p.set, chosen))}
	if n > shownRound {
		return lines
	}
	words := make([]string, n)
	for k, i := range p.order {
		words[k] = name(p.set, int(i))
	}
	words[at] = "[" + words[at] + "]"
	return append(lines, "the round: "+strings.Join(words, " "))
}

func (p leastConn) explain(q lb.Query, chosen int) []string {
	var loads, tied []string
	for i := range p.set.Len() {
		loads = append(loads, weighed(p.set, i, q.Now))
		a, b := loadAt(p.set, i, q.Now), loadAt(p.set, chosen, q.Now)
		if p.set.Usable(i, &q) && !a.less(b) && !b.less(a) {
			tied = append(tied, name(p.set, i))
		}
	}
	lines := []string{"loads: " + strings.Join(loads, ", ")}
	if len(tied) < 2 {
		return append(lines, "fewest per unit of weight: "+name(p.set, chosen))
	}
	turn := p.set.Turns() - 1
	return append(lines, fmt.Sprintf("fewest per unit of weight: %s; tie broken by turn %d: %d mod %d is place %d of these, %s",
		strings.Join(tied, ", "), turn+1, turn, len(tied), turn%uint64(len(tied))+1, name(p.set, chosen)))
}

func (p *p2c) explain(q lb.Query, chosen int) []string {
	var d drawn
	d.draw(p.set, &q, p.choices)
	var drawn []string
	for _, i := range d.at[:d.n] {
		drawn = append(drawn, weighed(p.set, int(i), q.Now))
	}
	return []string{"drawn: " + strings.Join(drawn, ", "),
		"the least loaded of them, the first drawn in a tie: " + name(p.set, chosen)}
}

func (p *peakEWMA) explain(q lb.Query, chosen int) []string {
	var d drawn
	d.draw(p.set, &q, p.choices)
	var drawn []string
	for _, i := range d.at[:d.n] {
		seen := "no latency seen yet"
		if latency := p.set.Latency(int(i), q.Now); latency > 0 {
			seen = fmt.Sprintf("peak EWMA %.3g ms", latency/1e6)
		}
		drawn = append(drawn, fmt.Sprintf("%s (%s, %d + 1 in flight)", name(p.set, int(i)), seen, p.set.InFlight(int(i))))
	}
	return []string{"drawn: " + strings.Join(drawn, ", "), "the lowest cost of them: " + name(p.set, chosen)}
}

func (p *random) explain(_ lb.Query, chosen int) []string {
	if p.alias == nil {
		return []string{fmt.Sprintf("drawn with probability 1/%d: %s", p.set.Len(), name(p.set, chosen))}
	}
	total := 0
	for i := range p.set.Len() {
		total += p.set.Weight(i)
	}
	return []string{fmt.Sprintf("drawn with probability %s/%s, its share of the weight: %s",
		thousandths(p.set.Weight(chosen)), thousandths(total), name(p.set, chosen))}
}

func (p first) explain(_ lb.Query, chosen int) []string {
	return []string{"the first usable backend of the list: " + name(p.set, chosen)}
}

func (p moduloHash) explain(q lb.Query, chosen int) []string {
	if !q.HasKey {
		return keyless(p.set, chosen)
	}
	return []string{fmt.Sprintf("hash of the key %016x mod %d is %d: the backend at place %d, %s",
		q.Hash, p.set.Len(), q.Hash%uint64(p.set.Len()), q.Hash%uint64(p.set.Len())+1, name(p.set, chosen))}
}

func (p *maglevPicker) explain(q lb.Query, chosen int) []string {
	if !q.HasKey {
		return keyless(p.set, chosen)
	}
	held := 0
	for _, owner := range p.table {
		if int(owner) == chosen {
			held++
		}
	}
	size := len(p.table)
	return []string{fmt.Sprintf("hash of the key %016x mod %d is entry %d: %s, which holds %d entries (%.2f%%)",
		q.Hash, size, q.Hash%uint64(size), name(p.set, chosen), held, 100*float64(held)/float64(size))}
}

// shownPoints is how many points of the ring are shown before and after the
// key's own.
const shownPoints = 2

func (p *ringPicker) explain(q lb.Query, chosen int) []string {
	if !q.HasKey {
		return keyless(p.set, chosen)
	}
	at, n := p.ring.At(q.Hash), p.ring.Len()
	lines := []string{fmt.Sprintf("hash of the key %016x, on a ring of %d points:", q.Hash, n)}
	for k := -shownPoints; k <= shownPoints; k++ {
		hash, owner := p.ring.Point(((at+k)%n + n) % n)
		line := fmt.Sprintf("  %016x %s", hash, name(p.set, owner))
		if k == 0 {
			line += " <- the first at or after the key"
		}
		lines = append(lines, line)
	}
	if p.factor > 0 {
		lines = append(lines, p.explainBound(q)...)
	}
	return append(lines, "chosen: "+name(p.set, chosen))
}

func (p *ringPicker) explainBound(q lb.Query) []string {
	per := p.perWeight(q.Now)
	lines := []string{fmt.Sprintf("a backend may hold %g times its share of the requests in flight, this one included:", p.factor)}
	for i := range p.set.Len() {
		state := "has room"
		if p.set.InFlight(i) >= p.bound(i, per, q.Now) {
			state = "is passed over"
		}
		lines = append(lines, fmt.Sprintf("  %s holds %d of %d and %s", name(p.set, i), p.set.InFlight(i), p.bound(i, per, q.Now), state))
	}
	return lines
}

func (p *rendezvous) explain(q lb.Query, chosen int) []string {
	if !q.HasKey {
		return keyless(p.set, chosen)
	}
	scores := make([]string, p.set.Len())
	for i, hash := range p.names {
		word := stat.Next(q.Hash ^ hash)
		if p.set.Uniform() {
			scores[i] = fmt.Sprintf("%s %.4f", name(p.set, i), stat.Unit(word))
		} else {
			scores[i] = fmt.Sprintf("%s %.4f", name(p.set, i), stat.Exponential(word)*lb.Unit/float64(p.set.LiveWeight(i, q.Now)))
		}
	}
	best := "highest"
	if !p.set.Uniform() {
		best = "lowest -ln(u)/weight"
	}
	return []string{"scores for this key: " + strings.Join(scores, ", "), best + ": " + name(p.set, chosen)}
}
