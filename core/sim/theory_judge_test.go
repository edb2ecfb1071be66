//go:build !race

package sim

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"minilb/core/stat"
)

// A theoryCheck is one figure and what theory says of it.
type theoryCheck struct {
	figure   string
	relation string // between the figure's mean over the seeds and want: "=", "<" or ">"; or what all seeds are together
	want     float64
	within   float64 // share of want by which the reference or the percentiles are uncertain
	to       float64 // uniform: from want to this
}

func is(figure string, want, within float64) theoryCheck {
	return theoryCheck{figure: figure, relation: "=", want: want, within: within}
}

func below(figure string, want float64) theoryCheck {
	return theoryCheck{figure: figure, relation: "<", want: want}
}

func above(figure string, want float64) theoryCheck {
	return theoryCheck{figure: figure, relation: ">", want: want}
}

// always and never are of figures that are 1 or 0 for a seed: nearly all seeds
// have it, or nearly none.
func always(figure string) theoryCheck { return theoryCheck{figure: figure, relation: "always"} }
func never(figure string) theoryCheck  { return theoryCheck{figure: figure, relation: "never"} }

// uniform says that the seeds' figures are spread evenly between two ends.
func uniform(figure string, from, to float64) theoryCheck {
	return theoryCheck{figure: figure, relation: "uniform", want: from, to: to}
}

// mostly is what always means of seeds yet unseen: the interval of the share
// lies above it. Eight of eight seeds reach 0.68 to 1.
const mostly = 0.65

func (c theoryCheck) String() string {
	want := strconv.FormatFloat(c.want, 'g', 5, 64)
	switch c.relation {
	case "always":
		return fmt.Sprintf("all (>%g)", mostly)
	case "never":
		return fmt.Sprintf("none (<%.2g)", 1-mostly)
	case "uniform":
		return fmt.Sprintf("even %s..%g", want, c.to)
	case "=":
		if c.within > 0 {
			want += " " + c.allowance()
		}
		return want
	}
	return c.relation + " " + want
}

func (c theoryCheck) allowance() string { return fmt.Sprintf("±%.2g%%", 100*c.within) }

// A measurement is what the seeds say of a figure.
type measurement struct {
	value     string
	low, high float64
	verdict   string
}

func (m measurement) interval() string {
	return shortFigure(m.low) + " to " + shortFigure(m.high)
}

func (m measurement) String() string { return m.value + " (" + m.interval() + ")" }

