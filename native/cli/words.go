package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"minilb/core/lb"
	"minilb/core/param"
)

// withUnit puts the s to a bare number of seconds.
func withUnit(duration string) string {
	if _, err := strconv.ParseFloat(duration, 64); err == nil {
		return duration + "s"
	}
	return duration
}

// durationText is a bound as a person would say it: 10m rather than 600.
func durationText(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if minutes := d / time.Minute; minutes > 1 && d%time.Minute == 0 && d%time.Hour != 0 {
		return strconv.Itoa(int(minutes)) + "m"
	}
	return param.FormatDuration(d)
}

// milliseconds is a latency as in the table: 27ms, 6.22s.
func milliseconds(ms float64) string {
	switch {
	case ms >= 999.5:
		return strconv.FormatFloat(ms/1000, 'f', 2, 64) + "s"
	case ms >= 0.95 || ms == 0:
		return strconv.FormatFloat(ms, 'f', 0, 64) + "ms"
	}
	return strconv.FormatFloat(ms, 'g', 2, 64) + "ms"
}

func percent(fraction float64, decimals int) string {
	return strconv.FormatFloat(fraction*100, 'f', decimals, 64) + "%"
}

// splitNames reads a,b,c.
func splitNames(flag, list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	names := strings.Split(list, ",")
	seen := map[string]bool{}
	for _, name := range names {
		if err := (lb.Backend{Name: name, Weight: 1}).Check(); err != nil {
			return nil, fmt.Errorf("--%s %.60s: %w", flag, list, err)
		}
		if seen[name] {
			return nil, fmt.Errorf("--%s %.60s: %s is there twice; accepted: names used once", flag, list, name)
		}
		seen[name] = true
	}
	return names, nil
}

// splitNumbers reads a=5,b=1 for names that are known.
func splitNumbers(flag, list string, known []string, lo, hi int) (map[string]int, error) {
	numbers := map[string]int{}
	if list == "" {
		return numbers, nil
	}
	for part := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(value)
		switch {
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("--%s %.60s: %.32q is not one of the backends; accepted: %s", flag, list, name, strings.Join(known, ", "))
		case err != nil || !(lo <= n && n <= hi):
			return nil, fmt.Errorf("--%s %.60s: %s is %.20q; accepted: NAME=%d to NAME=%d, as in %s=%d", flag, list, name, value, lo, hi, name, max(lo, 1))
		}
		if _, twice := numbers[name]; twice {
			return nil, fmt.Errorf("--%s %.60s: %s is there twice; accepted: one number for each", flag, list, name)
		}
		numbers[name] = n
	}
	return numbers, nil
}

// backendsOf puts names and weights together.
func backendsOf(names []string, weights map[string]int) []lb.Backend {
	backends := make([]lb.Backend, len(names))
	for i, name := range names {
		backends[i] = lb.Backend{Name: name, Weight: max(1, weights[name])}
	}
	return backends
}

// quoted is a text as one word for a POSIX shell.
func quoted(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
