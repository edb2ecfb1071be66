package param_test

import (
	"math"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/param"
)

func TestDurationsAreReadInSecondsOrAsGoWritesThem(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "2": 2 * time.Second, "0.2": 200 * time.Millisecond, ".5": 500 * time.Millisecond, "1e3": 1000 * time.Second,
		"1e-9": 1, "-1.5": -1500 * time.Millisecond, "200ms": 200 * time.Millisecond, "1m30s": 90 * time.Second,
		"3us": 3000, "3µs": 3000, "9223372036.854775807": math.MaxInt64, "-9223372036.854775808": math.MinInt64,
	} {
		got, err := param.ParseDuration(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestWhatIsNoDurationIsRefused(t *testing.T) {
	for _, text := range []string{"", "NaN", "nan", "Inf", "-inf", "1e10", "9223372036.854775808", "1e400", "300y", "2562048h", "1 s", "0x10", "1_000", "s", "-", "."} {
		_, err := param.ParseDuration(text)
		assert.ErrorContains(t, err, "param: duration ", text)
	}
}

func TestDurationsAreWrittenAsShortAsTheyCanBe(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 200 * time.Millisecond: "0.2", time.Millisecond: "1ms", 90 * time.Second: "90", time.Second: "1",
		time.Microsecond: "1us", 1: "1ns", 1500 * time.Microsecond: "1.5ms", 2 * time.Hour: "2h", time.Minute: "60",
		2 * time.Minute: "2m", -time.Second: "-1", 10 * time.Millisecond: "0.01", 2500 * time.Millisecond: "2.5",
	} {
		assert.Equal(t, want, param.FormatDuration(d))
	}
}

var inALink = regexp.MustCompile(`^[0-9a-z.-]+$`)

func durationSurvives(t require.TestingT, d time.Duration) {
	text := param.FormatDuration(d)
	back, err := param.ParseDuration(text)
	require.NoError(t, err, text)
	require.Equal(t, d, back, text)
	require.Regexp(t, inALink, text)
	require.LessOrEqual(t, len(text), len(strconv.FormatInt(int64(d), 10))+2)
}

func TestEveryDurationReadsBack(t *testing.T) {
	durationSurvives(t, math.MinInt64)
	durationSurvives(t, math.MaxInt64)
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]time.Duration{1, time.Microsecond, time.Millisecond, time.Second, time.Minute, time.Hour}).Draw(t, "unit")
		durationSurvives(t, unit*time.Duration(rapid.Int64Range(-1e6, 1e6).Draw(t, "n")))
		durationSurvives(t, time.Duration(rapid.Int64().Draw(t, "ns")))
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"1", "0.2", "1e3", "200ms", "1m30s", "NaN", "-9223372036.854775808", "1e-400", ".", "1.0000000000000001", "5e9", "+1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := param.ParseDuration(text); err == nil {
			durationSurvives(t, d)
		}
	})
}

func TestNumbersAreWrittenForPeopleAndForLinks(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 1: "1", 0.1: "0.1", 100000: "100000", 1e6: "1000000", 1e7: "1e7", 1e9: "1e9", -2.5: "-2.5", 2.5e-8: "2.5e-8",
		0.001: "0.001", 1e-5: "0.00001", 1e-6: "1e-6", 123456789: "123456789", 1e21: "1e21",
		math.Inf(1): "Inf", math.Inf(-1): "-Inf",
	} {
		assert.Equal(t, want, param.FormatFloat(f))
	}
	assert.Equal(t, "NaN", param.FormatFloat(math.NaN()))
}

func TestEveryNumberReadsBackWithoutAPlus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		text := param.FormatFloat(f)
		back, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		require.Equal(t, math.Float64bits(f), math.Float64bits(back))
		require.NotContains(t, text, "+")
	})
}

func TestNegativeZeroReadsAsZero(t *testing.T) {
	var c struct {
		Share float64 `param:"share" range:"0,1" default:"0"`
	}
	p := param.Of(&c).Lookup("share")
	require.NoError(t, p.Set("-0"))
	assert.Equal(t, "0", p.String(), "one number has one text, so that a scenario has one link")
	assert.False(t, p.Changed(param.Scenario))
}
