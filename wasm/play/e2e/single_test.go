package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// singleFile makes the one HTML file of the site that is built, as `make site-single` does, in a folder with a name that
// memory sticks have.
func singleFile(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	folder := filepath.Join(t.TempDir(), "a stick")
	require.NoError(t, os.Mkdir(folder, 0o700))
	out := filepath.Join(folder, "minilb.html")
	said, err := exec.Command("node", filepath.Join(root, "scripts/single.mjs"), filepath.Join(root, "site/dist"), out).CombinedOutput()
	require.NoError(t, err, string(said))
	return out
}

func TestTheSingleFileWorksFromAMemoryStick(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.site = "file://" + filepath.Dir(singleFile(t)) + "/minilb.html"
	p.open("#v1;seed=5")
	assert.Equal(t, native(t, "#v1;seed=5"), p.results())
	assert.Equal(t, p.number(`document.querySelectorAll(".plot canvas").length`) > 1, true)
	p.slide("rate", 40)
	p.settle()
	assert.Equal(t, native(t, p.hash()), p.results(), "a change, in a worker made of a Blob")
	p.press(`[data-share="open"]`)
	assert.Contains(t, p.text(`document.getElementById("share-link").value`), "minilb.html#v1;")
	assert.Equal(t, 0.0, p.number(`document.querySelectorAll("#share-embed").length`), "a file has no address to embed")
	assert.Empty(t, p.text(`performance.getEntriesByType("resource").map((r) => r.name).filter((n) => !n.startsWith("blob:") && !n.startsWith("data:")).join(" ")`))
	run(p, chromedp.Reload())
	p.settle()
	assert.Equal(t, native(t, p.hash()), p.results())
	p.quiet()
}
