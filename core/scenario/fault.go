package scenario

import (
	"errors"
	"fmt"
	"strings"

	"minilb/core/param"
)

// Faults is everything that is wrong with a text or a scenario, so that a
// person can mend it in one go. Each names the key, its value and what would
// be accepted; most are a [param.Error], which errors.As finds.
type Faults []error

// More faults than this are a text of another kind, not one to mend.
const maxShownFaults = 20

// Error is one fault a line, in the notation of links and files: rate=0: …
func (f Faults) Error() string { return f.lines(error.Error) }

// Flag is one fault a line, in the notation of the command line: --rate 0: …
func (f Faults) Flag() string {
	return f.lines(func(err error) string {
		var e *param.Error
		if errors.As(err, &e) {
			return e.Flag()
		}
		return err.Error()
	})
}

func (f Faults) lines(text func(error) string) string {
	var lines []string
	for i, err := range f {
		if i == maxShownFaults {
			lines = append(lines, fmt.Sprintf("and %d more", len(f)-i))
			break
		}
		lines = append(lines, text(err))
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the faults to errors.Is and errors.As.
func (f Faults) Unwrap() []error { return f }

// add takes in an error if it is one; the faults of Faults one by one.
func (f *Faults) add(err error) {
	var more Faults
	switch {
	case err == nil:
	case errors.As(err, &more):
		*f = append(*f, more...)
	default:
		*f = append(*f, err)
	}
}

// say adds a fault of one value.
func (f *Faults) say(name, value, problem, accepted string) {
	*f = append(*f, &param.Error{Name: name, Value: value, Problem: problem, Accepted: accepted})
}

// err is nil when there is nothing wrong.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}
