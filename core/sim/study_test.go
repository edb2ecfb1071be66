package sim

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/param"
	"minilb/core/scenario"
	"minilb/core/stat"
)

// brief is the default scenario with few requests.
func brief() scenario.Scenario {
	s := scenario.Default()
	s.Requests = 300
	return s
}

// find is a figure of a policy.
func find(t require.TestingT, e Estimates, name string) Estimate {
	for _, f := range e.Figures {
		if f.Figure == name {
			return f
		}
	}
	require.Fail(t, "no figure "+name)
	return Estimate{}
}

func TestAStudyIsTheMeanOverItsSeedsRuns(t *testing.T) {
	s := brief()
	s.Seed = 7
	study, err := Seeds(s, 4, Options{})
	require.NoError(t, err)
	require.Len(t, study.Results, 3)
	var want stat.Welford
	for range 4 {
		r, err := Run(s, Options{})
		require.NoError(t, err)
		want.Add(r.Results[1].Latency.P99)
		s.Seed++
	}
	low, high := want.Interval95()
	got := find(t, study.Results[1], "latency_p99_ms")
	assert.Equal(t, []float64{want.Mean(), low, high}, []float64{got.Mean, got.Low, got.High})
	assert.Equal(t, 4, study.Seeds)
	assert.Equal(t, uint64(7), study.Scenario.Seed)
	assert.Equal(t, "least_conn", study.Results[1].Algorithm)
}

func TestOneSeedHasNoInterval(t *testing.T) {
	study, err := Seeds(brief(), 1, Options{})
	require.NoError(t, err)
	var out struct {
		Seeds   int
		Link    string
		Results []struct {
			Algorithm string
			Figures   []struct {
				Figure    string
				Mean      float64
				Low, High *float64
			}
		}
	}
	require.NoError(t, json.Unmarshal(study.JSON(), &out))
	assert.Equal(t, 1, out.Seeds)
	assert.Equal(t, "#v1;requests=300", out.Link)
	first := out.Results[0].Figures[0]
	assert.Equal(t, "latency_mean_ms", first.Figure)
	assert.Positive(t, first.Mean)
	assert.Nil(t, first.Low)
	assert.Nil(t, first.High)
	assert.NotContains(t, study.Rows()[1][1], "±")
}

func TestAStudysTableHasALineForEachFigureThatIsNotZero(t *testing.T) {
	study, err := Seeds(brief(), 3, Options{})
	require.NoError(t, err)
	rows := study.Rows()
	assert.Equal(t, []string{"figure", "round_robin", "least_conn", "p2c"}, rows[0])
	assert.Equal(t, "latency_mean_ms", rows[1][0])
	assert.Contains(t, rows[1][1], " ±")
	for _, row := range rows {
		assert.NotEqual(t, "errors_requests", row[0])
		assert.Len(t, row, 4)
	}
}

func TestAStudyThatIsStoppedKeepsItsWholeSeeds(t *testing.T) {
	s := steady(t, 40_000)
	told := []float64{0}
	study, err := Seeds(s, 4, Options{Progress: func(done float64) bool {
		told = append(told, done)
		return done < 0.6
	}})
	require.NoError(t, err)
	assert.True(t, study.Cancelled)
	assert.Equal(t, 2, study.Seeds)
	assert.Equal(t, 40_000.0, find(t, study.Results[0], "requests").Mean)
	assert.IsNonDecreasing(t, told)

	none, err := Seeds(s, 4, Options{Progress: func(float64) bool { return false }})
	require.NoError(t, err)
	assert.Zero(t, none.Seeds)
	assert.Contains(t, string(none.JSON()), `"results": []`)
	assert.Equal(t, [][]string{{"figure"}}, none.Rows())
}

func TestAStudyRefusesWhatItCannotPlay(t *testing.T) {
	for _, n := range []int{0, -1, maxSeeds + 1} {
		_, err := Seeds(brief(), n, Options{})
		assert.EqualError(t, err, "seeds="+strconv.Itoa(n)+": outside 1 to 10000 seeds")
	}
	s := brief()
	s.Rate = 0
	_, err := Seeds(s, 2, Options{})
	assert.ErrorContains(t, err, "rate=0: outside")
}

