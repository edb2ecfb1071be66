package scenario

import (
	"strings"
	"time"

	"minilb/core/param"
)

// A Window is a span of simulated time. Its text is FROM..TO, two durations:
// 10..20; the zero value is never, and an empty text.
type Window struct{ From, To time.Duration }

const windowForm = "FROM..TO in seconds, such as 10..20, or nothing"

// UnmarshalText reads FROM..TO.
func (w *Window) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*w = Window{}
		return nil
	}
	fault := &param.Error{Value: string(text), Problem: "not a span of time", Accepted: windowForm}
	first, second, found := strings.Cut(string(text), "..")
	from, err := param.ParseDuration(first)
	to, err2 := param.ParseDuration(second)
	switch {
	case !found || err != nil || err2 != nil || from < 0:
		return fault
	case !(from < to):
		fault.Problem = "ends before it begins"
		return fault
	case to > maxWindow:
		fault.Problem = "longer than 10000h"
		return fault
	}
	*w = Window{from, to}
	return nil
}

// maxWindow keeps a window within what a run may last.
const maxWindow = 10000 * time.Hour

// MarshalText writes what UnmarshalText reads.
func (w Window) MarshalText() ([]byte, error) {
	if w == (Window{}) {
		return nil, nil
	}
	return []byte(param.FormatDuration(w.From) + ".." + param.FormatDuration(w.To)), nil
}

// On says whether the window ever is.
func (w Window) On() bool { return w.To > 0 }
