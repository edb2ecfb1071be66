package scenario_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/param"
	"minilb/core/pick"
	"minilb/core/scenario"
)

func TestCheckSaysWhatNoSingleValueCan(t *testing.T) {
	cases := []struct {
		want   string
		change func(*scenario.Scenario)
	}{
		{`backend="": 0 backends; accepted: 1 to 1024`, func(s *scenario.Scenario) { s.Backends = nil }},
		{`backend=backend-0=20 backend-1=20 backend-2=20 backend-3=20 backend-…: 1025 backends; accepted: 1 to 1024`, func(s *scenario.Scenario) { s.Backends = backends(1025) }},
		{"backend=fast1=20: a second backend of that name; accepted: a name of its own for each", func(s *scenario.Scenario) { s.Backends[1].Name = "fast1" }},
		{"backend==20: backend without a name; accepted: 1 to 32 letters, digits, - or _", func(s *scenario.Scenario) { s.Backends[0].Name = "" }},
		{`backend=-x=20: backend name "-x"; accepted: 1 to 32 letters, digits, - or _, starting and ending with a letter or digit`, func(s *scenario.Scenario) { s.Backends[0].Name = "-x" }},
		{"backend=fast1=20,weight=0: backend fast1: weight 0 outside 1 to 1000", func(s *scenario.Scenario) { s.Backends[0].Weight = 0 }},
		{`algorithm="": nothing to run; accepted: one or more of ` + strings.Join(pick.Names(), ", "), func(s *scenario.Scenario) { s.Algorithms = nil }},
		{"algorithm=p2c: listed twice; accepted: each policy once", func(s *scenario.Scenario) { s.Algorithms = []string{"p2c", "p2c"} }},
		{"algorithm=magic: unknown; accepted: " + strings.Join(pick.Names(), ", "), func(s *scenario.Scenario) { s.Algorithms = []string{"magic"} }},
		{"table-size=4: not a prime; accepted: a prime such as 5", func(s *scenario.Scenario) { s.TableSize = 4 }},
	}
	for _, c := range cases {
		assert.EqualError(t, with(c.change).Check(), c.want)
	}
	assert.NoError(t, scenario.Default().Check())
	assert.NoError(t, with(func(s *scenario.Scenario) { s.Backends = backends(1024) }).Check())
}

func TestCheckReportsAllOfIt(t *testing.T) {
	s := with(func(s *scenario.Scenario) {
		s.Backends, s.Algorithms, s.TableSize, s.FailurePercentage, s.RetryOn = nil, nil, 4, 50, []string{"moon"}
	})
	err := s.Check()
	var faults scenario.Faults
	require.ErrorAs(t, err, &faults)
	assert.Len(t, faults, 5, err)
	assert.Contains(t, faults.Flag(), "--algorithm \"\": nothing to run")
}

func TestABackendsFaultNamesThePart(t *testing.T) {
	cases := []struct{ text, want string }{
		{"x=3,weight=0", "--backend x=3,weight=0: weight=0: outside 1 to 1000"},
		{"x=fast", "--backend x=fast: mean=fast: not a number; accepted: 0.001 to 3600000 ms"},
		{"x=3,capacity=many", "--backend x=3,capacity=many: capacity=many: not a whole number; accepted: 1 to 100000 workers"},
		{"x=3,wieght=2", "--backend x=3,wieght=2: wieght is not a part of a backend; accepted: capacity, weight, errors, service, cv, queue, order, health, error_ms, errors_after, slow_after, slow_factor, slow_until, crash_at, hang_at, stall_at, stall_for, recover_at, add_at, drain_at, drain_for, cold_for, cold_factor; did you mean weight?"},
		{"x=3,errors", "--backend x=3,errors: errors has no value; accepted: NAME=MEAN_MS and parts such as errors=0.1"},
		{"x=3,mean=4", "--backend x=3,mean=4: mean is given twice; accepted: each part once; the mean comes right after the name"},
		{"x y=3", `--backend x y=3: backend name "x y"; accepted: 1 to 32 letters, digits, - or _, starting and ending with a letter or digit`},
	}
	for _, c := range cases {
		s := scenario.Default()
		err := s.Params().Lookup("backend").Set(c.text)
		var fault *param.Error
		if assert.ErrorAs(t, err, &fault, c.text) {
			assert.Equal(t, c.want, fault.Flag())
		}
		assert.Equal(t, scenario.Default(), s, "a refused backend changes nothing")
	}
}

func TestEveryPresetIsCanonicalAndRuns(t *testing.T) {
	names := map[string]bool{}
	for _, p := range scenario.Presets {
		s, err := scenario.Decode(p.Link)
		require.NoError(t, err, p.Name)
		assert.NoError(t, s.Check(), p.Name)
		assert.Equal(t, p.Link, scenario.Encode(s), p.Name)
		assert.NotEmpty(t, p.Title+p.Sentence)
		assert.False(t, names[p.Name], p.Name)
		names[p.Name] = true
		found, ok := scenario.FindPreset(p.Name)
		assert.True(t, ok)
		assert.Equal(t, p, found)
	}
	_, ok := scenario.FindPreset("no such preset")
	assert.False(t, ok)
}

func TestOnlyTheCapThatCannotEjectIsWarnedOf(t *testing.T) {
	for _, p := range scenario.Presets {
		s, err := scenario.Decode(p.Link)
		require.NoError(t, err)
		warned := s.OutlierConfig.Warning(len(s.Backends)) != ""
		assert.Equal(t, p.Name == "cap-never-ejects", warned, p.Name)
	}
}
