package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/browser"
	devtools "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
)

func TestASharedLinkOpensTheSameScenarioAndSaysThatTheResultIsTheSame(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1;algorithm=p2c;seed=7")
	before := p.results()
	p.press(`[data-share="open"]`)
	p.wait(`document.querySelector("#qr svg path")`)
	link := p.text(`document.getElementById("share-link").value`)
	assert.Regexp(t, `/_minilb/play/#v1;algorithm=p2c;seed=7;e=\d+;r=[0-9a-f]{8}$`, link)
	assert.Equal(t, "minilb simulate --scenario 'v1;algorithm=p2c;seed=7'", p.text(`document.getElementById("share-command").value`))
	assert.Contains(t, p.text(`document.getElementById("share-embed").value`), "/_minilb/play/embed.html#v1;algorithm=p2c;seed=7;e=")

	_, fragment, _ := strings.Cut(link, "#")
	reader := openTab(t, 1280, 900)
	reader.open("#" + fragment)
	assert.Equal(t, before, reader.results())
	assert.Equal(t, "Same result as the sender.", reader.text(`document.getElementById("sender").textContent`))
	assert.Equal(t, "#v1;algorithm=p2c;seed=7", reader.hash())
	reader.open("#v1;algorithm=p2c;seed=7;e=1;r=00000000")
	assert.Contains(t, reader.text(`document.getElementById("sender").textContent`), "The engine has changed since")
	reader.follow("#v1;seed=8")
	assert.Empty(t, reader.text(`document.getElementById("sender").textContent`))
	p.quiet()
	reader.quiet()
}

func TestAnEmbeddedPageShowsChartsAndVerdictAndOpensTheSameScenario(t *testing.T) {
	p := openTab(t, 800, 700)
	p.openFile("embed.html", "#v1;seed=9")
	assert.Equal(t, native(t, "#v1;seed=9"), p.results())
	assert.Equal(t, p.site+"#v1;seed=9", p.text(`document.getElementById("whole").href`))
	for _, c := range []struct {
		at   string
		want bool
	}{{"#verdict", true}, {"#latency canvas", true}, {"#whole", true}, {"#controls", false}, {"#compare", false}, {"#incidents", false}, {"#share-dialog", false}} {
		assert.Equal(t, c.want, p.visible(c.at), c.at)
	}
	p.quiet()
}

// openFile opens another file of the site.
func (p *tab) openFile(name, fragment string) {
	p.t.Helper()
	run(p, chromedp.Navigate("about:blank"))
	run(p, chromedp.Navigate(p.site+name+fragment))
	p.settle()
}

func (p *tab) visible(selector string) bool {
	p.t.Helper()
	return p.number(`Number(document.querySelector("`+selector+`").getClientRects().length > 0)`) == 1
}

// drop is a file that a hand lets go over the page.
func (p *tab) drop(name, content string) {
	p.t.Helper()
	p.do(`
		const data = new DataTransfer();
		data.items.add(new File([` + quoted(content) + `], ` + quoted(name) + `));
		document.body.dispatchEvent(new DragEvent("dragover", {bubbles: true, cancelable: true, dataTransfer: data}));
		document.body.dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: data}));`)
}

func quoted(text string) string {
	return "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`", "$", "\\$").Replace(text) + "`"
}

func TestAFileDroppedOnThePageIsOpenedOrExplained(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1")
	for _, c := range []struct{ name, text, want string }{
		{"a.json", `{"algorithm": ["p2c"], "seed": 5}`, "#v1;algorithm=p2c;seed=5"},
		{"b.yaml", "algorithm: maglev\nbackend:\n  - name: x\n    mean: 7\n  - y=9\n", "#v1;algorithm=maglev;backend=x:7;backend=y:9"},
		{"c.txt", "https://example.org/#v1;seed=6", "#v1;seed=6"},
	} {
		p.drop(c.name, c.text)
		p.wait(`location.hash === ` + quoted(c.want))
		p.settle()
		assert.Equal(t, native(t, c.want), p.results(), c.name)
		assert.Empty(t, p.notice(), c.name)
	}
	for _, bad := range []string{"", "<script>alert(1)</script>", `{"rate": -1}`, `{"backend": [{"name": "<img src=x onerror=alert(1)>", "mean": 1}]}`} {
		p.drop("bad.json", bad)
		p.wait(`!document.getElementById("notice").hidden`)
		assert.Contains(t, p.notice(), "bad.json is no scenario that can be read")
		assert.Equal(t, "#v1;seed=6", p.hash())
		p.press(`[data-do="dismiss"]`)
	}
	p.quiet()
}

