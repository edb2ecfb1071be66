//go:build unix

package front

import "strings"

// What a byte may be part of.
const (
	inToken  = 1 << iota // RFC 9110 section 5.6.2
	inValue              // RFC 9110 section 5.5
	inTarget             // RFC 9112 section 3, and the bytes beyond ASCII that net/http lets pass
	inHost               // what net/http takes for a host
)

// bytesOf says of every byte what it may be part of.
var bytesOf = func() (table [256]uint8) {
	for i := range table {
		b := byte(i)
		visible := '!' <= b && b != 0x7f
		if visible && b < 0x80 && strings.IndexByte(`"(),/:;<=>?@[\]{}`, b) < 0 {
			table[i] |= inToken
		}
		if visible || b == ' ' || b == '\t' {
			table[i] |= inValue
		}
		if visible {
			table[i] |= inTarget
		}
		if isAlphanumeric(b) || strings.IndexByte("!$%&'()*+,-.:;=[]_~", b) >= 0 {
			table[i] |= inHost
		}
	}
	return table
}()

func isAlphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// all says whether every byte of s is of a kind; for an empty s as well, but
// for tokens.
func all(s string, kind uint8) bool {
	for i := range len(s) {
		if bytesOf[s[i]]&kind == 0 {
			return false
		}
	}
	return s != "" || kind != inToken
}

// How a field's name is written.
type nameForm uint8

const (
	noName nameForm = iota
	canonicalName
	otherName
)

// nameKind says whether a name is one, and in canonical form: a capital at the
// beginning and after each hyphen, small letters otherwise.
func nameKind(name string) nameForm {
	kind, start := canonicalName, true
	for i := range len(name) {
		b := name[i]
		if bytesOf[b]&inToken == 0 {
			return noName
		}
		if start && 'a' <= b && b <= 'z' || !start && 'A' <= b && b <= 'Z' {
			kind = otherName
		}
		start = b == '-'
	}
	return kind
}

// trim takes the optional white space off both ends.
func trim(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// hasWord looks for a word in a comma-separated list, whatever its case.
func hasWord(list, word string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if equalFold(trim(part), word) {
			return true
		}
	}
	return false
}

// equalFold compares with a word in small letters. strings.EqualFold would
// also take letters of other scripts for the same.
func equalFold(s, word string) bool {
	if len(s) != len(word) {
		return false
	}
	for i := range len(s) {
		if b := s[i]; b != word[i] && (b < 'A' || b > 'Z' || b|0x20 != word[i]) {
			return false
		}
	}
	return true
}
