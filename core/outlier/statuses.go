package outlier

import (
	"fmt"
	"strconv"
	"strings"

	"minilb/core/lb"
	"minilb/core/param"
)

// Statuses is a set of HTTP statuses: those of answers that count as errors.
// Its text is statuses and spans of them: 429,500-599. The zero value is
// 500-599, and has that text, so that a configuration that says nothing is
// equal to one that says the default.
type Statuses [(maxStatus + 64) / 64]uint64

const (
	minStatus  = 200 // what is below does not end a request
	maxStatus  = 599
	fiveXX     = "500-599"
	statusForm = "statuses from 200 to 599 and spans of them, such as 500-599,429"
)

// Failed says whether an outcome counts as an error: an answer by its status,
// and every failure to get one. A status above 599 is treated as a 5xx (RFC
// 9110 section 15).
func (s *Statuses) Failed(o lb.Outcome) bool {
	if o.Kind != lb.Answered || o.Status > maxStatus || *s == (Statuses{}) {
		return o.Failed()
	}
	return s.has(o.Status)
}

func (s *Statuses) has(status int) bool {
	return 0 <= status && status <= maxStatus && s[status/64]&(1<<(status%64)) != 0
}

func (s *Statuses) add(from, to int) {
	for status := from; status <= to; status++ {
		s[status/64] |= 1 << (status % 64)
	}
}

// word is what an error is called in reasons.
func (s *Statuses) word() string {
	if *s == (Statuses{}) {
		return "5xx"
	}
	return "errors"
}

// UnmarshalText reads statuses and spans of them.
func (s *Statuses) UnmarshalText(text []byte) error {
	var fresh, usual Statuses
	for part := range strings.SplitSeq(string(text), ",") {
		from, to, err := span(strings.TrimSpace(part))
		if err != nil {
			return &param.Error{Value: string(text), Problem: err.Error(), Accepted: statusForm}
		}
		fresh.add(from, to)
	}
	if usual.add(500, maxStatus); fresh == usual {
		fresh = Statuses{}
	}
	*s = fresh
	return nil
}

func span(part string) (from, to int, err error) {
	first, last, found := strings.Cut(part, "-")
	if !found {
		last = first
	}
	from, notFirst := strconv.Atoi(first)
	to, notLast := strconv.Atoi(last)
	switch {
	case notFirst != nil || notLast != nil || strings.Trim(first+last, "0123456789") != "":
		return 0, 0, fmt.Errorf("%.20q is not a status", part)
	case !(minStatus <= from && to <= maxStatus):
		return 0, 0, fmt.Errorf("%.20s is outside %d to %d", part, minStatus, maxStatus)
	case !(from <= to):
		return 0, 0, fmt.Errorf("%.20s ends before it begins", part)
	}
	return from, to, nil
}

// MarshalText writes what UnmarshalText reads, in ascending order.
func (s Statuses) MarshalText() ([]byte, error) {
	if s == (Statuses{}) {
		return []byte(fiveXX), nil
	}
	var spans []string
	for from := minStatus; from <= maxStatus; from++ {
		if !s.has(from) {
			continue
		}
		to := from
		for s.has(to + 1) {
			to++
		}
		if spans = append(spans, strconv.Itoa(from)); to > from {
			spans[len(spans)-1] += "-" + strconv.Itoa(to)
		}
		from = to
	}
	return []byte(strings.Join(spans, ",")), nil
}
