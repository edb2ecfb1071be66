package param

// Longer words than this are nobody's typing error, and comparing them would cost more than it helps.
const maxTypo = 64

// nearest is the known word that takes the fewest single-letter edits to reach, the first of equals; "" when more than
// a third of the letters would have to change.
func nearest(word string, known []string) string {
	if len(word) > maxTypo {
		return ""
	}
	best, least := "", max(1, len(word)/3)+1
	for _, k := range known {
		if d := distance(word, k); d < least && d < len(word) {
			best, least = k, d
		}
	}
	return best
}

// distance counts the insertions, deletions, substitutions and swaps of neighbours between two words.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+differs(a[i], b[j]))
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

func differs(x, y byte) int {
	if x == y {
		return 0
	}
	return 1
}

// Nearest is the known name closest to a mistyped one; "" when none is close.
func (s *Set) Nearest(name string) string {
	names := make([]string, 0, len(s.list))
	for _, p := range s.list {
		names = append(names, p.Name)
	}
	return nearest(name, names)
}
