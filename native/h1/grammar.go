package h1

import (
	"strconv"
	"strings"
)

// isToken says whether s is a method or a field's name (RFC 9110 section
// 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if !tokens[s[i]] {
			return false
		}
	}
	return s != ""
}

// tokens are the bytes a token is made of.
var tokens = func() (table [256]bool) {
	for c := byte('!'); c < 0x7f; c++ {
		table[c] = strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) < 0
	}
	return table
}()

// isValue says whether s may be a field's value: no control characters, by
// which one field could be read as two (RFC 9110 section 5.5).
func isValue[T string | []byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// isTarget says whether s fits into a request line.
func isTarget(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c == 0x7f {
			return false
		}
	}
	return s != ""
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

// hasToken looks for a word in a comma-separated list, whatever its case.
func hasToken(values []string, token string) bool {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(trim(part), token) {
				return true
			}
		}
	}
	return false
}

// quote shows the beginning of what was received.
func quote(s string) string { return strconv.QuoteToASCII(s[:min(len(s), 60)]) }
