package page

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
)

func TestASharedLinkSaysWhichResultItsSenderSaw(t *testing.T) {
	m := Open("#v1;seed=7")
	s := m.Share("https://example.org/play/?x#v1;seed=7", "0123abcd")
	assert.Equal(t, "https://example.org/play/#v1;seed=7;e=1;r=0123abcd", s.Link)
	assert.Equal(t, "minilb simulate --scenario 'v1;seed=7'", s.Command)
	assert.Contains(t, s.Embed, `src="https://example.org/play/embed.html#v1;seed=7;e=1;r=0123abcd"`)
	assert.Equal(t, "https://example.org/play/#v1;seed=7", m.WholePage("https://example.org/play/embed.html#v1;seed=7"))

	reader := Open("#v1;seed=7;e=1;r=0123abcd")
	assert.Equal(t, "Same result as the sender.", reader.Sender("0123abcd"))
	assert.Contains(t, reader.Sender("ffffffff"), "The engine has changed since")
	assert.Contains(t, Open("#v1;e=99;r=0123abcd").Sender("ffffffff"), "it was version 99")
	assert.Empty(t, reader.Sender(""), "no result yet")
	assert.Empty(t, Open("#v1;seed=7").Sender("0123abcd"), "a link without a digest")
	require.NoError(t, reader.Set("seed", "8"))
	assert.Empty(t, reader.Sender("ffffffff"), "another scenario by now")
}

func TestAFileHasNoEmbedAndALongScenarioNoLink(t *testing.T) {
	assert.Empty(t, Open("#v1").Share("file:///media/stick/minilb.html", "").Embed)
	var b strings.Builder
	b.WriteString("#v1")
	for i := range 60 {
		b.WriteString(";backend=" + strings.Repeat(string(rune('a'+i%26)), 20) + strings.Repeat(string(rune('A'+i/26)), 9) + ":" + "12.34567890123" + string(rune('1'+i%9)) + ",errors:0.1234567" + string(rune('1'+i%7)) + ",weight:" + string(rune('2'+i%7)))
	}
	m := Open(b.String())
	require.Empty(t, m.Notice)
	s := m.Share("https://example.org/", "")
	if scenario.TooLong(m.Link()) {
		assert.Empty(t, s.Link)
		assert.Contains(t, s.Note, "as a file instead")
	}
	assert.True(t, Open("").LoadFile("x.json", []byte(m.JSON())))
}

func TestAFileReplacesTheScenarioOrChangesNothing(t *testing.T) {
	m := Open("#v1;seed=3")
	for _, text := range []string{m.JSON(), m.YAML(), "#v1;seed=3"} {
		other := Open("#v1;rate=99")
		require.True(t, other.LoadFile("s", []byte(text)), other.Notice)
		assert.Equal(t, "#v1;seed=3", other.Link())
	}
	for _, text := range []string{"", "{", "<html>", `{"rate": -1}`, `{"algorithm": "maglev", "table-size": 100}`} {
		assert.False(t, m.LoadFile("bad.json", []byte(text)), text)
		assert.Contains(t, m.Notice, "bad.json is no scenario that can be read")
		assert.Equal(t, "#v1;seed=3", m.Link())
	}
}