func shortFigure(v float64) string {
	if math.Abs(v) >= 100 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

func (c theoryCheck) judge(samples []float64) measurement {
	switch c.relation {
	case "always", "never":
		return c.judgeShare(samples)
	case "uniform":
		return c.judgeSpread(samples)
	}
	var sum stat.Welford
	for _, v := range samples {
		sum.Add(v)
	}
	low, high := sum.Interval95()
	return measurement{shortFigure(sum.Mean()), low, high, c.verdict(low, high)}
}

// verdict says how a 95% interval of a mean agrees with theory. One in twenty
// misses the truth, and there are dozens: a miss by less than half the
// interval's width is "near", and accepted.
func (c theoryCheck) verdict(low, high float64) string {
	slack, half := c.want*c.within, (high-low)/2
	holds := func(more float64) bool { return low-more <= c.want && c.want <= high+more }
	switch {
	case c.relation == "<" && high < c.want, c.relation == ">" && low > c.want, c.relation == "=" && holds(0):
		return "ok"
	case c.relation == "=" && holds(slack):
		return "ok by " + c.allowance()
	case c.relation == "=" && holds(slack+half):
		return "near"
	}
	return "NO"
}

// saysLittle says whether an interval is so wide that it would agree with anything.
func (c theoryCheck) saysLittle(m measurement) bool {
	widest := 0.05 // to either side, as a share of the figure
	if !*wholeTheory {
		widest = 0.3
	}
	return c.relation == "=" && (m.high-m.low)/2 > widest*c.want
}

// judgeShare is of a share of seeds, whose interval is Wilson's: it holds for
// none and for all, where the plain one has no width.
func (c theoryCheck) judgeShare(samples []float64) measurement {
	hits := 0
	for _, v := range samples {
		hits += int(v)
	}
	m := measurement{value: fmt.Sprintf("%d of %d", hits, len(samples)), verdict: "NO"}
	m.low, m.high = wilson95(hits, len(samples))
	if c.relation == "always" && m.low > mostly || c.relation == "never" && m.high < 1-mostly {
		m.verdict = "ok"
	}
	return m
}

// wilson95 is E. B. Wilson's interval of 1927 for a share.
func wilson95(hits, n int) (low, high float64) {
	const z = 1.959964
	size, share := float64(n), float64(hits)/float64(n)
	middle := (share + z*z/(2*size)) / (1 + z*z/size)
	reach := z / (1 + z*z/size) * math.Sqrt(share*(1-share)/size+z*z/(4*size*size))
	return max(0, middle-reach), min(1, middle+reach)
}

// judgeSpread is the test of Kolmogorov and Smirnov: how far the share of
// samples up to a value is, at most, from what it would be if they were spread
// evenly. Beyond the critical value it is one time in twenty by chance alone.
func (c theoryCheck) judgeSpread(samples []float64) measurement {
	const outside = 0.1 // seconds: detection ends with the last request before, and they come 5 ms apart
	distance, critical := spread(samples, c.want, c.to), critical95(len(samples))
	low, high := slices.Min(samples), slices.Max(samples)
	m := measurement{fmt.Sprintf("D %.4f", distance), low, high, "NO"}
	if distance <= critical && c.want-outside <= low && high <= c.to+outside {
		m.verdict = fmt.Sprintf("ok D<%.3f", critical)
	}
	return m
}

// critical95 is the 5% point of Kolmogorov's distribution, as Stephens corrects
// it for finite n.
func critical95(n int) float64 {
	root := math.Sqrt(float64(n))
	return 1.358 / (root + 0.12 + 0.11/root)
}

// spread is the largest distance between the samples' distribution and the even one.
func spread(samples []float64, from, to float64) float64 {
	sorted, n, most := slices.Sorted(slices.Values(samples)), float64(len(samples)), 0.0
	for i, v := range sorted {
		want := min(max((v-from)/(to-from), 0), 1)
		most = max(most, float64(i+1)/n-want, want-float64(i)/n)
	}
	return most
}

func TestTheJudgeOfTheoryKnowsItsTrade(t *testing.T) {
	for _, c := range []struct {
		check     theoryCheck
		low, high float64
		want      string
	}{
		{is("", 5, 0), 4.9, 5.1, "ok"},
		{is("", 5, 0.02), 5.01, 5.2, "ok by ±2%"},
		{is("", 5, 0), 5.01, 5.21, "near"},
		{is("", 5, 0), 5.11, 5.31, "NO"},
		{is("", 5, 0.02), 5.21, 5.41, "NO"},
		{below("", 5), 4, 4.9, "ok"},
		{below("", 5), 4, 5.1, "NO"},
		{above("", 5), 5.1, 6, "ok"},
		{above("", 5), 4.9, 6, "NO"},
		{is("", 5, 0), math.NaN(), math.NaN(), "NO"},
	} {
		assert.Equal(t, c.want, c.check.verdict(c.low, c.high), "%v: %g to %g", c.check, c.low, c.high)
	}
	for _, c := range []struct {
		hits, n   int
		low, high float64
	}{{0, 20, 0, 0.1611}, {20, 20, 0.8389, 1}, {8, 8, 0.6756, 1}, {10, 20, 0.2993, 0.7007}} {
		low, high := wilson95(c.hits, c.n)
		assert.InDelta(t, c.low, low, 1e-4)
		assert.InDelta(t, c.high, high, 1e-4)
	}
	assert.InDelta(t, 0.0952, critical95(200), 1e-4)
	assert.InDelta(t, 0.294, critical95(20), 1e-3, "Kolmogorov's table for 20")
	assert.InDelta(t, 0.125, spread([]float64{7, 1, 3, 5}, 0, 8), 1e-12)
	assert.InDelta(t, 0.5, spread([]float64{4, 4.5, 5, 5.5, 7.9}, 0, 8), 1e-12)
}

// The test of an even spread must notice what is not one, or it proves nothing.
func TestTheJudgeRefusesASpreadThatIsNotEven(t *testing.T) {
	even, bent, shifted := make([]float64, 200), make([]float64, 200), make([]float64, 200)
	for i := range even {
		u := stat.Unit(chance(7).word(forKey, uint64(i), 0))
		even[i], bent[i], shifted[i] = 4+2*u, 4+2*u*u, 4.3+2*u
	}
	assert.Equal(t, "ok D<0.095", uniform("", 4, 6).judge(even).verdict)
	assert.Equal(t, "NO", uniform("", 4, 6).judge(bent).verdict)
	assert.Equal(t, "NO", uniform("", 4, 6).judge(shifted).verdict)
	assert.Equal(t, "NO", uniform("", 4, 7).judge(even).verdict)
}
