package param

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// An Error is one value that a parameter does not accept, kept in parts so that each way in can report it in its own
// notation.
type Error struct {
	Name, Value string
	Problem     string // "outside 1 to 100 probes", "not a number"
	Accepted    string // what would do; empty when Problem says it
	Near        string // the known word closest to Value, if any is close
}

func (p *Param) fault(value, problem, accepted string) *Error {
	return &Error{Name: p.Name, Value: value, Problem: problem, Accepted: accepted}
}

// Error is the message in the notation of links and files: "fall=0: outside 1 to 100 probes".
func (e *Error) Error() string { return show(e.Name) + "=" + show(e.Value) + ": " + e.reason() }

// Flag is the message in the notation of the command line: "--fall 0: outside 1 to 100 probes".
func (e *Error) Flag() string { return "--" + show(e.Name) + " " + show(e.Value) + ": " + e.reason() }

func (e *Error) reason() string {
	text := shorten(clean(e.Problem), maxReason)
	if e.Accepted != "" {
		text += "; accepted: " + e.Accepted
	}
	if e.Near != "" {
		text += "; did you mean " + e.Near + "?"
	}
	return text
}

const (
	maxShown  = 60  // runes of a value in a message: enough to recognise it
	maxReason = 300 // runes of a custom type's explanation, which may quote its input
)

// show is a value fit for a terminal: quoted when it is empty or holds anything that does not print, and shortened.
func show(text string) string {
	cut := shorten(text, maxShown)
	if text == "" || clean(cut) != cut {
		return strconv.Quote(cut)
	}
	return cut
}

// clean replaces what does not print, control characters and broken UTF-8 among it, by its escape sequence.
func clean(text string) string {
	quoted := strconv.Quote(text)
	inside := quoted[1 : len(quoted)-1]
	return strings.ReplaceAll(strings.ReplaceAll(inside, `\"`, `"`), `\\`, `\`)
}

func shorten(text string, runes int) string {
	if len(text) <= runes || utf8.RuneCountInString(text) <= runes {
		return text
	}
	end := 0
	for range runes {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return text[:end] + "…"
}
