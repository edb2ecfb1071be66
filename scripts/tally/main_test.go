package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const run = `{"Action":"build-output","ImportPath":"x","Output":"x.go:1: warning\n"}
{"Action":"run","Package":"x","Test":"TestA"}
{"Action":"output","Package":"x","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"x","Test":"TestA","Output":"quiet when it passes\n"}
{"Action":"pass","Package":"x","Test":"TestA"}
{"Action":"run","Package":"x","Test":"TestB"}
{"Action":"output","Package":"x","Test":"TestB","Output":"why it failed\n"}
{"Action":"fail","Package":"x","Test":"TestB"}
{"Action":"run","Package":"x","Test":"TestC"}
{"Action":"output","Package":"x","Test":"TestC","Output":"why it was skipped\n"}
{"Action":"skip","Package":"x","Test":"TestC"}
{"Action":"run","Package":"x","Test":"TestD"}
{"Action":"output","Package":"x","Test":"TestD","Output":"panic: boom\n"}
go: not an event
{"Action":"output","Package":"x","Output":"PASS\n"}
{"Action":"output","Package":"x","Output":"FAIL\tx\t0.1s\n"}
{"Action":"fail","Package":"x"}
`

func TestFailuresAndSkipsAreShownAndAllAreCounted(t *testing.T) {
	var out strings.Builder
	tally := newTally(&out)
	require.NoError(t, tally.read(strings.NewReader(run)))
	assert.Equal(t, []int{1, 2, 1}, []int{tally.passed, tally.failed, tally.skipped})
	assert.Equal(t, "x.go:1: warning\nwhy it failed\nwhy it was skipped\ngo: not an event\nFAIL\tx\t0.1s\npanic: boom\n",
		out.String())
}

func TestCountsOfSeveralRunsAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "counts")
	for range 2 {
		require.NoError(t, (&tally{passed: 3, failed: 1}).appendTo(file))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "3 1 0\n3 1 0\n", string(text))
}
