package scenario_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/param"
	"minilb/core/scenario"
)

// A golden link and what it says that the defaults do not, as name=value lines.
type goldenLink struct {
	link  string
	lines []string
}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var lines []string
	for _, line := range strings.Split(string(data), "\n") {
		if line != "" && !strings.HasPrefix(line, "# ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// defaults is v1's defaults as the golden file has them, those of a backend's parts included.
func defaults() []string {
	s := scenario.Default()
	lines := describe(s.Params(), "", func(*param.Param) bool { return true })
	parts := param.Of(&scenario.Parts{})
	parts.Reset(param.Scenario)
	return append(lines, describe(parts, "backend.", func(*param.Param) bool { return true })...)
}

// describe writes parameters as name=value lines, a list as one line for each element.
func describe(set *param.Set, prefix string, wanted func(*param.Param) bool) []string {
	var lines []string
	for _, p := range set.All() {
		if !wanted(p) {
			continue
		}
		texts := p.Texts()
		for _, text := range texts {
			lines = append(lines, prefix+p.Name+"="+text)
		}
		if len(texts) == 0 {
			lines = append(lines, prefix+p.Name+" is empty")
		}
	}
	return lines
}

func different(s scenario.Scenario) []string {
	lines := describe(s.Params(), "", func(p *param.Param) bool { return p.Changed(param.Scenario) })
	for _, u := range s.Unknown {
		lines = append(lines, "unknown "+u.Key+"="+u.Value)
	}
	return lines
}

func TestDefaultsOfV1NeverChange(t *testing.T) {
	frozen := readLines(t, "testdata/v1-defaults.txt")
	now := defaults()
	for _, line := range frozen {
		assert.Contains(t, now, line, "testdata/v1-defaults.txt says so, and old links rely on it: a changed default is v2")
	}
	for _, line := range now {
		assert.Contains(t, frozen, line, "a new parameter's default is frozen with it: add the line to testdata/v1-defaults.txt (never change one: that is v2)")
	}
}

func readGoldenLinks(t *testing.T) []goldenLink {
	t.Helper()
	var links []goldenLink
	for _, line := range readLines(t, "testdata/v1-links.txt") {
		if said, ok := strings.CutPrefix(line, "  "); ok {
			last := &links[len(links)-1]
			last.lines = append(last.lines, said)
		} else {
			links = append(links, goldenLink{link: line})
		}
	}
	require.NotEmpty(t, links)
	return links
}

func TestOldLinksMeanTheSameForEver(t *testing.T) {
	for _, g := range readGoldenLinks(t) {
		s, err := scenario.Decode(g.link)
		if assert.NoError(t, err, g.link) {
			assert.Equal(t, g.lines, different(s), g.link)
		}
	}
}
