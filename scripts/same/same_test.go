package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestALinkMayBeginWithAHash(t *testing.T) {
	const text = "# a comment\n#\n\n#v1;algorithm=p2c\n  v1;seed=2  \n"
	assert.Equal(t, []string{"#v1;algorithm=p2c", "v1;seed=2"}, readLinks(text))
}

func TestTheFirstDifferingFieldIsNamed(t *testing.T) {
	cases := []struct{ claim, a, b, want string }{
		{"a number deep inside", `{"r":{"p99":[1,2.5]}}`, `{"r":{"p99":[1,2.25]}}`, "r.p99[1]: 2.5 on a, 2.25 on b"},
		{"a last digit that floats cannot hold", `{"n":0.10000000000000001}`, `{"n":0.1}`, "n: 0.10000000000000001 on a, 0.1 on b"},
		{"a field that is absent", `{"x":1}`, `{}`, "x: 1 on a, absent on b"},
		{"null is not absent", `{"x":null}`, `{}`, "x: null on a, absent on b"},
		{"lists of other lengths", `{"x":[1,2]}`, `{"x":[1]}`, "x: 2 values on a, 1 values on b"},
		{"another kind of value", `{"x":"1"}`, `{"x":1}`, `x: "1" on a, 1 on b`},
		{"an object in place of a number", `{"x":{}}`, `{"x":1}`, `x: {} on a, 1 on b`},
		{"the same data written differently", `{"x":1}`, `{"x": 1}`, `byte 5: "1}" on a, " 1}" on b`},
		{"no JSON at all", `abc`, `abd`, `byte 2: "c" on a, "d" on b`},
	}
	for _, c := range cases {
		t.Run(c.claim, func(t *testing.T) {
			assert.Equal(t, c.want, difference("a", []byte(c.a), "b", []byte(c.b)))
		})
	}
}

// printing is a target that prints a fixed result, whatever the link.
func printing(name, result string) target {
	return target{name: name, command: []string{"sh", "-c", "printf '%s\n' '" + result + "'"}}
}

func TestADifferenceFailsTheRunAndTheRestIsStillCompared(t *testing.T) {
	var out bytes.Buffer
	targets := []target{printing("one", `{"x":1}`), printing("two", `{"x":2}`)}
	err := compareAll(&out, targets, []string{"v1;seed=1", "v1;seed=2"})
	require.EqualError(t, err, "2 of 2 scenarios are not the same on every target")
	assert.Contains(t, out.String(), "v1;seed=1\n  x: 1 on one, 2 on two")
	assert.Contains(t, out.String(), "v1;seed=2")
}

func TestEqualResultsAreSaidToBeEqual(t *testing.T) {
	var out bytes.Buffer
	targets := []target{printing("one", `{"x":1}`), printing("two", `{"x":1}`)}
	require.NoError(t, compareAll(&out, targets, []string{"v1;seed=1"}))
	assert.Equal(t, "5041bf1f713d  same on one, two  v1;seed=1\n", out.String())
}

func TestAFailingTargetIsADifference(t *testing.T) {
	var out bytes.Buffer
	broken := target{name: "two", command: []string{"sh", "-c", "echo no such key >&2; exit 1"}}
	require.Error(t, compareAll(&out, []target{printing("one", "{}"), broken}, []string{"v1"}))
	assert.Contains(t, out.String(), "two: exit status 1: no such key")
}

func TestV3NeedsEveryFlag(t *testing.T) {
	assert.Empty(t, missingForV3("model\t: x\nflags\t\t: fpu avx2 fma bmi1 bmi2 sse\nbugs\t:\n"))
	assert.Equal(t, []string{"avx2", "bmi2"}, missingForV3("model\t: x\nflags\t\t: fpu fma bmi1\nbugs: avx2 bmi2\n"))
	assert.Len(t, missingForV3(""), 4)
}
