package param_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/param"
)

// checks stands for a part of a scenario with a group of its own.
type checks struct {
	Fall     int           `param:"fall" unit:"probes" range:"1,100" default:"3" serve:"4" help:"consecutive failed probes that take a backend out"`
	Interval time.Duration `param:"check-interval" range:"0,1h" slider:"0,60" step:"0.1" default:"0" serve:"2" advanced:"true"`
}

// pair is a type that reads and writes its own text.
type pair struct{ Name, Value string }

func (p pair) MarshalText() ([]byte, error) { return []byte(p.Name + "=" + p.Value), nil }

func (p *pair) UnmarshalText(text []byte) error {
	name, value, ok := strings.Cut(string(text), "=")
	switch {
	case !ok:
		return fmt.Errorf("no = in it")
	case name == "":
		return &param.Error{Problem: "has no name", Accepted: "name=value"}
	}
	*p = pair{name, value}
	return nil
}

// everything has a field of each kind.
type everything struct {
	checks    `group:"checks"`
	Rate      float64  `param:"rate" unit:"requests/s" range:"1,100000" default:"100" scale:"log"`
	Seed      uint64   `param:"seed" default:"1"`
	Requests  int64    `param:"requests" default:"1000" group:"run"`
	Dry       bool     `param:"dry"`
	Path      string   `param:"path" default:"/health"`
	Algorithm string   `param:"algorithm" default:"round_robin"`
	RetryOn   []string `param:"retry-on" choices:"connect-failure,gateway-error,5xx" serve:"connect-failure,gateway-error"`
	Headers   []string `param:"header"`
	Pair      pair     `param:"pair" default:"a=1"`
	Pairs     []pair   `param:"pairs" default:"a=1 b=2"`
	Ignored   chan int
}

func (everything) ParamChoices(name string) []string {
	if name == "algorithm" {
		return []string{"round_robin", "least_conn", "p2c"}
	}
	return nil
}

func newEverything(c param.Column) (*everything, *param.Set) {
	e := new(everything)
	s := param.Of(e)
	s.Reset(c)
	return e, s
}

func TestSchemaOrderIsTheOrderOfTheFields(t *testing.T) {
	_, s := newEverything(param.Scenario)
	var names []string
	for _, p := range s.All() {
		names = append(names, p.Name)
	}
	assert.Equal(t, "fall check-interval rate seed requests dry path algorithm retry-on header pair pairs", strings.Join(names, " "))
}

func TestOneLineDescribesAParameter(t *testing.T) {
	_, s := newEverything(param.Scenario)
	fall := s.Lookup("fall")
	assert.Equal(t, "probes", fall.Unit)
	assert.Equal(t, "consecutive failed probes that take a backend out", fall.Help)
	assert.Equal(t, "checks", fall.Group, "inherited from the embedding field")
	assert.Equal(t, []float64{1, 100, 1, 100, 1}, []float64{fall.Lo, fall.Hi, fall.SliderLo, fall.SliderHi, fall.Step})
	assert.False(t, fall.Advanced)

	interval := s.Lookup("check-interval")
	assert.Equal(t, []float64{0, 3600, 0, 60, 0.1}, []float64{interval.Lo, interval.Hi, interval.SliderLo, interval.SliderHi, interval.Step})
	assert.True(t, interval.Advanced)

	assert.Equal(t, "log", s.Lookup("rate").Scale)
	assert.Equal(t, "run", s.Lookup("requests").Group)
	assert.Empty(t, s.Lookup("rate").Group, "a group ends with the struct that has it")
	assert.Equal(t, []string{"round_robin", "least_conn", "p2c"}, s.Lookup("algorithm").Choices)
	assert.Nil(t, s.Lookup("path").Choices)
	assert.True(t, s.Lookup("pairs").List)
	assert.Equal(t, param.Custom, s.Lookup("pairs").Kind)
	assert.Nil(t, s.Lookup("Ignored"))
}

func TestOneFlagWordPerKind(t *testing.T) {
	_, s := newEverything(param.Scenario)
	for name, want := range map[string]string{"dry": "bool", "fall": "int", "seed": "int", "rate": "number", "check-interval": "duration", "path": "text", "pair": "text", "header": "list", "pairs": "list"} {
		assert.Equal(t, want, s.Lookup(name).Type(), name)
	}
}

