package e2e

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
)

// TestEveryGoldenLinkStillOpens opens the links of every release in the browser. What a scenario gives is the simulator's
// own tests' business; here a link of old must become that scenario on the page.
func TestEveryGoldenLinkStillOpens(t *testing.T) {
	text, err := os.ReadFile("../../../core/scenario/testdata/v1-links.txt")
	require.NoError(t, err)
	p := openTab(t, 1280, 900)
	p.open("#v1;requests=100")
	opened := 0
	for _, link := range strings.Split(string(text), "\n") {
		if link == "" || link[0] == ' ' || strings.HasPrefix(link, "# ") {
			continue
		}
		s, err := scenario.Decode(link)
		require.NoError(t, err, link)
		runs := s.Check() == nil
		want := scenario.Encode(s)
		if !runs {
			want = scenario.Encode(scenario.Default())
		}
		p.do(`location.hash = "#v1;requests=100"`)
		p.wait(`document.querySelector("#notice").hidden && location.hash === "#v1;requests=100"`)
		p.do(`location.hash = ` + quoted("#"+strings.TrimPrefix(link, "#")))
		p.wait(`location.hash === ` + quoted(want))
		if runs && len(s.Unknown) == 0 {
			assert.Empty(t, p.notice(), link)
		}
		opened++
	}
	assert.Greater(t, opened, 10)
	t.Logf("%d links", opened)
	p.quiet()
}

func TestAtFourHundredPercentNothingScrollsSideways(t *testing.T) {
	p := openTab(t, 320, 256) // 1280 × 1024 at 400%
	for _, language := range []string{"en", "fr"} {
		p.open("")
		p.do(`localStorage.setItem("minilb-language", "` + language + `")`)
		p.open("#v1;algorithm=maglev;algorithm=p2c")
		p.do(`for (const d of document.querySelectorAll("details")) d.open = true`)
		assert.LessOrEqual(t, p.number(`document.documentElement.scrollWidth`), 320.0, language)
		p.press(`[data-share="open"]`)
		assert.LessOrEqual(t, p.number(`document.getElementById("share-dialog").scrollWidth`), 320.0, language)
	}
	p.quiet()
}

func TestWithoutJavaScriptThePageSaysWhatItIs(t *testing.T) {
	p := openTab(t, 1280, 900)
	_, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	require.NoError(t, err)
	run(p, chromedp.Navigate(p.site))
	p.picture("no-javascript")
	tree := run(p, chromedp.Evaluate[string](`document.body.innerText`))
	assert.Contains(t, tree, "minilb simulate")
	assert.Contains(t, tree, "JavaScript")
}

func TestWithoutWebAssemblyThePageSaysWhatToDo(t *testing.T) {
	p := openTab(t, 1280, 900)
	run(p, chromedp.Navigate("about:blank"))
	p.before(`delete globalThis.WebAssembly`)
	run(p, chromedp.Navigate(p.site))
	p.wait(`document.getElementById("main")?.dataset.state === "failed"`)
	assert.Contains(t, p.verdict(), "minilb simulate --help")
	p.quiet()
}

func TestTheLanguageIsChosenInPlaceAndKept(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1;seed=5")
	assert.Equal(t, "en", p.text(`document.documentElement.lang`))
	p.do(`const menu = document.getElementById("language"); menu.value = "fr"; menu.dispatchEvent(new Event("change", {bubbles: true}))`)
	p.eventually(`document.documentElement?.lang === "fr"`)
	p.settle()
	assert.Equal(t, "Partager", p.text(`document.querySelector("[data-share='open']").textContent`))
	assert.Contains(t, p.text(`document.getElementById("seed-help").textContent`), "hasard")
	assert.Equal(t, native(t, "#v1;seed=5"), p.results())
	p.open("#v1;seed=6")
	assert.Equal(t, "fr", p.text(`document.documentElement.lang`))
	p.quiet()
}

// eventually is wait across a reload, in the middle of which there is nobody to ask.
func (p *tab) eventually(condition string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		ctx, cancel := context.WithTimeout(p.ctx, patience)
		defer cancel()
		yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+condition+")"))
		return err == nil && yes
	}, patience, 20*time.Millisecond, condition)
}

func TestAHostileLinkRunsNothing(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1")
	p.do(`window.touched = false`)
	for _, link := range []string{
		`#v1;backend="><img src=x onerror=window.touched=true>:20`,
		`#v1;x=<script>window.touched=true</script>`,
		`#v1;later=_3Cimg_20src_3Dx_20onerror_3Dwindow.touched_3Dtrue_3E0`,
		`#v1;backend=constructor:20;backend=__proto__:20`, `#v1;backend=toString:20;backend=a:20`,
		"#v1;rate=NaN", "#v1;rate=1e400", "#v1;requests=-1", "#v1;e=x;r=zz", "#v1z.!!!!.0", "#" + strings.Repeat("%", 5000), "#v1;" + strings.Repeat("backend=a:20;", 500),
		"#javascript:window.touched=true",
	} {
		p.do(`location.hash = ` + quoted(link))
		p.settle()
		assert.NotEqual(t, "failed", p.text(`document.getElementById("main").dataset.state`), link)
	}
	assert.Equal(t, 0.0, p.number(`Number(window.touched)`))
	p.quiet()
}