func TestASweepHasRoundValues(t *testing.T) {
	cases := []struct{ text, want, unit string }{
		{"rate=50..500", "50 65 83 110 140 180 230 300 390 500", "requests/s"},
		{"rate=100..150", "100 105 110 115 120 125 130 135 140 145 150", "requests/s"},
		{"rate=1..2:0.25", "1 1.25 1.5 1.75 2", "requests/s"},
		{"rate=0.1..0.7:0.1", "0.1 0.2 0.3 0.4 0.5 0.6 0.7", "requests/s"},
		{"rate=10..40:20", "10 30 40", "requests/s"},
		{"rate=5..5", "5", "requests/s"},
		{"requests=100..100000", "100 220 460 1000 2200 4600 10000 22000 46000 100000", "requests"},
		{"fall=1..4", "1 2 3 4", "probes"},
		{"fall=1..3:0.5", "1 2 3", "probes"},
		{"retries=0..10:5", "0 5 10", "retries"},
		{"base-ejection=1s..100s", "1 10 20 30 40 50 60 70 80 90 100", "s"},
		{"backoff=0..50ms:20ms", "0 0.02 0.04 0.05", "s"},
		{"max-ejection-percent=0..100:25", "0 25 50 75 100", "%"},
	}
	for _, c := range cases {
		w, err := ParseSweep(c.text)
		require.NoError(t, err, c.text)
		assert.Equal(t, c.want, strings.Join(w.Texts, " "), c.text)
		assert.Equal(t, c.unit, w.Unit, c.text)
		assert.Len(t, w.Values, len(w.Texts), c.text)
	}
}

func TestASweepThatCannotBeReadSaysWhy(t *testing.T) {
	cases := map[string]string{
		"":                       "sweep=\"\": no parameter and its span; accepted: " + sweepForm,
		"rate":                   "no parameter and its span",
		"rate=5":                 "5 is not a span; accepted: " + sweepForm,
		"rat=1..2":               "unknown parameter rat; accepted: a number or duration of the scenario; did you mean rate?",
		"algorithm=1..2":         "algorithm is not a number or a duration",
		"backend=1..2":           "backend is not a number or a duration",
		"ejection-decay=0..1":    "ejection-decay is not a number or a duration",
		"rate=9..3":              "upside down: 9 is more than 3; accepted: the smaller value first",
		"rate=0..3":              "rate=0: outside 0.001 to 1000000 requests/s",
		"rate=1..":               `rate="": not a number`,
		"rate=1..NaN":            "rate=NaN: not a number",
		"rate=1..2..3":           "rate=2..3: not a number",
		"rate=1..2:0":            "the step 0 is not a positive number",
		"rate=1..2:-1":           "the step -1 is not a positive number",
		"rate=1..2:x":            "the step x is not a positive number",
		"rate=1..2:":             "the step  is not a positive number",
		"rate=1..2:Inf":          "the step Inf is not a positive number",
		"backoff=0..1:1x":        "the step 1x is not a positive duration",
		"rate=1..1000:0.5":       "1999 values; accepted: at most 200: a step of 5.02 or more",
		"requests=1..100:1e-300": "over a million values; accepted: at most 200",
	}
	for text, want := range cases {
		_, err := ParseSweep(text)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want, text)
		var fault *param.Error
		assert.True(t, errors.As(err, &fault), text)
	}
}

// Whatever is swept, the values are the parameter's, rise from A to B and are
// not too many.
func TestASweepsValuesRiseFromAToB(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scenario.Default()
		name := rapid.SampledFrom([]string{"rate", "requests", "fall", "backoff", "keys", "budget-percent", "base-ejection"}).Draw(t, "name")
		p := s.Params().Lookup(name)
		ends := []float64{rapid.Float64Range(p.Lo, p.Hi).Draw(t, "a"), rapid.Float64Range(p.Lo, p.Hi).Draw(t, "b")}
		texts := make([]string, 2)
		for i := range ends {
			if p.SetFloat(ends[i]) != nil {
				t.Skip("rounds out of the range")
			}
			ends[i], texts[i] = p.Float(), p.String()
		}
		if ends[0] > ends[1] {
			t.Skip("upside down")
		}
		w, err := ParseSweep(name + "=" + texts[0] + ".." + texts[1])
		require.NoError(t, err)
		require.IsIncreasing(t, append([]float64{-1}, w.Values...))
		require.Equal(t, ends[0], w.Values[0])
		require.Equal(t, ends[1], w.Values[len(w.Values)-1])
		require.LessOrEqual(t, len(w.Values), aboutPoints+2)
	})
}

func FuzzParseSweep(f *testing.F) {
	for _, text := range []string{"rate=50..500", "fall=1..10:1", "backoff=0..1s:100ms", "requests=1..1e8", "seed=0..1e19:1e17"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := ParseSweep(text)
		if err == nil {
			require.NotEmpty(t, w.Values)
			require.LessOrEqual(t, len(w.Values), maxPoints+1)
		}
	})
}

func TestASweepPlaysEachValueAsItWouldBePlayedAlone(t *testing.T) {
	w, err := ParseSweep("rate=50..150:50")
	require.NoError(t, err)
	s := brief()
	swept, err := w.Run(s, 1, Options{})
	require.NoError(t, err)
	require.Len(t, swept.Points, 3)
	assert.Equal(t, 150.0, s.Rate, "the scenario is left as it was")
	s.Rate = 100
	alone, err := Seeds(s, 1, Options{})
	require.NoError(t, err)
	assert.Equal(t, string(alone.JSON()), string(swept.Points[1].Study.JSON()))
	rows := swept.Rows()
	assert.Equal(t, []string{"algorithm", "rate requests/s", "p50 ms", "p95 ms", "p99 ms", "errors", "dropped", "ejections"}, rows[0])
	assert.Equal(t, []string{"round_robin", "50"}, rows[1][:2])
	assert.Len(t, rows, 1+3*3)
	assert.Contains(t, string(swept.JSON()), `"param": "rate",`)
}

