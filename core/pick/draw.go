package pick

import (
	"minilb/core/lb"
	"minilb/core/stat"
)

// maxChoices bounds how many backends one pick may draw.
const maxChoices = 8

// drawn is distinct positions in the order in which chance gave them.
type drawn struct {
	at [maxChoices]int32
	n  int
}

// draw returns k distinct usable positions, each set of k equally likely; all
// usable ones when there are fewer.
func draw(s *lb.Set, q lb.Query, k int) drawn {
	d := distinct(q.Rand, s.Len(), k)
	for _, i := range d.at[:d.n] {
		if !s.Usable(int(i), q) {
			return drawUsable(s, q, k)
		}
	}
	return d
}

// drawUsable draws among the usable alone. Draws that were usable throughout
// are uniform among such draws, and so are these: together they are too.
func drawUsable(s *lb.Set, q lb.Query, k int) drawn {
	usable := 0
	for i := range s.Len() {
		if s.Usable(i, q) {
			usable++
		}
	}
	ranks := distinct(stat.Next(q.Rand^drawSalt), usable, k)
	d := drawn{n: ranks.n}
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
	return d
}

// drawSalt keeps the second draw's words apart from the first's.
const drawSalt = 0x6a09e667f3bcc909

// distinct draws k of 0..n-1 without replacement. "Two random choices" drawn
// with replacement would be one choice now and then.
func distinct(word uint64, n, k int) drawn {
	d := drawn{n: min(k, n)}
	if d.n == 2 {
		return pair(word, n)
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
	return d
}

// pair is distinct for two, from the two halves of one word.
func pair(word uint64, n int) drawn {
	i := int32((word >> 32) * uint64(n) >> 32)
	j := int32((word & (1<<32 - 1)) * uint64(n-1) >> 32)
	if j >= i {
		j++
	}
	return drawn{at: [maxChoices]int32{i, j}, n: 2}
}