func TestEverythingThatIsSavedArrivesAsAFile(t *testing.T) {
	p := openTab(t, 1280, 900)
	folder := t.TempDir()
	_, err := chromedp.CallBrowser(p.ctx, cdp.SetDownloadBehavior, cdp.SetDownloadBehaviorParams{
		Behavior: cdp.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder, BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID,
	})
	require.NoError(t, err)
	link := "#v1;algorithm=p2c;backend=a:20;backend=b:30"
	p.open(link)
	p.press(`[data-share="open"]`)
	s, err := scenario.Decode(link)
	require.NoError(t, err)
	for _, c := range []struct{ press, name, want string }{
		{`.files [data-share="json"]`, "minilb-scenario.json", string(scenario.ToJSON(s))},
		{`.files [data-share="yaml"]`, "minilb-scenario.yaml", string(scenario.ToYAML(s))},
		{`.files [data-share="results"]`, "minilb-results.json", native(t, link)},
		{`.files [data-share="csv"]`, "minilb-results.csv", "algorithm,"},
		{`.files [data-share="series"]`, "minilb-charts.csv", "in_flight_b_requests"},
		{`#latency [data-share="svg"]`, "minilb-latency.svg", "<svg xmlns="},
		{`#share [data-share="svg"]`, "minilb-share.svg", "<title>"},
		{`#latency [data-share="png"]`, "minilb-latency.png", "PNG"},
	} {
		p.press(c.press)
		assert.Contains(t, p.saved(filepath.Join(folder, c.name)), c.want, c.name)
	}
	if shots := os.Getenv("MINILB_SHOTS"); shots != "" {
		require.NoError(t, os.CopyFS(filepath.Join(shots, "saved-"+time.Now().Format("150405")), os.DirFS(folder)))
	}
	p.quiet()
}

// saved waits for a download to be whole.
func (p *tab) saved(name string) string {
	p.t.Helper()
	var text []byte
	require.Eventually(p.t, func() bool {
		text, _ = os.ReadFile(name)
		return len(text) > 0
	}, patience, 20*time.Millisecond, name)
	return string(text)
}

func TestTheDialogWorksByKeyboardAlone(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1")
	p.do(`document.querySelector("[data-share='open']").focus()`)
	run(p, chromedp.KeyEvent(kb.Enter))
	p.wait(`document.getElementById("share-dialog").open`)
	assert.Equal(t, "true", p.text(`String(document.getElementById("share-dialog").contains(document.activeElement))`))
	run(p, chromedp.KeyEvent(kb.Escape))
	p.wait(`!document.getElementById("share-dialog").open`)
	assert.Equal(t, "open", p.text(`document.activeElement.dataset.share`), "the focus comes back")
	p.quiet()
}

func TestThePresentationShowsWhatARoomCanRead(t *testing.T) {
	p := openTab(t, 1280, 720)
	p.open("")
	p.press(`[data-share="present"]`)
	assert.False(t, p.visible("#controls"))
	assert.True(t, p.visible("#verdict"))
	assert.GreaterOrEqual(t, p.number(`parseFloat(getComputedStyle(document.getElementById("verdict")).fontSize)`), 30.0)
	p.picture("present")
	run(p, chromedp.KeyEvent(kb.Escape))
	p.wait(`document.documentElement.dataset.view === undefined`)
	assert.True(t, p.visible("#controls"))
	p.quiet()
}

// picture leaves a screenshot for people, in the folder that MINILB_SHOTS names.
func (p *tab) picture(name string) {
	p.t.Helper()
	if folder := os.Getenv("MINILB_SHOTS"); folder != "" {
		require.NoError(p.t, os.WriteFile(filepath.Join(folder, name+".png"), run(p, chromedp.CaptureScreenshot()), 0o600))
	}
}

// before has a script run before everything of the next page.
func (p *tab) before(script string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, devtools.AddScriptToEvaluateOnNewDocument, devtools.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	require.NoError(p.t, err)
}