func TestASweepThatIsStoppedKeepsItsWholeValues(t *testing.T) {
	w, err := ParseSweep("rate=100..400:100")
	require.NoError(t, err)
	swept, err := w.Run(steady(t, 40_000), 1, Options{Progress: func(done float64) bool { return done < 0.6 }})
	require.NoError(t, err)
	assert.True(t, swept.Cancelled)
	assert.Len(t, swept.Points, 2)
}

func TestAFaultOfASweepNamesTheValue(t *testing.T) {
	s := brief()
	s.SuccessRateStdev = 1
	_, err := Sweep{Param: "outlier-interval", Values: []float64{1, 0}, Texts: []string{"1", "0"}}.Run(s, 1, Options{})
	assert.ErrorContains(t, err, "at outlier-interval 0: ")
}

// read reads a file back as a spreadsheet would.
func read(t *testing.T, text []byte) [][]string {
	t.Helper()
	assert.Equal(t, strings.Count(string(text), "\n"), strings.Count(string(text), "\r\n"), "lines end in CRLF")
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(t, err)
	return rows
}

func TestTheCSVOfAReportHasItsFigures(t *testing.T) {
	r, err := Run(brief(), Options{Series: true})
	require.NoError(t, err)
	rows := read(t, r.CSV())
	require.Len(t, rows, 4)
	assert.Equal(t, "algorithm,latency_mean_ms,latency_p50_ms", strings.Join(rows[0][:3], ","))
	assert.Contains(t, rows[0], "share_slow_fraction")
	assert.Contains(t, rows[0], "latency_p99_slow_ms")
	assert.Empty(t, rows[1][len(rows[1])-1], "there was no fault to recover from")
	p50, err := strconv.ParseFloat(rows[1][2], 64)
	require.NoError(t, err)
	assert.Equal(t, r.Results[0].Latency.P50, p50, "a number reads back to the same bits")

	series := read(t, r.SeriesCSV())
	require.Len(t, series, 1+3*len(r.Results[0].Series.Start)+windows(r, 1)+windows(r, 2)-2*windows(r, 0))
	assert.Equal(t, "start_s", series[0][1])
	assert.Equal(t, "in_flight_slow_requests", series[0][len(series[0])-1])
}

func windows(r Report, i int) int { return len(r.Results[i].Series.Start) }

func TestWhatDoesNotExistIsAnEmptyCell(t *testing.T) {
	s := one(t, "first", "a=20")
	s.Rate, s.Requests, s.Seed = 0.1, 3, 3
	r, err := Run(s, Options{Series: true})
	require.NoError(t, err)
	empty := 0
	for _, row := range read(t, r.SeriesCSV())[1:] {
		if row[5] == "0" {
			empty++
			assert.Empty(t, row[2], "a median of nothing")
		}
	}
	assert.Positive(t, empty)
}

func TestAStudyAndASweepHaveACSV(t *testing.T) {
	study, err := Seeds(brief(), 2, Options{})
	require.NoError(t, err)
	rows := read(t, study.CSV())
	assert.Equal(t, []string{"algorithm", "figure", "mean", "low_95", "high_95", "seeds"}, rows[0])
	assert.Equal(t, []string{"round_robin", "latency_mean_ms"}, rows[1][:2])

	w, err := ParseSweep("base-ejection=1..2:1")
	require.NoError(t, err)
	one, err := w.Run(brief(), 1, Options{})
	require.NoError(t, err)
	two, err := w.Run(brief(), 2, Options{})
	require.NoError(t, err)
	figures := len(study.Results[0].Figures)
	assert.Len(t, read(t, one.CSV())[0], 2+figures)
	assert.Len(t, read(t, two.CSV())[0], 2+3*figures, "each with its interval")
	assert.Len(t, read(t, two.CSV()), 1+2*3)
	assert.Equal(t, []string{"base-ejection_s", "algorithm"}, read(t, two.CSV())[0][:2])
}

func TestACellIsQuotedWhenItMust(t *testing.T) {
	var s sheet
	s.row("a", "b,c", `d"e`, "f\r\ng", "")
	assert.Equal(t, "a,\"b,c\",\"d\"\"e\",\"f\r\ng\",\r\n", s.String())
}

func TestAStudyOfShortRunsCanBeStopped(t *testing.T) {
	s := scenario.Default()
	s.Requests = 10
	calls := 0
	study, err := Seeds(s, 1000, Options{Progress: func(float64) bool { calls++; return calls <= 5 }})
	require.NoError(t, err)
	assert.True(t, study.Cancelled)
	assert.Equal(t, 5, study.Seeds)
}
