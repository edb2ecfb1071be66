package outlier_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/lb"
	"minilb/core/outlier"
)

func statuses(t testing.TB, text string) (s outlier.Statuses) {
	t.Helper()
	require.NoError(t, s.UnmarshalText([]byte(text)))
	return s
}

// nginx#340 and #355: which statuses count is the operator's to say.
func TestTheStatusesThatEjectAreConfigurable(t *testing.T) {
	cases := []struct {
		set    string
		status int
		ejects bool
	}{
		{"500-599", 500, true}, {"500-599", 403, false}, {"500-599", 600, true},
		{"403,404,500-599", 403, true}, {"403,404,500-599", 500, true}, {"403,404,500-599", 405, false},
		{"429", 429, true}, {"429", 500, false}, {"429", 200, false}, {"429", 999, true},
	}
	for _, c := range cases {
		d := outlier.New(outlier.Config{Consecutive5xx: 3, BaseEjection: 10e9, ErrorStatuses: statuses(t, c.set)})
		d.Add(0)
		judge := false
		for range 3 {
			judge = d.Note(0, lb.Outcome{Kind: lb.Answered, Status: c.status})
		}
		assert.Equal(t, c.ejects, judge, "%d with %s", c.status, c.set)
	}
}

func TestAFailureToAnswerCountsWhateverTheStatuses(t *testing.T) {
	d := outlier.New(outlier.Config{Consecutive5xx: 2, ConsecutiveGateway: 3, BaseEjection: 10e9, MaxEjection: 300e9, MaxEjectionPercent: 100, ErrorStatuses: statuses(t, "429")})
	d.Add(0)
	everybody := lb.Census{Members: 1, Counts: func(int) bool { return true }}
	assert.False(t, d.Note(0, lb.Outcome{Kind: lb.TimedOut}))
	assert.False(t, d.Note(0, lb.Outcome{Status: 503}), "no error here, and it ends the streak of errors")
	assert.True(t, d.Note(0, lb.Outcome{Kind: lb.Broken}), "but not that of gateway errors")
	assert.Equal(t, "3 consecutive gateway errors; ejected for 10s (ejection 1)", d.Judge(0, 0, everybody).Reason)
	d.Advance(20e9, everybody, func(int, lb.Verdict) {})
	d.Note(0, lb.Outcome{Status: 429})
	assert.True(t, d.Note(0, lb.Outcome{Status: 429}))
	assert.Equal(t, "2 consecutive errors; ejected for 20s (ejection 2)", d.Judge(20e9, 0, everybody).Reason)
}

func TestStatusesHaveOneText(t *testing.T) {
	for text, want := range map[string]string{
		"500-599": "500-599", "429,500-599": "429,500-599", "500-599,429": "429,500-599",
		"500-502, 503-599": "500-599", "404,403": "403-404", "200-599": "200-599", "599": "599",
	} {
		s := statuses(t, text)
		written, err := s.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, want, string(written), text)
	}
	assert.Equal(t, outlier.Statuses{}, statuses(t, "500-550,551-599"), "the default is the zero value, however it is written")
}

func TestStatusesThatAreNoneSayWhatIs(t *testing.T) {
	for text, problem := range map[string]string{
		"": `"" is not a status`, "5xx": `"5xx" is not a status`, "500-": `"500-" is not a status`, "-500": `"-500" is not a status`,
		"199": "199 is outside 200 to 599", "500-600": "500-600 is outside 200 to 599", "503-500": "503-500 ends before it begins",
		"500,,503": `"" is not a status`, "500--501": `"500--501" is not a status`, "+500": `"+500" is not a status`,
	} {
		s := statuses(t, "404")
		err := s.UnmarshalText([]byte(text))
		assert.ErrorContains(t, err, problem, text)
		assert.ErrorContains(t, err, "accepted: statuses from 200 to 599 and spans of them, such as 500-599,429", text)
		assert.Equal(t, statuses(t, "404"), s, "a refused text changes nothing")
	}
}

func FuzzStatuses(f *testing.F) {
	for _, text := range []string{"500-599", "429,500-599", "", "-", "500-,", "200-599,x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s, again outlier.Statuses
		if s.UnmarshalText([]byte(text)) != nil {
			return
		}
		written, _ := s.MarshalText()
		require.NoError(t, again.UnmarshalText(written))
		assert.Equal(t, s, again, "%s written as %s", text, written)
	})
}

func TestStatusesHoldWhatTheyWereGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := map[int]bool{429: true} // never the default alone
		text := "429"
		for _, status := range rapid.SliceOfN(rapid.IntRange(200, 599), 0, 50).Draw(t, "statuses") {
			given[status] = true
			text += "," + string(rune('0'+status/100)) + string(rune('0'+status/10%10)) + string(rune('0'+status%10))
		}
		var s outlier.Statuses
		require.NoError(t, s.UnmarshalText([]byte(text)))
		for status := 200; status <= 599; status++ {
			assert.Equal(t, given[status], s.Failed(lb.Outcome{Status: status}), status)
		}
	})
}
