package site

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPlaceholderSaysWhatToRun(t *testing.T) {
	page, err := fs.ReadFile(FS(), "placeholder.html")
	require.NoError(t, err)
	assert.Contains(t, string(page), "make site")
}

func TestBuiltAsksForThePage(t *testing.T) {
	page := &fstest.MapFile{Data: []byte("<!doctype html>")}
	cases := []struct {
		claim string
		dist  fstest.MapFS
		want  bool
	}{
		{"nothing but the placeholder is not a site", fstest.MapFS{"placeholder.html": page}, false},
		{"a program without its page is not a site", fstest.MapFS{"minilb.wasm": page}, false},
		{"a folder of that name is not the page", fstest.MapFS{"index.html/a": page}, false},
		{"the page makes it a site", fstest.MapFS{"index.html": page}, true},
	}
	for _, c := range cases {
		t.Run(c.claim, func(t *testing.T) { assert.Equal(t, c.want, built(c.dist)) })
	}
}

func TestABuiltSiteIsWhole(t *testing.T) {
	if !Built() {
		return // TestPlaceholderSaysWhatToRun covers this state; make test builds the site and asks again
	}
	for _, name := range []string{"minilb.wasm.zst", "fzstd.js", "qrcode.js", "sw.js", "embed.html", "wasm_exec.js", "uPlot.iife.min.js", "fr.json"} {
		info, err := fs.Stat(FS(), name)
		if assert.NoError(t, err) {
			assert.Positive(t, info.Size(), name)
		}
	}
	page, err := fs.ReadFile(FS(), "index.html")
	require.NoError(t, err)
	assert.Contains(t, string(page), "<style>", "the styles stand in the page")
	assert.NotContains(t, string(page), ".css", "and nowhere else")
}
