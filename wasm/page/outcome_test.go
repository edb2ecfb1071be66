package page

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
	"minilb/core/sim"
)

// simulated is a run as the page receives it: through the JSON.
func simulated(t *testing.T, link string) (Outcome, sim.Report) {
	t.Helper()
	s, err := scenario.Decode(link)
	require.NoError(t, err)
	report, err := sim.Run(s, sim.Options{Series: true, Events: true})
	require.NoError(t, err)
	o, err := ReadOutcome(s, report.JSON(), DigestOf(report).Verdicts)
	require.NoError(t, err)
	return o, report
}

const (
	monday = "#v1;algorithm=round_robin;algorithm=least_conn;backend=a:20;backend=b:20;backend=broken:2,errors:1"
	mended = monday + ";consecutive-5xx=5;max-ejection-percent=34"
	capped = monday + ";consecutive-5xx=5;max-ejection-percent=33"
)

func TestTheVerdictIsCoresOwn(t *testing.T) {
	for _, c := range []struct{ link, policy, want string }{
		{monday, "least_conn", "least_conn sends 56% of requests to broken, which answers all of them with errors"},
		{monday, "round_robin", "round_robin sends 33% of requests to broken"},
		{mended, "least_conn", "it gets under 1% of requests"},
		{capped, "least_conn", "The cap of 33%"},
		{"#v1", "round_robin", "slow can serve 40/s and gets 50/s under round_robin"},
		{"#v1", "least_conn", "least_conn answers 99% of requests within "},
	} {
		o, report := simulated(t, c.link)
		assert.Contains(t, o.Sentence(c.policy), c.want, "%s %s", c.policy, c.link)
		assert.Contains(t, o.Sentence(c.policy), sim.Judge(report, c.policy).Text)
	}
}

func TestAPolicyThatDidNotRunHasNoSentence(t *testing.T) {
	o, _ := simulated(t, "#v1;algorithm=p2c;requests=50")
	assert.Empty(t, o.Sentence("random"))
	assert.Empty(t, Outcome{}.Sentence(""))
	assert.Equal(t, Remedy{}, FindRemedy(o, "random"))
}

func TestTheOfferedRemedyWorks(t *testing.T) {
	for _, c := range []struct{ link, policy, label, then string }{
		{monday, "least_conn", "Turn on ejection", "broken is ejected"},
		{monday + ";max-ejection-percent=10", "least_conn", "Turn on ejection", "broken is ejected"},
		{capped, "round_robin", "Raise the cap to 34%", "broken is ejected"},
		{"#v1", "round_robin", "Show least_conn", "least_conn answers"},
		{mended, "least_conn", "", "broken is ejected"},
		{"#v1", "least_conn", "", "least_conn answers"},
		{"#v1;algorithm=round_robin", "round_robin", "Try least_conn", "least_conn answers"},
		{"#v1;algorithm=p2c;rate=500", "p2c", "Add a backend", "p2c"},
		{"#v1;algorithm=p2c;backend=a:20;backend=b:20,crash_at:5", "p2c", "Turn on checks", "b got requests for another"},
	} {
		m := Open(c.link)
		m.Show(c.policy)
		o, _ := simulated(t, c.link)
		r := FindRemedy(o, c.policy)
		assert.Equal(t, c.label, r.Label, c.link)
		require.NoError(t, m.Apply(r))
		after, _ := simulated(t, m.Link())
		assert.Contains(t, after.Sentence(m.Showing(after)), c.then, c.link)
	}
}

func TestThePageShowsThePolicyThatDoesWorstUntilSomebodyChooses(t *testing.T) {
	o, _ := simulated(t, monday)
	m := Open(monday)
	assert.Equal(t, "least_conn", m.Showing(o))
	m.Show("round_robin")
	assert.Equal(t, "round_robin", m.Showing(o))
	slow, _ := simulated(t, "#v1")
	m = Open("#v1")
	assert.Equal(t, "round_robin", m.Showing(slow))
	assert.Empty(t, Open("#v1").Showing(Outcome{}))
}

func TestTheTableHoldsTheExactFiguresOfTheReport(t *testing.T) {
	o, report := simulated(t, monday)
	table := o.Table("least_conn")
	assert.Equal(t, []string{"round_robin", "least_conn"}, table.Policies)
	line := func(key string) TableLine {
		for _, l := range table.Lines {
			if l.Key == key {
				return l
			}
		}
		t.Fatal("no line " + key)
		return TableLine{}
	}
	for i, r := range report.Results {
		for key, want := range map[string]float64{
			"p50": r.Latency.P50, "p99": r.Latency.P99, "mean": r.Latency.Mean, "errors": float64(r.Errors), "share broken": r.Share[2].Fraction,
		} {
			got, err := strconv.ParseFloat(line(key).Cells[i].Exact, 64)
			require.NoError(t, err)
			assert.Equal(t, math.Float64bits(want), math.Float64bits(got), key)
		}
	}
	assert.True(t, line("errors").Cells[0].Best)
	assert.False(t, line("errors").Cells[1].Best)
	assert.False(t, line("dropped").Cells[0].Best, "where all are equal nobody wins")
}

