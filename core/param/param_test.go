package param_test

import (
	"math"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/param"
)

// A Param is a pflag.Value.
var _ interface {
	String() string
	Set(string) error
	Type() string
} = (*param.Param)(nil)

func TestSetReadsWhatPeopleWrite(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"fall", "7", "7"},
		{"fall", "1e2", "100"},
		{"check-interval", "0.2", "0.2"},
		{"check-interval", "200ms", "0.2"},
		{"check-interval", "1m30s", "90"},
		{"rate", "1e3", "1000"},
		{"rate", "2.50", "2.5"},
		{"seed", "18446744073709551615", "18446744073709551615"},
		{"seed", "1e6", "1000000"},
		{"requests", "-5", "-5"},
		{"dry", "true", "true"},
		{"dry", "1", "true"},
		{"dry", "off", "false"},
		{"path", "", ""},
		{"path", "/a b", "/a b"},
		{"algorithm", "p2c", "p2c"},
		{"pair", "k=v=w", "k=v=w"},
		{"retry-on", "5xx,gateway-error", "5xx,gateway-error"},
		{"retry-on", "", ""},
		{"header", "a,b", "a,b"},
	}
	for _, c := range cases {
		t.Run(c.name+"="+c.text, func(t *testing.T) {
			_, s := newEverything(param.Scenario)
			p := s.Lookup(c.name)
			require.NoError(t, p.Set(c.text))
			assert.Equal(t, c.want, p.String())
			again := p.String()
			p.Reset(param.Scenario)
			require.NoError(t, p.Set(again))
			assert.Equal(t, c.want, p.String())
		})
	}
}

func TestRefusedTextLeavesTheValueAndSaysWhatWouldDo(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"fall", "0", "--fall 0: outside 1 to 100 probes"},
		{"fall", "101", "--fall 101: outside 1 to 100 probes"},
		{"fall", "x", "--fall x: not a whole number; accepted: 1 to 100 probes"},
		{"fall", "1.5", "--fall 1.5: not a whole number; accepted: 1 to 100 probes"},
		{"fall", "", `--fall "": not a whole number; accepted: 1 to 100 probes`},
		{"fall", "99999999999999999999", "--fall 99999999999999999999: too large; accepted: 1 to 100 probes"},
		{"rate", "abc", "--rate abc: not a number; accepted: 1 to 100000 requests/s"},
		{"rate", "1e+09", "--rate 1e+09: outside 1 to 100000 requests/s"},
		{"rate", "NaN", "--rate NaN: not a number; accepted: 1 to 100000 requests/s"},
		{"rate", "Inf", "--rate Inf: not a number; accepted: 1 to 100000 requests/s"},
		{"rate", "0x10", "--rate 0x10: not a number; accepted: 1 to 100000 requests/s"},
		{"seed", "-1", "--seed -1: not a whole number; accepted: a whole number from 0 to 18446744073709551615"},
		{"check-interval", "2h", "--check-interval 2h: outside 0 to 1h"},
		{"check-interval", "-1", "--check-interval -1: outside 0 to 1h"},
		{"check-interval", "soon", "--check-interval soon: not a duration; accepted: 0 to 1h, such as 0.2, 200ms or 1m30s"},
		{"dry", "maybe", "--dry maybe: not a yes or no; accepted: true or false"},
		{"algorithm", "foo", "--algorithm foo: unknown; accepted: round_robin, least_conn, p2c"},
		{"algorithm", "leastconn", "--algorithm leastconn: unknown; accepted: round_robin, least_conn, p2c; did you mean least_conn?"},
		{"retry-on", "5xx,4xx", "--retry-on 4xx: unknown; accepted: connect-failure, gateway-error, 5xx; did you mean 5xx?"},
		{"pair", "novalue", "--pair novalue: no = in it"},
		{"pairs", "=v", "--pairs =v: has no name; accepted: name=value"},
		{"rate", "\x1b[31mred", `--rate "\x1b[31mred": not a number; accepted: 1 to 100000 requests/s`},
		{"rate", "a\u202eb", `--rate "a\u202eb": not a number; accepted: 1 to 100000 requests/s`},
	}
	for _, c := range cases {
		t.Run(c.want, func(t *testing.T) {
			_, s := newEverything(param.Scenario)
			err := s.Lookup(c.name).Set(c.text)
			var fault *param.Error
			require.ErrorAs(t, err, &fault)
			assert.Equal(t, c.want, fault.Flag())
			assert.False(t, s.Lookup(c.name).Changed(param.Scenario))
		})
	}
}

func TestLinksAndFilesReportInTheirOwnNotation(t *testing.T) {
	_, s := newEverything(param.Scenario)
	assert.EqualError(t, s.Lookup("fall").Set("0"), "fall=0: outside 1 to 100 probes")
}

