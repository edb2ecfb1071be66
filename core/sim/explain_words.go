package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// during says when something is so, if it is not always.
func during(from, to time.Duration) string {
	switch {
	case from > 0 && to > 0:
		return fmt.Sprintf(" from %s to %s", at(from), at(to))
	case from > 0:
		return " from " + at(from) + " on"
	case to > 0:
		return " until " + at(to)
	}
	return ""
}

// at is an instant of the run.
func at(t time.Duration) string { return threeDigits(t.Seconds()) + " s" }

// ends is the earlier of two ends, of which 0 is none.
func ends(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// sentences joins what was said. A policy or a backend begins a sentence as one
// types it.
func sentences(list ...string) string {
	var said []string
	for _, s := range list {
		if s != "" {
			said = append(said, capital(s)+".")
		}
	}
	return strings.Join(said, " ")
}

// openers are the words of this file that begin sentences.
var openers = [...]string{"ejection ", "the ", "it ", "retries ", "under ", "backends "}

func capital(s string) string {
	for _, word := range openers {
		if strings.HasPrefix(s, word) {
			return strings.ToUpper(s[:1]) + s[1:]
		}
	}
	return s
}

// percent is a share inside a sentence; it says neither "all" nor "none" of
// what is merely close to it.
func percent(share float64) string {
	switch {
	case 0 < share && share < 0.005:
		return "under 1%"
	case 0.995 <= share && share < 1:
		return "over 99%"
	}
	return strconv.FormatFloat(100*share, 'f', 0, 64) + "%"
}

func all(share float64) string {
	if share == 1 {
		return "all"
	}
	return percent(share)
}

// apart writes two percentages with as many decimals as it takes to tell them
// apart, and at least one where they are not whole.
func apart(a, b float64) (string, string) {
	for decimals := 1; ; decimals++ {
		x, y := decimal(a, decimals), decimal(b, decimals)
		if x != y || decimals == 9 {
			return x + "%", y + "%"
		}
	}
}

func decimal(v float64, most int) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', most, 64), "0"), ".")
}

// milliseconds is a latency for people: three digits and a unit.
func milliseconds(ms float64) string {
	switch {
	case ms >= 999.5*60:
		return threeDigits(ms/60000) + " min"
	case ms >= 999.5:
		return threeDigits(ms/1000) + " s"
	}
	return threeDigits(ms) + " ms"
}

func perSecond(rate float64) string { return threeDigits(rate) + "/s" }

// threeDigits drops the zeros behind a point: 2 ms, not 2.00 ms.
func threeDigits(v float64) string {
	text := digits(v, 3)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}
