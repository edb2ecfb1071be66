package scenario_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
)

func TestAWindowReadsBack(t *testing.T) {
	for text, want := range map[string]scenario.Window{
		"": {}, "10..20": {From: 10 * time.Second, To: 20 * time.Second}, "0..1m": {To: time.Minute},
		"0.5...75": {From: 500 * time.Millisecond, To: 750 * time.Millisecond},
	} {
		var w scenario.Window
		require.NoError(t, w.UnmarshalText([]byte(text)), text)
		assert.Equal(t, want, w, text)
		again, err := w.MarshalText()
		require.NoError(t, err)
		var back scenario.Window
		require.NoError(t, back.UnmarshalText(again))
		assert.Equal(t, w, back)
		assert.Equal(t, text != "", w.On())
	}
	s := with(func(s *scenario.Scenario) { s.DependencyDown = scenario.Window{From: time.Second, To: time.Minute} })
	assert.Equal(t, "#v1;dependency-down=1..60", scenario.Encode(s))
	back, err := scenario.Decode(scenario.Encode(s))
	require.NoError(t, err)
	assert.Equal(t, s, back)
}

func TestAFaultOfAWindowSaysWhatIsAccepted(t *testing.T) {
	for text, want := range map[string]string{
		"20..10":  "dependency-down=20..10: ends before it begins; accepted: FROM..TO in seconds, such as 10..20, or nothing",
		"10":      "dependency-down=10: not a span of time; accepted: FROM..TO in seconds, such as 10..20, or nothing",
		"-1..10":  "dependency-down=-1..10: not a span of time; accepted: FROM..TO in seconds, such as 10..20, or nothing",
		"0..9e12": "dependency-down=0..9e12: not a span of time; accepted: FROM..TO in seconds, such as 10..20, or nothing",
	} {
		_, err := scenario.Decode("v1;dependency-down=" + text)
		assert.EqualError(t, err, want)
	}
}

func TestATraceIsReadInAnyOrder(t *testing.T) {
	rows, err := scenario.ParseTrace("# recorded on Monday\ntime,key,method,service\n\n2.5\n1,\"alice\",post, 12.5\r\n0.001, bob\n")
	require.NoError(t, err)
	assert.Equal(t, []scenario.TraceRow{
		{At: time.Millisecond, Key: "bob"},
		{At: time.Second, Key: "alice", Method: "POST", Service: 12500 * time.Microsecond},
		{At: 2500 * time.Millisecond},
	}, rows)
}

// Spreadsheets put a mark of the byte order first, and headings as they please.
func TestATraceMayHaveHeadings(t *testing.T) {
	for _, heading := range []string{"\ufefftime,key\n", "\ufeff", "Start (s), User Key, HTTP method, Service ms\n", "\"seconds\",\"key\"\n", "t\n"} {
		rows, err := scenario.ParseTrace(heading + "1,a\n")
		require.NoError(t, err, heading)
		assert.Equal(t, []scenario.TraceRow{{At: time.Second, Key: "a"}}, rows)
	}
}

func TestAFaultOfATraceNamesTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "trace: no requests; accepted: one a line, as seconds,key,method,service ms",
		"1\nx,y":                     `trace, line 2: time "x"; accepted: seconds since the trace began, 0 or more`,
		"-1":                         `trace, line 1: time "-1"; accepted: seconds since the trace began, 0 or more`,
		"1,a,GET,-5":                 `trace, line 1: service time "-5"; accepted: 0 to 3600000 ms`,
		"1,a,GET,NaN":                `trace, line 1: service time "NaN"; accepted: 0 to 3600000 ms`,
		"1,a,GET,5,6":                `trace, line 1: "1,a,GET,5,6" has 5 fields; accepted: seconds,key,method,service ms`,
		"NaN\n1":                     `trace, line 1: time "NaN"; accepted: seconds since the trace began, 0 or more`,
		"inf,k\n1":                   `trace, line 1: time "inf"; accepted: seconds since the trace began, 0 or more`,
		"1;k;GET":                    `trace, line 1: time "1;k;GET"; accepted: seconds since the trace began, 0 or more, and commas between the fields`,
		"#\ntime\ntime\n1":           `trace, line 3: time "time"; accepted: seconds since the trace began, 0 or more`,
		"time,colour\n1,red":         `trace, line 1: column 2 is headed "colour"; accepted: seconds,key,method,service ms in this order, or no heading`,
		"Key,Time\na,1":              `trace, line 1: column 1 is headed "key"; accepted: seconds,key,method,service ms in this order, or no heading`,
		"time,key,service,method\n1": `trace, line 1: column 3 is headed "service"; accepted: seconds,key,method,service ms in this order, or no heading`,
		"a,b,c,d,e\n1":               `trace, line 1: "a,b,c,d,e" has 5 fields; accepted: seconds,key,method,service ms`,
	} {
		_, err := scenario.ParseTrace(text)
		assert.EqualError(t, err, want)
	}
}

func TestWhatContradictsItselfIsReported(t *testing.T) {
	cases := []struct{ link, want string }{
		{"v1;arrivals=trace", "arrivals=trace: without a trace, which a link does not hold; accepted: --trace FILE, or other arrivals"},
		{"v1;duration=10h;rate=1e5", "duration=10h: up to 1.08e+10 requests at this rate; accepted: at most 100000000"},
		{"v1;duration=10;warmup=10", "warmup=10: leaves nothing of the duration; accepted: less than 10"},
		{"v1;backend=a:20,add_at:10,drain_at:5", "drain_at 5s is not after add_at 10s"},
		{"v1;backend=a:20,crash_at:10,recover_at:5", "recover_at 5s comes before anything goes wrong at 10s"},
		{"v1;backend=a:20,slow_after:10,slow_until:5,slow_factor:2", "slow_until 5s is not after slow_after 10s"},
	}
	for _, c := range cases {
		s, err := scenario.Decode(c.link)
		if err == nil {
			err = s.Check()
		}
		if assert.Error(t, err, c.link) {
			assert.True(t, strings.Contains(err.Error(), c.want), err.Error())
		}
	}
}

func TestAFaultLastsFromTheFirstThingWrongToTheLast(t *testing.T) {
	cases := []struct {
		parts    string
		from, to time.Duration
		ok       bool
	}{
		{"", 0, 0, false},
		{",errors=1", 0, 0, false},
		{",crash_at=5", 5, 0, true},
		{",crash_at=5,recover_at=9", 5, 9, true},
		{",slow_after=5,slow_factor=3,slow_until=8", 5, 8, true},
		{",slow_after=5", 0, 0, false},
		{",stall_at=5,stall_for=2", 5, 7, true},
		{",stall_at=5,stall_for=20,recover_at=9", 5, 9, true},
		{",stall_at=5,stall_for=2,errors_after=6", 5, 0, true},
	}
	for _, c := range cases {
		var b scenario.Backend
		require.NoError(t, b.UnmarshalText([]byte("a=20"+c.parts)))
		from, to, ok := b.Fault()
		assert.Equal(t, []any{c.from * time.Second, c.to * time.Second, c.ok}, []any{from, to, ok}, c.parts)
	}
}

func FuzzParseTrace(f *testing.F) {
	f.Add("time,key\n1,a,GET,5\n2")
	f.Add("1e9\n-0\n\x00,,,")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := scenario.ParseTrace(text)
		for i, r := range rows {
			require.NoError(t, err)
			require.False(t, r.At < 0 || r.Service < 0 || i > 0 && r.At < rows[i-1].At)
		}
	})
}
