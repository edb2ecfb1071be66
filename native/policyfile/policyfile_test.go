package policyfile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"minilb/core/param"
	"minilb/native/policyfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type server struct{ text string }

func (s *server) UnmarshalText(b []byte) error {
	first, rest, _ := strings.Cut(string(b), ",")
	if name, _, ok := strings.Cut(first, "="); !ok || name == "" {
		return errors.New("not NAME=HOST:PORT")
	}
	if rest != "" && !strings.HasPrefix(rest, "weight=") {
		return fmt.Errorf("unknown part %q; accepted: weight=1 to weight=1000", rest)
	}
	s.text = string(b)
	return nil
}
func (s server) MarshalText() ([]byte, error) { return []byte(s.text), nil }

type config struct {
	Policy   string        `param:"policy" group:"addresses"`
	Backends []server      `param:"backend" group:"addresses"`
	Interval time.Duration `param:"check-interval" group:"checks" range:"0s,1h" default:"2"`
	Fall     int           `param:"fall" unit:"probes" range:"1,100" default:"3" group:"checks"`
	Retries  int           `param:"retries" unit:"retries" range:"0,10" default:"1" group:"retries"`
	RetryOn  []string      `param:"retry-on" choices:"connect-failure,gateway-error,5xx" default:"connect-failure" group:"retries"`
	Cookie   string        `param:"sticky-cookie" default:"" group:"limits"`
	Panic    bool          `param:"panic" default:"false" group:"times and sizes"`
}

func decode(text string) (config, *policyfile.File, error) {
	var c config
	set := param.Of(&c)
	set.Reset(param.Serve)
	f, err := policyfile.Decode("p.yaml", []byte(text), set, "policy")
	return c, f, err
}

func TestAFileSaysWhatFlagsSay(t *testing.T) {
	want := config{
		Backends: []server{{"b1=127.0.0.1:9001"}, {"b2=h:2,weight=3"}}, Interval: 200 * time.Millisecond, Fall: 2,
		Retries: 4, RetryOn: []string{"5xx", "gateway-error"}, Cookie: "MINILB", Panic: true,
	}
	for name, text := range map[string]string{
		"flat": `
backends: [b1=127.0.0.1:9001, "b2=h:2,weight=3"]
check-interval: 0.2
fall: 2      # of three
retries: 4
retry-on: [5xx, gateway-error]
sticky-cookie: MINILB
panic: on
`,
		"nested": `---
addresses:
  backend:
  - b1=127.0.0.1:9001
  - name: b2
    address: h:2
    weight: 3
checks: {check-interval: 200ms, fall: 2}
retries:
  retries: 4
  retry-on: 5xx,gateway-error
limits:
  sticky-cookie: |
    MINILB
times-and-sizes: {panic: true}
`,
		"json": `{"backend": ["b1=127.0.0.1:9001", {"name": "b2", "address": "h:2", "weight": 3}],
"check-interval": "200ms", "fall": 2, "retries": 4, "retry-on": ["5xx", "gateway-error"], "sticky-cookie": "MINILB",
"panic": true}`,
	} {
		c, _, err := decode(text)
		require.NoError(t, err, name)
		assert.Equal(t, want, c, name)
	}
}

func TestAnEmptyFileChangesNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "# only words\n", "---\n", "{}"} {
		c, f, err := decode(text)
		assert.NoError(t, err, "%q", text)
		assert.Equal(t, 3, c.Fall)
		assert.False(t, f.Has("fall"))
	}
}

