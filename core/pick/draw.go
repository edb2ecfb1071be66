package pick

import (
	"minilb/core/lb"
	"minilb/core/stat"
)

// maxChoices bounds how many backends one pick may draw.
const maxChoices = 8

// drawn is distinct positions in the order in which chance gave them. It is
// filled in place: to return it would copy it while it is being written.
type drawn struct {
	at [maxChoices]int32
	n  int
}

// draw draws k distinct usable positions, each set of k equally likely; all
// usable ones when there are fewer.
func (d *drawn) draw(s *lb.Set, q *lb.Query, k int) {
	d.distinct(q.Rand, s.Len(), k)
	for _, i := range d.at[:d.n] {
		if !s.Usable(int(i), q) {
			d.drawUsable(s, q, k)
			return
		}
	}
}

// drawUsable draws among the usable alone. Draws that were usable throughout
// are uniform among such draws, and so are these: together they are too.
func (d *drawn) drawUsable(s *lb.Set, q *lb.Query, k int) {
	usable := 0
	for i := range s.Len() {
		if s.Usable(i, q) {
			usable++
		}
	}
	var ranks drawn
	ranks.distinct(stat.Next(q.Rand^drawSalt), usable, k)
	d.n = ranks.n
	rank := int32(0)
	for i := range s.Len() {
		if !s.Usable(i, q) {
			continue
		}
		for t, wanted := range ranks.at[:ranks.n] {
			if wanted == rank {
				d.at[t] = int32(i)
			}
		}
		rank++
	}
}

// drawSalt keeps the second draw's words apart from the first's.
const drawSalt = 0x6a09e667f3bcc909

// distinct draws k of 0..n-1 without replacement. "Two random choices" drawn
// with replacement would be one choice now and then.
func (d *drawn) distinct(word uint64, n, k int) {
	if d.n = min(k, n); d.n == 2 {
		d.pair(word, n)
		return
	}
	var sorted [maxChoices]int32
	for t := range d.n {
		word = stat.Next(word)
		x, at := int32(stat.Below(word, n-t)), 0
		for ; at < t && sorted[at] <= x; at++ {
			x++
		}
		copy(sorted[at+1:t+1], sorted[at:t])
		sorted[at] = x
		d.at[t] = x
	}
}

// pair is distinct for two, from the two halves of one word. Whether the
// second comes after the first is a coin's throw, so it is added and not
// branched on.
func (d *drawn) pair(word uint64, n int) {
	i := int64((word >> 32) * uint64(n) >> 32)
	j := int64((word & (1<<32 - 1)) * uint64(n-1) >> 32)
	before := uint64(j-i) >> 63
	d.at[0], d.at[1] = int32(i), int32(j+1-int64(before))
}
