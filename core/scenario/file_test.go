package scenario_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
)

// goldenLinks are the links of every release, of which each is one line that begins at the margin.
func goldenLinks(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/v1-links.txt")
	require.NoError(t, err)
	var links []string
	for _, line := range strings.Split(string(text), "\n") {
		if line != "" && line[0] != ' ' && !strings.HasPrefix(line, "# ") {
			links = append(links, line)
		}
	}
	for _, p := range scenario.Presets {
		links = append(links, p.Link)
	}
	return links
}

func TestAFileSaysWhatItsLinkSays(t *testing.T) {
	for _, link := range goldenLinks(t) {
		s, err := scenario.Decode(link)
		require.NoError(t, err, link)
		for form, text := range map[string][]byte{"JSON": scenario.ToJSON(s), "YAML": scenario.ToYAML(s)} {
			back, err := scenario.FromFile(text)
			require.NoError(t, err, "%s\n%s", form, text)
			assert.Equal(t, scenario.Encode(s), scenario.Encode(back), "%s\n%s", form, text)
		}
	}
}

func TestAFileReadsAsPeopleWriteIt(t *testing.T) {
	cases := []struct{ claim, text, want string }{
		{"JSON", `{"rate": 120, "algorithm": ["p2c"], "backend": [{"name": "a", "mean": 20, "errors": 0.5}]}`, "#v1;algorithm=p2c;rate=120;backend=a:20,errors:0.5"},
		{"a backend as text", `{"backend": ["a=20,errors=1", "b:5"]}`, "#v1;backend=a:20,errors:1;backend=b:5"},
		{"a backend without its mean", `{"backend": [{"name": "a"}]}`, "#v1;backend=a:20"},
		{"one policy without a list", `{"algorithm": "p2c"}`, "#v1;algorithm=p2c"},
		{"a duration with its unit", `{"check-interval": "200ms"}`, "#v1;check-interval=0.2"},
		{"an unknown key is kept", `{"later": "yes"}`, "#v1;later=yes"},
		{"a link in a text file", " #v1;rate=120\n", "#v1;rate=120"},
		{"YAML", "# an experiment\nrate: 120 # per second\nalgorithm:\n  - p2c\nbackend:\n  - name: a\n    mean: 20\n    errors: 0.5\n  - b=5\n", "#v1;algorithm=p2c;rate=120;backend=a:20,errors:0.5;backend=b:5"},
		{"lists at the margin, quotes and lists in brackets", "algorithm: [\"p2c\", \"maglev\"]\nbackend:\n- {\"name\": \"a\", \"mean\": 7}\ncheck-path: '/it''s'\n", "#v1;algorithm=p2c;algorithm=maglev;backend=a:7;check-path=_2Fit_27s"},
	}
	for _, c := range cases {
		s, err := scenario.FromFile([]byte(c.text))
		if assert.NoError(t, err, c.claim) {
			assert.Equal(t, c.want, scenario.Encode(s), c.claim)
		}
	}
}

func TestABrokenFileIsExplained(t *testing.T) {
	cases := []struct{ claim, text, want string }{
		{"not JSON", `{"rate": `, "not JSON"},
		{"more after the object", `{} {}`, "something follows"},
		{"out of range, and all at once", `{"rate": -1, "seed": "x"}`, "rate=-1"},
		{"all at once", `{"rate": -1, "seed": "x"}`, "seed=x"},
		{"another version", `{"version": "v9"}`, "unknown, so the file cannot be read safely"},
		{"null", `{"rate": null}`, "a value of a kind"},
		{"twice", `{"rate": 1, "rate": 2}`, "more than once"},
		{"nested without end", `{"a": [[[[[[[[1]]]]]]]]}`, "levels of nesting"},
		{"script for a name", `{"backend": [{"name": "<script>", "mean": 1}]}`, "backend="},
		{"a part smuggled in", `{"backend": [{"name": "a,weight=3", "mean": 1}]}`, "not a part"},
		{"nothing", "", "nothing in it"},
		{"YAML without a colon", "rate 120", "line 1"},
		{"YAML with an anchor", "rate: &x 3", "line 1"},
		{"YAML with a tab", "backend:\n\t- a", "line 2"},
		{"an item under a value", "rate: 3\n- 4", "line 2"},
		{"too long", strings.Repeat("#", 300<<10), "too long for a scenario"},
	}
	for _, c := range cases {
		_, err := scenario.FromFile([]byte(c.text))
		if assert.Error(t, err, c.claim) {
			assert.Contains(t, err.Error(), c.want, c.claim)
		}
	}
}

func FuzzFromFile(f *testing.F) {
	f.Add([]byte(`{"rate": 120, "backend": [{"name": "a", "mean": 20}]}`))
	f.Add([]byte("rate: 120\nbackend:\n  - name: a\n    mean: 20\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := scenario.FromFile(text)
		if err != nil || len(s.Unknown) > 0 {
			return
		}
		back, err := scenario.FromFile(scenario.ToJSON(s))
		require.NoError(t, err)
		assert.Equal(t, scenario.Encode(s), scenario.Encode(back))
	})
}
