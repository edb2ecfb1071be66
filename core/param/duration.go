package param

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a duration: a bare number is seconds (0.2, 1e3), anything else is written as Go does (200ms,
// 1m30s). What does not fit in 292 years of nanoseconds is refused, as is NaN.
func ParseDuration(text string) (time.Duration, error) {
	f, isNumber := parseFloat(text)
	if !isNumber {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, fmt.Errorf("param: duration %s: want seconds, such as 0.2, or 200ms, 1m30s", show(text))
		}
		return d, nil
	}
	// Plain decimals go through exact integer arithmetic; only exponents need a float.
	if d, err := time.ParseDuration(text + "s"); err == nil {
		return d, nil
	}
	if d, ok := seconds(f); ok {
		return d, nil
	}
	return 0, fmt.Errorf("param: duration %s: more than 292 years", show(text))
}

// seconds is a number of seconds to the nearest nanosecond; false for NaN and what does not fit.
func seconds(f float64) (time.Duration, bool) {
	ns := math.Round(float64(f * 1e9))
	if -0x1p63 <= ns && ns < 0x1p63 {
		return time.Duration(ns), true
	}
	return 0, false
}

// The units of FormatDuration in order of preference among texts of equal length. Minutes and hours are used only for
// whole ones: a third of an hour has no exact decimal.
var durationUnits = [...]struct {
	suffix   string
	ns       uint64
	decimals int
}{{"", 1e9, 9}, {"ms", 1e6, 6}, {"us", 1e3, 3}, {"ns", 1, 0}, {"m", 60e9, 0}, {"h", 3600e9, 0}}

// FormatDuration is the shortest text that ParseDuration reads back to d, in digits, lower-case letters, dots and
// dashes only, so that it fits in a link: 0.2 for 200 ms, 1ms, 90, 2h.
func FormatDuration(d time.Duration) string {
	sign, size := "", uint64(d)
	if d < 0 {
		sign, size = "-", -size
	}
	shortest := ""
	for _, u := range durationUnits {
		if u.decimals == 0 && size%u.ns != 0 {
			continue
		}
		text := decimal(size/u.ns, size%u.ns, u.decimals) + u.suffix
		if shortest == "" || len(text) < len(shortest) {
			shortest = text
		}
	}
	return sign + shortest
}

// decimal writes whole and a fraction of the given number of digits, without trailing zeros.
func decimal(whole, fraction uint64, digits int) string {
	text := strconv.FormatUint(whole, 10)
	if fraction == 0 {
		return text
	}
	padded := fmt.Sprintf("%0*d", digits, fraction)
	return text + "." + strings.TrimRight(padded, "0")
}