func TestHostileValuesCannotFloodOrGarbleATerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := "x" + rapid.OneOf(rapid.String(), rapid.StringN(0, 4000, -1), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		err := &param.Error{Name: text, Value: text, Problem: text}
		assert.Less(t, len([]rune(err.Flag())), 4000)
		require.True(t, utf8.ValidString(err.Error()+err.Flag()))
		for _, r := range err.Error() + err.Flag() {
			require.True(t, unicode.IsPrint(r), "%q", r)
		}
	})
}

func TestRepeatedFlagsReplaceTheDefaultAndThenAppend(t *testing.T) {
	e, s := newEverything(param.Serve)
	p := s.Lookup("retry-on")
	require.NoError(t, p.Set("5xx"))
	assert.Equal(t, []string{"5xx"}, e.RetryOn)
	require.NoError(t, p.Set("gateway-error"))
	assert.Equal(t, []string{"5xx", "gateway-error"}, e.RetryOn)
	require.Error(t, p.Set("nonsense"))
	assert.Equal(t, []string{"5xx", "gateway-error"}, e.RetryOn)
	s.Reset(param.Serve)
	require.NoError(t, p.Set(""))
	assert.Empty(t, e.RetryOn)
}

func TestSetTextsReplacesAndTheNextFlagReplacesAgain(t *testing.T) {
	e, s := newEverything(param.Scenario)
	p := s.Lookup("header")
	require.NoError(t, p.SetTexts([]string{"a: 1", "b: 2, 3", ""}))
	assert.Equal(t, []string{"a: 1", "b: 2, 3", ""}, e.Headers)
	assert.Equal(t, e.Headers, p.Texts())
	require.NoError(t, p.Set("c"))
	assert.Equal(t, []string{"c"}, e.Headers)
	require.NoError(t, p.SetTexts(nil))
	assert.Empty(t, e.Headers)
	assert.EqualError(t, s.Lookup("fall").SetTexts([]string{"1", "2"}), "fall=1,2: has 2 values; accepted: exactly one")
	require.NoError(t, s.Lookup("fall").SetTexts([]string{"9"}))
	assert.Equal(t, 9, e.Fall)
}

func TestSlidersSeeNumbersAndSeconds(t *testing.T) {
	e, s := newEverything(param.Serve)
	assert.Equal(t, 2.0, s.Lookup("check-interval").Float())
	require.NoError(t, s.Lookup("check-interval").SetFloat(0.1+0.2))
	assert.Equal(t, 300*time.Millisecond, e.Interval)
	require.NoError(t, s.Lookup("fall").SetFloat(6.7))
	assert.Equal(t, 7.0, s.Lookup("fall").Float())
	require.NoError(t, s.Lookup("seed").SetFloat(12))
	assert.Equal(t, 12.0, s.Lookup("seed").Float())
	require.NoError(t, s.Lookup("dry").SetFloat(1))
	assert.Equal(t, 1.0, s.Lookup("dry").Float())
	require.NoError(t, s.Lookup("rate").SetFloat(0.1*30))
	assert.Equal(t, 0.1*30, e.Rate)
	for _, name := range []string{"rate", "fall", "check-interval", "dry", "seed"} {
		require.Error(t, s.Lookup(name).SetFloat(math.NaN()), name)
	}
	require.Error(t, s.Lookup("rate").SetFloat(math.Inf(1)))
	require.Error(t, s.Lookup("fall").SetFloat(1000))
	require.Error(t, s.Lookup("path").SetFloat(1))
	assert.Zero(t, s.Lookup("path").Float())
	assert.Zero(t, s.Lookup("pairs").Float())
}

func TestTheZeroParamPrintsAsNothing(t *testing.T) {
	assert.Empty(t, new(param.Param).String(), "pflag asks it for a flag's zero value")
}

func FuzzSetReadsItsOwnText(f *testing.F) {
	for _, text := range []string{"1", "0.1", "1e-7", "200ms", "p2c", "a=b", "5xx,5xx", "-0", "true", "18446744073709551615", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, s := newEverything(param.Scenario)
		for _, p := range s.All() {
			before := p.String()
			if err := p.Set(text); err != nil {
				assert.NotEmpty(t, err.Error())
				assert.Equal(t, before, p.String(), "a refused text changed %s", p.Name)
				continue
			}
			texts, value := p.Texts(), p.String()
			require.NoError(t, p.SetTexts(texts))
			assert.Equal(t, texts, p.Texts(), p.Name)
			p.Reset(param.Scenario)
			require.NoError(t, p.Set(value), p.Name)
			assert.Equal(t, value, p.String(), p.Name)
		}
	})
}
