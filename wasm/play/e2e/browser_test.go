package e2e

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

const dist = "../../../site/dist"

// patience is for a machine that builds and tests other things at the same time.
const patience = 60 * time.Second

// serveSite serves site/dist under a sub-path, as minilb itself does, and returns the page's address.
func serveSite(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"index.html", "minilb.wasm.zst", "wasm_exec.js", "uPlot.iife.min.js"} {
		_, err := os.Stat(filepath.Join(dist, name))
		require.NoError(t, err, "the page is not built: run `make site` first")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/_minilb/play/", http.StripPrefix("/_minilb/play", http.FileServerFS(siteFS())))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return fmt.Sprintf("http://%s/_minilb/play/", listener.Addr())
}

func siteFS() fs.FS { return os.DirFS(dist) }

// findBrowser names what is missing instead of skipping: a page that nobody opened is not tested.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("Chromium is missing: install it, for example with apt-get install chromium")
	return ""
}

// A tab is the page in a browser of its own with an empty profile, and everything that it complained about.
type tab struct {
	t    *testing.T
	ctx  context.Context
	site string

	mutex      sync.Mutex
	complaints []string
}

// browser is started once for all tests; every tab gets a profile of its own in it, as a private window would.
var browser struct {
	sync.Once
	ctx  context.Context
	stop []func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range browser.stop {
		stop()
	}
	os.Exit(code)
}

func startBrowser(t *testing.T) {
	t.Helper()
	profile, err := os.MkdirTemp("", "minilb-browser-")
	require.NoError(t, err)
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(findBrowser(t)), chromedp.UserDataDir(profile), chromedp.WindowSize(1280, 900)}
	for _, flag := range []string{"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run",
		"disable-background-networking", "disable-component-update", "disable-sync", "hide-scrollbars"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	browser.ctx = ctx
	browser.stop = []func(){closeBrowser, stop, func() { _ = os.RemoveAll(profile) }}
	require.NoError(t, chromedp.Do(ctx)) // starts the browser before anybody listens to it
}

// openTab opens an empty tab of that size.
func openTab(t *testing.T, width, height int64) *tab {
	t.Helper()
	site := serveSite(t)
	browser.Do(func() { startBrowser(t) })
	require.NotNil(t, browser.ctx, "the browser did not start")
	ctx, closeTab := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, height)))
	p := &tab{t: t, ctx: ctx, site: site}
	go p.listen(chromedp.Console(ctx))
	return p
}

// listen collects errors and warnings: exceptions, refused loads and broken content policies among them.
func (p *tab) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range messages {
		if err != nil {
			return // the browser is gone
		}
		if m.IsException() || m.Type == "error" || m.Type == "warning" || strings.Contains(m.Text, "panic:") {
			p.mutex.Lock()
			p.complaints = append(p.complaints, m.String()+" "+m.URL)
			p.mutex.Unlock()
		}
	}
}

// quiet asserts that the browser complained about nothing.
func (p *tab) quiet() {
	p.t.Helper()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	require.Empty(p.t, p.complaints, "what the browser complained about")
}

// run does something in the browser, within the test's patience.
func run[T any](p *tab, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	require.NoError(p.t, err)
	return value
}

// open goes to the page with a fragment, through a blank page so that it is always a fresh load.
func (p *tab) open(fragment string) {
	p.t.Helper()
	run(p, chromedp.Navigate("about:blank"))
	run(p, chromedp.Navigate(p.site+fragment))
	p.settle()
}

// follow goes to another fragment as a link on the page itself would: nothing is loaded anew.
func (p *tab) follow(fragment string) {
	p.t.Helper()
	p.do(fmt.Sprintf("location.hash = %q", fragment))
	p.settle()
}

// wait asks until the answer is true. The page's content policy forbids the usual way, which compiles text there.
func (p *tab) wait(condition string) {
	p.t.Helper()
	for end := time.Now().Add(patience); !run(p, chromedp.Evaluate[bool]("!!("+condition+")")); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			require.FailNow(p.t, "waited in vain", "%s\naddress: %s\nverdict: %s\ncomplaints: %v", condition,
				run(p, chromedp.Evaluate[string]("location.hash")), p.verdict(), p.complaints)
		}
	}
}

// settle waits until the page shows the results of the scenario in its address bar.
func (p *tab) settle() {
	p.t.Helper()
	p.wait(`(() => {
		const main = document.getElementById("main");
		return main && (main.dataset.state === "failed" || main.dataset.state === "idle" && main.dataset.link === location.hash);
	})()`)
	require.Equal(p.t, "idle", p.text(`document.getElementById("main").dataset.state`), "%s\n%v", p.verdict(), p.complaints)
}

func (p *tab) text(expression string) string {
	p.t.Helper()
	return run(p, chromedp.Evaluate[string](expression))
}

func (p *tab) number(expression string) float64 {
	p.t.Helper()
	return run(p, chromedp.Evaluate[float64](expression))
}

func (p *tab) do(script string) {
	p.t.Helper()
	run(p, chromedp.Evaluate[chromedp.Void]("{"+script+"}"))
}

func (p *tab) hash() string    { return p.text(`location.hash`) }
func (p *tab) results() string { return p.text(`document.getElementById("results-json").textContent`) }
func (p *tab) verdict() string { return p.text(`document.getElementById("verdict").textContent`) }
func (p *tab) notice() string {
	return p.text(`document.getElementById("notice").hidden ? "" : document.querySelector("#notice p").textContent`)
}

// slide moves a slider as a hand does: its value changes and it tells so.
func (p *tab) slide(id string, position int) {
	p.t.Helper()
	p.do(fmt.Sprintf(`
		const slider = document.getElementById(%q);
		slider.value = %d;
		slider.dispatchEvent(new Event("input", {bubbles: true}));
		slider.dispatchEvent(new Event("change", {bubbles: true}));`, id+"-slider", position))
}

func (p *tab) press(selector string) {
	p.t.Helper()
	p.do(fmt.Sprintf(`document.querySelector(%q).click()`, selector))
}

// staticVerdict is the sentence in the page as it is served, before any program has run.
func staticVerdict(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dist, "index.html"))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), `<p id="verdict" aria-live="polite">`)
	require.True(t, found)
	sentence, _, _ := strings.Cut(after, "</p>")
	return sentence
}
