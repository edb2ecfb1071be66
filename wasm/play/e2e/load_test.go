package e2e

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// servePacked serves the site as minilb's own server does: what has a .gz beside it goes out as that, and what is asked
// for by its version may be kept.
func servePacked(t *testing.T) string {
	t.Helper()
	site := siteFS()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		kinds := map[string]string{".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
		if kind := kinds[path.Ext(name)]; kind != "" {
			w.Header().Set("Content-Type", kind+"; charset=utf-8")
		}
		if _, err := fs.Stat(site, name+".gz"); err == nil {
			w.Header().Set("Content-Encoding", "gzip")
			name += ".gz"
		}
		http.ServeFileFS(w, r, site, name)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// firstUse notes, on the page's own clock, when its numbers are painted and the controls are there.
const firstUse = `document.addEventListener("DOMContentLoaded", () => {
	const main = document.getElementById("main");
	new MutationObserver(() => {
		if (!main.dataset.link || window.usable) return;
		window.usable = -1;
		requestAnimationFrame(() => setTimeout(() => { window.usable = document.getElementById("rate") ? performance.now() : NaN; }));
	}).observe(main, {attributes: true});
});`

// A phone on a slow network, as Lighthouse imagines it. The numbers are printed, never asserted: the machine may be busy.
func TestTheFirstVisitOnASlowPhone(t *testing.T) {
	p := openTab(t, 360, 740)
	p.site = servePacked(t)
	const megabit = 1e6 / 8
	_, err := chromedp.Call(p.ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	_, err = chromedp.Call(p.ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Latency: 150, DownloadThroughput: 1.6 * megabit, UploadThroughput: 0.75 * megabit}},
	})
	require.NoError(t, err)
	_, err = chromedp.Call(p.ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 4})
	require.NoError(t, err)
	_, err = chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: firstUse})
	require.NoError(t, err)

	run(p, chromedp.Navigate(p.site))
	p.wait(`window.usable > 0`)
	t.Logf("first paint %.0f ms, usable %.0f ms", p.number(`performance.getEntriesByName("first-contentful-paint")[0].startTime`), p.number(`window.usable`))
	t.Log(p.text(`performance.getEntriesByType("resource").filter((r) => r.transferSize > 9000 || /wasm/.test(r.name))
		.map((r) => r.name.replace(/.*\//, "").replace(/\?.*/, "") + " " + Math.round(r.transferSize / 1000) + " kB " + Math.round(r.startTime) + "–" + Math.round(r.responseEnd) + " ms").join(", ")`))
	assert.Contains(t, p.verdict(), "checkout3", fmt.Sprintf("%s shows its sentence", p.site))
}
