package proxy

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
)

func TestDefaultsAreTheServeColumn(t *testing.T) {
	c := Default()
	assert.Equal(t, "round_robin", c.Algorithm)
	assert.Equal(t, "127.0.0.1:8080", c.Listen)
	assert.Equal(t, 2*time.Second, c.CheckInterval)
	assert.Equal(t, 5, c.Consecutive5xx)
	assert.Equal(t, 1, c.Retries)
	assert.Equal(t, 100*time.Millisecond, c.BudgetWait)
}

func TestBackendIsReadAsWritten(t *testing.T) {
	cases := map[string]lb.Backend{
		"b1=127.0.0.1:9001":        {Name: "b1", Address: "127.0.0.1:9001", Weight: 1},
		"b1=[::1]:9001,weight=5":   {Name: "b1", Address: "[::1]:9001", Weight: 5},
		"b-1=backend.example:9001": {Name: "b-1", Address: "backend.example:9001", Weight: 1},
	}
	for text, want := range cases {
		var b Backend
		require.NoError(t, b.UnmarshalText([]byte(text)), text)
		assert.Equal(t, want, b.Backend)
		assert.Equal(t, text, b.String())
	}
}

func TestBadBackendIsRefusedWithWhatIsAccepted(t *testing.T) {
	cases := map[string]string{
		"b1":                         "no address; accepted: NAME=HOST:PORT",
		"=127.0.0.1:9001":            "without a name; accepted: ",
		"b 1=127.0.0.1:9001":         "accepted: 1 to 32 letters",
		"b1=127.0.0.1":               "without a port; accepted: ",
		"b1=:9001":                   "without a host; accepted: ",
		"b1=127.0.0.1:0":             "its port is not 1 to 65535; accepted: ",
		"b1=127.0.0.1:x":             "its port is not 1 to 65535; accepted: ",
		"b1=http://127.0.0.1:1":      "not HOST:PORT; accepted: ",
		"b1=127.0.0.1:1,weight=0":    "weight 0 outside 1 to 1000",
		"b1=127.0.0.1:1,weight=-1":   "weight -1 outside 1 to 1000",
		"b1=127.0.0.1:1,weight=NaN":  "not a whole number; accepted: 1 to 1000",
		"b1=127.0.0.1:1,colour=blue": `unknown part "colour=blue"; accepted: weight=1`,
	}
	for text, says := range cases {
		var b Backend
		assert.ErrorContains(t, b.UnmarshalText([]byte(text)), says, text)
	}
}

func TestEveryFaultIsReportedAtOnce(t *testing.T) {
	c := Default()
	c.Listen, c.HashOn, c.StickyCookie, c.CheckPath, c.TableSize = "nowhere", "colour", "a b", "health", 12
	b := Backend{lb.Backend{Name: "b1", Address: "127.0.0.1:1", Weight: 1}}
	c.Backends = []Backend{b, b}
	err := c.Check()
	for _, says := range []string{
		`--listen "nowhere": without a port`, `--hash-on "colour": unknown`, `--sticky-cookie "a b": not a cookie's name`,
		`--check-path "health": not a path`, "--table-size 12: not a prime", "--backend b1=127.0.0.1:1: the name is taken",
	} {
		assert.ErrorContains(t, err, says)
	}
	c.Backends = nil
	assert.ErrorIs(t, c.Check(), ErrNoBackends)
}

func TestWarningsNameWhatCannotWork(t *testing.T) {
	c := Default()
	c.Backends = make([]Backend, 3)
	assert.Empty(t, c.Warnings())
	c.MaxEjectionPercent = 10
	require.Len(t, c.Warnings(), 1)
	assert.Contains(t, c.Warnings()[0], "can never eject")
	c.CheckInterval, c.Consecutive5xx = 0, 0
	require.Len(t, c.Warnings(), 1)
	assert.Contains(t, c.Warnings()[0], "both off")
}

func TestPrintedConfigurationIsJSONByFlagNames(t *testing.T) {
	c := Default()
	require.NoError(t, c.Params().Lookup("backend").Set("b1=127.0.0.1:9001,weight=2"))
	text, err := c.JSON()
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Equal(t, []any{"b1=127.0.0.1:9001,weight=2"}, got["backend"])
	assert.Equal(t, 2.0, got["check-interval"])
	assert.Equal(t, 0.1, got["budget-wait"])
	assert.Equal(t, false, got["drain-sticky"])
	assert.Len(t, got, len(c.Params().All()))
}