func TestEachColumnHasItsDefaults(t *testing.T) {
	e, s := newEverything(param.Scenario)
	assert.Equal(t, 3, e.Fall)
	assert.Zero(t, e.Interval)
	assert.Empty(t, e.RetryOn)
	s.Reset(param.Serve)
	assert.Equal(t, 4, e.Fall)
	assert.Equal(t, 2*time.Second, e.Interval)
	assert.Equal(t, []string{"connect-failure", "gateway-error"}, e.RetryOn)
	assert.Equal(t, 100.0, e.Rate, "the scenario's where serve has none")
	assert.Equal(t, []string{"2"}, s.Lookup("check-interval").Default(param.Serve))
	assert.True(t, s.Lookup("fall").Changed(param.Scenario))
	assert.False(t, s.Lookup("fall").Changed(param.Serve))
	assert.Equal(t, []pair{{"a", "1"}, {"b", "2"}}, e.Pairs)
}

func TestChangingAListLeavesItsDefaultAlone(t *testing.T) {
	e, s := newEverything(param.Scenario)
	e.Pairs[0].Name = "z"
	s.Reset(param.Scenario)
	assert.Equal(t, "a", e.Pairs[0].Name)
}

func TestOfLeavesValuesAsTheyAre(t *testing.T) {
	e := everything{Rate: 7}
	s := param.Of(&e)
	assert.Equal(t, 7.0, e.Rate)
	assert.Equal(t, "7", s.Lookup("rate").String())
}

func TestSeveralStructsMakeOneSet(t *testing.T) {
	var a struct {
		X int `param:"x"`
	}
	var b struct {
		Y int `param:"y"`
	}
	s := param.Of(&a, &b)
	require.NoError(t, s.Lookup("y").Set("5"))
	assert.Equal(t, 5, b.Y)
	assert.Len(t, s.All(), 2)
}

func TestMistakesInTagsPanic(t *testing.T) {
	cases := map[string]any{
		"param: Of wants pointers to structs, not int": 3,
		"param: Bad Name: a name is lower-case letters, digits and dashes": &struct {
			X int `param:"Bad Name"`
		}{},
		"param: x: the name is used twice": &struct {
			X int `param:"x"`
			Y int `param:"x"`
		}{},
		"param: x: default: x=0: outside 1 to 3": &struct {
			X int `param:"x" range:"1,3"`
		}{},
		"param: x: serve: x=many: not a whole number; accepted: a whole number": &struct {
			X int `param:"x" serve:"many"`
		}{},
		"param: x: range is upside down": &struct {
			X int `param:"x" range:"3,1"`
		}{},
		"param: x: range wants two numbers, lo,hi": &struct {
			X int `param:"x" range:"3"`
		}{},
		"param: x: range: NaN is not a number": &struct {
			X float64 `param:"x" range:"NaN,3"`
		}{},
		"param: x: range is for numbers and durations": &struct {
			X string `param:"x" range:"1,3"`
		}{},
		"param: x: choices are for texts": &struct {
			X int `param:"x" choices:"1,3"`
		}{},
		"param: x: default: x=c: unknown; accepted: a, b": &struct {
			X string `param:"x" choices:"a,b" default:"c"`
		}{},
		"param: x: the slider reaches outside the range": &struct {
			X int `param:"x" range:"0,3" slider:"0,4"`
		}{},
		"param: x: step is not positive": &struct {
			X int `param:"x" step:"0"`
		}{},
		"param: x: scale cannot be cubic": &struct {
			X int `param:"x" scale:"cubic"`
		}{},
		"param: x: advanced cannot be yes": &struct {
			X int `param:"x" advanced:"yes"`
		}{},
		"param: x: fields of type int8 are not supported": &struct {
			X int8 `param:"x"`
		}{},
		"param: x: fields of type map[string]int are not supported": &struct {
			X map[string]int `param:"x"`
		}{},
		"param: x: the field x is not exported": &struct {
			x int `param:"x"`
		}{},
	}
	for want, each := range cases {
		t.Run(want, func(t *testing.T) {
			assert.PanicsWithValue(t, want, func() { param.Of(each) })
		})
	}
}

func TestNearestKnowsTypingErrors(t *testing.T) {
	_, s := newEverything(param.Scenario)
	for typed, want := range map[string]string{
		"fal": "fall", "fll": "fall", "flal": "fall", "chek-interval": "check-interval", "checkinterval": "check-interval",
		"retryon": "retry-on", "fall": "fall", "": "", "x": "", "zzzz": "", "interval-check": "",
		strings.Repeat("fall", 1000): "",
	} {
		assert.Equal(t, want, s.Nearest(typed), "typed %.20s", typed)
	}
}

func TestTheInnermostStructGivesTheChoices(t *testing.T) {
	var outer struct {
		everything
		Extra string `param:"extra"`
	}
	s := param.Of(&outer)
	require.Error(t, s.Lookup("algorithm").Set("nonsense"))
	require.NoError(t, s.Lookup("algorithm").Set("p2c"))
	assert.Equal(t, "p2c", outer.Algorithm)
}