func TestDifferencesAreSaidInWords(t *testing.T) {
	with := func(p99 float64, errors int) Figures {
		return Figures{Requests: 1000, Completed: 1000, Errors: errors, Latency: sim.Latency{P99: p99}}
	}
	for _, c := range []struct {
		a, b Figures
		want string
	}{
		{with(100, 0), with(410, 0), "p99 4.1 times lower"},
		{with(410, 0), with(100, 0), "p99 4.1 times higher"},
		{with(100, 0), with(112, 0), "p99 12% lower"},
		{with(100, 0), with(103, 0), "the same to within 5%"},
		{with(100, 5), with(100, 6), "1 failed request fewer"},
		{with(0, 9), with(100, 0), "9 failed requests more"},
	} {
		assert.Equal(t, c.want, Words{}.Difference(c.a, c.b))
	}
}

func TestNumbersAreWrittenForPeople(t *testing.T) {
	for ms, want := range map[float64]string{
		0: "0 ms", 0.0123: "12.3 µs", 1: "1.00 ms", 16.449: "16.4 ms", 243.2: "243 ms", 999.9: "1.00 s", 10049: "10.0 s", 3.6e6: "60.0 min",
	} {
		assert.Equal(t, want, Milliseconds(ms))
	}
	assert.Equal(t, "–", Milliseconds(math.NaN()))
	assert.Equal(t, "55.7%", Percent(0.5571))
}

func TestThePackedSeriesAreThoseOfTheReport(t *testing.T) {
	_, report := simulated(t, monday)
	packed := Pack(report.Results, 3)
	assert.Equal(t, []float64{2, 3}, packed[:2])
	assert.Len(t, packed, packedSize(report.Results, 3))
	at := 2
	for _, r := range report.Results {
		n := int(packed[at])
		require.Len(t, r.Series.Start, n)
		assert.Equal(t, r.Series.Resolution.Seconds(), packed[at+1])
		column := func(i int) []float64 { return packed[at+2+i*n : at+2+(i+1)*n] }
		assert.Equal(t, r.Series.Start, column(0))
		for w := range n {
			assertSame(t, r.Series.P99[w], column(3)[w])
			assert.EqualValues(t, r.Series.Errors[w], column(5)[w])
			assertSame(t, r.Series.Share[0][w]+r.Series.Share[1][w], column(columnsBeforeBackends + 1)[w])
			assertSame(t, r.Series.InFlight[2][w], column(columnsBeforeBackends + 5)[w])
			if top := column(columnsBeforeBackends + 2)[w]; !math.IsNaN(top) {
				assert.InDelta(t, 1, top, 1e-9, "shares add up")
			}
		}
		at += 2 + n*(columnsBeforeBackends+9)
	}
	assert.Equal(t, len(packed), at)
}

// assertSame takes NaN for equal to NaN: both are gaps.
func assertSame(t *testing.T, want, got float64) {
	t.Helper()
	assert.True(t, want == got || math.IsNaN(want) && math.IsNaN(got), "%g, not %g", got, want)
}

func TestTheTranscriptIsListedAndMarkedOnTheCharts(t *testing.T) {
	o, report := simulated(t, mended)
	transcript := Record(report.Results[1].Events)
	require.NotEmpty(t, transcript.Lines)
	assert.Contains(t, transcript.Lines[0].Text, "broken ejected: 5 consecutive 5xx")
	assert.Equal(t, "out", transcript.Lines[0].Class())
	marks := transcript.Marks(o.Scenario, Words{})
	assert.Equal(t, "c ejected", marks[0].Label)
	assert.Equal(t, "out", marks[0].Kind)
	assert.Equal(t, "c back", marks[1].Label)
	assert.Contains(t, transcript.Note(Words{}), "events.")
	assert.True(t, strings.HasPrefix(Record(nil).Note(Words{}), "Nothing changed"))
}

func TestALongTranscriptIsCutAndSaysSo(t *testing.T) {
	_, report := simulated(t, mended)
	events := report.Results[0].Events
	for len(events) <= maxLines {
		events = append(events, events...)
	}
	transcript := Record(events)
	assert.Len(t, transcript.Lines, maxLines)
	assert.Contains(t, transcript.Note(Words{}), "The first 300 of ")
}

func TestResultsThatAreNoJSONAreAnError(t *testing.T) {
	_, err := ReadOutcome(scenario.Default(), []byte("{"), nil)
	assert.ErrorContains(t, err, "results")
}