func TestEveryFaultIsReportedWhereItStands(t *testing.T) {
	for text, want := range map[string]string{
		"fall: 0\nretries: many":      "p.yaml:1:7: fall=0: outside 1 to 100 probes\np.yaml:2:10: retries=many: not a whole number; accepted: 0 to 10 retries",
		"check-intervall: 1":          `p.yaml:1:1: "check-intervall": unknown parameter; did you mean check-interval?`,
		"zzz: 1":                      `p.yaml:1:1: "zzz": unknown parameter; accepted: the flags of minilb serve, without their dashes`,
		"checks:\n  retries: 1":       `p.yaml:2:3: retries: belongs under "retries", not "checks"; accepted there, or without a heading`,
		"check:\n  fall: 1":           `p.yaml:1:1: "check": no such heading; accepted: addresses, checks, retries, limits, times and sizes`,
		"checks:":                     `p.yaml:1:1: checks: a heading without parameters; accepted: parameters below it, indented`,
		"fall: 1\nchecks: {fall: 2}":  "p.yaml:2:10: fall: given before, in line 1; accepted: once",
		"fall: [1, 2]":                "p.yaml:1:7: fall: a list; accepted: one value",
		"fall:":                       "p.yaml:1:7: fall: no value; accepted: a whole number",
		"retry-on: [5xx, 4xx]":        "p.yaml:1:17: retry-on=4xx: unknown; accepted: connect-failure, gateway-error, 5xx; did you mean 5xx?",
		"policy: other.yaml":          "p.yaml:1:1: policy: a file cannot set it; accepted: --policy on the command line",
		"- a\n- b":                    "p.yaml:1:1: a list; accepted: parameters, such as algorithm: p2c",
		"fall: &x 1":                  "p.yaml:1:7: fall: anchors, aliases, merge keys and tags are not read; accepted: a whole number",
		"fall: 1\n---\nfall: 2":       "p.yaml:3:5: a second document; accepted: one",
		"backends: [b1=h:1, nothing]": "p.yaml:1:20: backend=nothing: not NAME=HOST:PORT",
		"backends:\n- {name: a}":      "p.yaml:2:3: backend: no address; accepted: a map with name, address and, where it is not 1, weight",
		"backends:\n- name: 'a=b,c'\n  address: h:1":        `p.yaml:2:9: backend: name="a=b,c": not a value; accepted: text without , and =`,
		"backends:\n- name: a\n  address: h:1\n  wieght: 2": `p.yaml:4:3: backend=a=h:1,wieght=2: unknown part "wieght=2"; accepted: weight=1 to weight=1000`,
		"fall: 1\n\tretries: 2":                             "",
		"fall: 'x":                                          "",
	} {
		_, _, err := decode(text)
		if want == "" {
			assert.ErrorContains(t, err, "p.yaml:", text)
			assert.ErrorContains(t, err, "not YAML", text)
			continue
		}
		assert.EqualError(t, err, want, text)
	}
}

func TestAKeyGivenTwiceIsAFault(t *testing.T) {
	_, _, err := decode("fall: 1\nfall: 2")
	assert.ErrorContains(t, err, "p.yaml:2:1: ")
}

func TestALaterFaultIsPutWhereTheFileSpeaksOfIt(t *testing.T) {
	_, f, err := decode("fall: 1\n\nretries: 2")
	require.NoError(t, err)
	assert.EqualError(t, f.Fault("retries", errors.New("no")), "p.yaml:3:1: no")
	assert.EqualError(t, f.Fault("sticky-cookie", errors.New("no")), "p.yaml:1:1: no")
	assert.Equal(t, "p.yaml:3:1: no", f.Fault("retries", errors.New("no")).Flag())
}

func TestNumbersMeanWhatTheyMeanInAFlag(t *testing.T) {
	for text, want := range map[string]time.Duration{"0.2": 200 * time.Millisecond, "1e2": 100 * time.Second, "1m30s": 90 * time.Second, "'3'": 3 * time.Second} {
		c, _, err := decode("check-interval: " + text)
		require.NoError(t, err, text)
		assert.Equal(t, want, c.Interval, text)
	}
	for _, text := range []string{".inf", ".nan", "0x10", "1_000", "~", "1:30"} {
		_, _, err := decode("check-interval: " + text)
		assert.Error(t, err, text)
	}
}

func TestAFlagReplacesTheFilesList(t *testing.T) {
	var c config
	set := param.Of(&c)
	set.Reset(param.Serve)
	_, err := policyfile.Decode("p.yaml", []byte("backends: [a=h:1, b=h:2]"), set)
	require.NoError(t, err)
	require.NoError(t, set.Lookup("backend").Set("c=h:3"))
	require.NoError(t, set.Lookup("backend").Set("d=h:4"))
	assert.Equal(t, []server{{"c=h:3"}, {"d=h:4"}}, c.Backends)
}

func TestAHostileFileIsRefusedCheaply(t *testing.T) {
	start := time.Now()
	for _, text := range []string{
		strings.Repeat("[", 200_000), strings.Repeat("{a: ", 50_000), strings.Repeat("#", policyfile.MaxBytes+1),
		strings.Repeat("a:\n", 1), strings.Repeat("- ", 5000), "\x00\xff\xfe",
	} {
		_, _, err := decode(text)
		assert.Error(t, err, "%.20q", text)
	}
	assert.Less(t, time.Since(start), 20*time.Second)
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"fall: 1", "backends: [a=h:1, {name: b, address: h:2}]", "checks: {fall: 2}", "a: &x [*x]", "<<: 1", "? a\n: b", "!!str a: |2\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		_, _, err := decode(text)
		if err != nil && !strings.HasPrefix(err.Error(), "p.yaml:") {
			t.Errorf("a fault without a place: %v", err)
		}
	})
}
