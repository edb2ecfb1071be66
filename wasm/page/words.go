package page

import (
	"math"
	"strconv"

	"minilb/core/param"
)

// Milliseconds is a latency for people: three digits and a unit. The exact value stands beside it in the document.
func Milliseconds(ms float64) string {
	switch {
	case !(ms >= 0):
		return "–"
	case ms >= 999.5*60:
		return significant(ms/60000, 3) + " min"
	case ms >= 999.5:
		return significant(ms/1000, 3) + " s"
	case ms >= 0.9995 || ms == 0:
		return significant(ms, 3) + " ms"
	}
	return significant(ms*1000, 3) + " µs"
}

// Percent is a share for people: a tenth of a point is more than chance leaves steady.
func Percent(share float64) string {
	if share != share {
		return "–"
	}
	return strconv.FormatFloat(share*100, 'f', 1, 64) + "%"
}

func count(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// exact is the shortest text that reads back to the same bits, as in links.
func exact(v float64) string { return param.FormatFloat(v) }

// significant writes a positive number with that many digits, and no exponent. It rounds first: 0.9999 is 1.00.
func significant(v float64, digits int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	if err != nil || rounded == 0 {
		return "0"
	}
	decimals := digits - 1 - int(math.Floor(math.Log10(rounded)))
	return strconv.FormatFloat(rounded, 'f', max(0, decimals), 64)
}
