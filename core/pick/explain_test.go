package pick

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
	"minilb/core/stat"
)

var update = flag.Bool("update", false, "write testdata anew")

// TestEveryPolicySaysWhyItChose holds the words against a transcript, and
// checks that each explanation names the backend that was chosen.
func TestEveryPolicySaysWhyItChose(t *testing.T) {
	var text strings.Builder
	for _, policy := range All {
		for _, weights := range [][]int{{1, 1, 1}, {5, 1, 1}} {
			loads := new(lb.Loads)
			var backends []lb.Backend
			for i, name := range []string{"a", "b", "c"} {
				backends = append(backends, lb.Backend{Name: name, Weight: weights[i]})
				loads.Store(i, []int{4, 1, 1}[i])
			}
			c := Config{RingPoints: 160, TableSize: 65537, Choices: 2, HashBalanceFactor: 1.25}
			explainTo(t, &text, policy, c, lb.NewSet(backends, loads))
		}
	}
	golden := filepath.Join("testdata", "explain.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), text.String())
}

func explainTo(t *testing.T, text *strings.Builder, policy Policy, c Config, set *lb.Set) {
	pickers, err := policy.Pickers(c)
	require.NoError(t, err)
	p := pickers(set)
	for n, key := range []string{"alice", ""} {
		q := lb.Query{Rand: stat.Word(1, 0, uint64(n), 0), Hash: Hash(key), HasKey: key != ""}
		chosen := p.Pick(q)
		why := strings.Join(Explain(p, q, chosen), "\n    ")
		assert.Contains(t, why, set.Backend(chosen).Name, policy.Name)
		text.WriteString(policy.Name + " -> " + set.Backend(chosen).Name + "\n    " + why + "\n")
	}
}

func TestWithoutBackendsThereIsNothingToExplain(t *testing.T) {
	pickers, err := All[0].Pickers(Config{TableSize: 7})
	require.NoError(t, err)
	p := pickers(lb.NewSet(nil, new(lb.Loads)))
	assert.Equal(t, []string{"no backend is usable"}, Explain(p, lb.Query{}, -1))
}
