package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"minilb/core/param"
)

// Values in a link hold letters, digits and . , : ; = - _ only, and end in a
// letter or digit, because mail and chat programs cut or encode the rest. Most
// values are like that by nature. Free texts (a path, a header's name) are
// written so:
//
//   - letters, digits and . - : , stand for themselves, except that the last
//     character, when it is not a letter or digit, is written as below;
//   - every other byte, '_' among them, is '_' and two hexadecimal digits:
//     /health is _2Fhealth, MY_COOKIE is MY_5FCOOKIE;
//   - an empty text, and an empty list, is _0, which no other text is.
//
// Texts with choices (least_conn) are never escaped.
const nothing = "_0"

// freeText says whether the values of a parameter are escaped in a link.
func freeText(p *param.Param) bool { return p.Kind == param.Text && p.Choices == nil }

// linkValue is one value of a parameter as a link has it.
func linkValue(p *param.Param, text string) string {
	if freeText(p) {
		return escape(text)
	}
	return legal(strings.ReplaceAll(text, "=", ":"))
}

func escape(text string) string {
	if text == "" {
		return nothing
	}
	return escapeExcept(".-:,", text)
}

// unescape reads what escape wrote. Characters that a person typed unescaped
// stand for themselves, but '_' must be escaped: reading it both ways would
// make MY_FACE a guess.
func unescape(text string) (string, bool) {
	if text == nothing {
		return "", true
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '_' {
			b.WriteByte(text[i])
			continue
		}
		if len(text) < i+3 || !hexadecimal(text[i+1:i+3]) {
			return "", false
		}
		c, _ := strconv.ParseUint(text[i+1:i+3], 16, 8)
		b.WriteByte(byte(c))
		i += 2
	}
	return b.String(), true
}

// legal escapes what must not stand in a link and leaves everything else as it
// is. Nothing that Check accepts has anything to escape; the link of something
// else is at least a link.
func legal(text string) string {
	if text == "" {
		return nothing
	}
	return escapeExcept(inValue, text)
}

// escapeExcept leaves letters, digits and the characters of also alone, but of
// the last character only a letter or digit.
func escapeExcept(also, text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		last := i == len(text)-1
		if alphanumeric(c) || !last && strings.IndexByte(also, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "_%02X", c)
		}
	}
	return b.String()
}

// inValue is what a value may hold beside letters and digits.
const inValue = ".,:=-_"

func goodChars(text string) bool {
	for i := range len(text) {
		if !alphanumeric(text[i]) && strings.IndexByte(inValue, text[i]) < 0 {
			return false
		}
	}
	return true
}

// goodEnd says whether a mail program would leave the end of the text alone.
func goodEnd(text string) bool { return text != "" && alphanumeric(text[len(text)-1]) }

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func hexadecimal(text string) bool {
	return strings.Trim(text, "0123456789abcdefABCDEF") == ""
}
