package e2e

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A switchedSite is the site under a sub-path on a server that can be switched off, and whose files can be replaced.
type switchedSite struct {
	*httptest.Server
	mutex sync.Mutex
	off   bool
	files fs.FS
	asked map[string]int
}

func newSwitchedSite(t *testing.T) *switchedSite {
	s := &switchedSite{files: siteFS(), asked: map[string]int{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *switchedSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	off, files := s.off, s.files
	s.asked[r.URL.Path]++
	s.mutex.Unlock()
	if off {
		if connection, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = connection.Close()
		}
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	http.StripPrefix("/deep/down", http.FileServerFS(files)).ServeHTTP(w, r)
}

func (s *switchedSite) set(change func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	change()
}

// kept waits until the service worker has the whole site.
func (p *tab) kept() {
	p.t.Helper()
	p.do(`window.kept = false; navigator.serviceWorker.ready.then((r) => { window.kept = r.active !== null; })`)
	p.wait(`window.kept && navigator.serviceWorker.controller`)
}

func TestThePageWorksOfflineAfterTheFirstVisit(t *testing.T) {
	site := newSwitchedSite(t)
	p := openTab(t, 1280, 900)
	p.site = site.URL + "/deep/down/"
	p.open("#v1;seed=5")
	p.kept()
	site.set(func() { site.off = true })
	site.CloseClientConnections()
	p.open("#v1;seed=6")
	assert.Equal(t, native(t, "#v1;seed=6"), p.results())
	p.press(`[data-share="open"]`)
	p.wait(`document.querySelector("#qr svg path")`)
	p.openFile("embed.html", "#v1;seed=7")
	assert.Equal(t, native(t, "#v1;seed=7"), p.results())
}

func TestANewBuildIsSeenAtOnceAndReplacesWhatWasKept(t *testing.T) {
	site := newSwitchedSite(t)
	p := openTab(t, 1280, 900)
	p.site = site.URL + "/deep/down/"
	p.open("#v1")
	p.kept()
	old := p.text(`minilb.version`)

	site.set(func() { site.files = anotherBuild(t) })
	p.open("#v1")
	assert.NotEqual(t, old, p.text(`minilb.version`))
	p.wait(`(() => { caches.keys().then((names) => { window.names = names.join(" "); }); return window.names && !window.names.includes("` + old[3:] + `"); })()`)
	site.set(func() { site.off = true })
	site.CloseClientConnections()
	p.open("#v1;seed=4")
	assert.NotEqual(t, old, p.text(`minilb.version`))
	assert.Equal(t, native(t, "#v1;seed=4"), p.results())
}

// anotherBuild is the same site with another version in all its names.
func anotherBuild(t *testing.T) fs.FS {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, siteFS()))
	text, err := os.ReadFile(filepath.Join(folder, "sw.js"))
	require.NoError(t, err)
	was := regexp.MustCompile(`const version = "(\w+)"`).FindStringSubmatch(string(text))[1]
	for _, name := range []string{"index.html", "embed.html", "sw.js"} {
		path := filepath.Join(folder, name)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), was, "feedfeedfeed")), 0o600))
	}
	return os.DirFS(folder)
}
