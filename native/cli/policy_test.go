package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestServeReadsAPolicyFileAndFlagsWin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	cases := []struct {
		file, flags string
		exit        int
		says        []string
	}{
		{"algorithm: p2c\nfall: 7\nbackends: [a=h:1]", "", 0, []string{`"algorithm": "p2c"`, `"fall": 7`, `"backend": ["a=h:1"]`}},
		{"algorithm: p2c\nbackends: [a=h:1]", "--algorithm first --backend b=h:2", 0, []string{`"algorithm": "first"`, `"backend": ["b=h:2"]`}},
		{"algoritm: p2c\nfall: 0", "", 2, []string{"serve: " + path + `:1:1: "algoritm": unknown parameter; did you mean algorithm?`, "serve: " + path + ":2:7: fall=0: outside 1 to 100 probes"}},
		{"fall: 2", "", 2, []string{path + ":1:1: backend: none given"}},
		{"fall: 2", "--fall 0", 2, []string{"--fall 0: outside 1 to 100 probes"}},
		{"backends: [a=h:1]\nhash-on: x", "", 2, []string{path + `:2:1: hash-on "x": unknown`}},
		{"backends: [a=h:1]\npolicy: other", "", 2, []string{path + ":2:1: policy: a file cannot set it"}},
	}
	for _, c := range cases {
		require.NoError(t, os.WriteFile(path, []byte(c.file), 0o600))
		var out, log strings.Builder
		args := append([]string{"serve", "--print-config", "--policy", path}, strings.Fields(c.flags)...)
		assert.Equal(t, c.exit, Run(context.Background(), args, &out, &log), c.file)
		for _, says := range c.says {
			assert.Contains(t, out.String()+log.String(), says, c.file)
		}
	}
	var log strings.Builder
	assert.Equal(t, 1, Run(context.Background(), []string{"serve", "--policy", path + ".none"}, &log, &log))
	assert.Contains(t, log.String(), "--policy: open "+path+".none: no such file")
}
