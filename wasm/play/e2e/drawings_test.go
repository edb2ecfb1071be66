package e2e

import (
	"encoding/xml"
	"path/filepath"
	"strings"
	"testing"

	cdp "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manyThings has a ring, a table of keys, faults, ejections, retries and more than six backends, so that every chart has
// something to show.
const manyThings = "#v1;algorithm=ring_hash;algorithm=least_conn;retries=1;retry-on=5xx;consecutive-5xx=5;base-ejection=3;backend=a:20;backend=b:20;" +
	"backend=broken:2,errors:1,errors_after:9;backend=d:20;backend=e:20,crash_at:25;backend=f:20;backend=g:20"

// TestEveryChartLeavesThePageAsPictureVectorAndTable asks each figure for its files: the vector has the chart's title, the
// fault lines with their words, and what the chart alone paints.
func TestEveryChartLeavesThePageAsPictureVectorAndTable(t *testing.T) {
	p := openTab(t, 1280, 900)
	folder := t.TempDir()
	_, err := chromedp.CallBrowser(p.ctx, cdp.SetDownloadBehavior, cdp.SetDownloadBehaviorParams{
		Behavior: cdp.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder, BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID,
	})
	require.NoError(t, err)
	p.open(manyThings)
	p.press(`#shown [value="ring_hash"]`)
	p.settle()
	for _, c := range []struct {
		id    string
		wants []string
	}{
		{"latency", []string{"Latency", "c errors 100%"}},
		{"share", []string{"Share of each backend", "c errors 100%", "<pattern"}},
		{"health", []string{"Health and ejection", "c errors 100%", ">ejected<"}},
		{"inflight", []string{"In flight", "c errors 100%", `opacity="`}},
		{"kinds", []string{"Errors by kind", "c errors 100%"}},
		{"percentiles", []string{"Percentiles", "99.9%"}},
		{"attempts", []string{"Attempts per request", "c errors 100%"}},
		{"keyring", []string{"Ring", "<pattern"}},
		{"small", []string{"Side by side", "least_conn"}},
	} {
		p.do(`document.getElementById("` + c.id + `").scrollIntoView()`)
		p.wait(`document.querySelector("#` + c.id + ` [data-share=svg]") && document.querySelector("#` + c.id + ` :is(canvas, .drawing svg)")`)
		run(p, chromedp.MouseClickXY(3, 3)) // a hand at work: without one Chromium stops after ten files
		p.press("#" + c.id + " [data-share=svg]")
		text := p.saved(filepath.Join(folder, "minilb-"+c.id+".svg"))
		for _, want := range append(c.wants, "ring_hash", "<desc>") {
			assert.Contains(t, text, want, c.id)
		}
		assert.NotContains(t, text, "var(--", "a file has no style sheet")
		assert.NotContains(t, text, "NaN", c.id)
		assert.NoError(t, xml.Unmarshal([]byte(text), new(struct{})), c.id)
		p.press("#" + c.id + " [data-share=png]")
		assert.Equal(t, "\x89PNG", p.saved(filepath.Join(folder, "minilb-"+c.id+".png"))[:4])
	}
	p.press("#keyring [data-share=table]")
	assert.Contains(t, p.saved(filepath.Join(folder, "minilb-keyring.csv")), "key 95,")
	p.press("#small [data-share=table]")
	assert.Contains(t, p.saved(filepath.Join(folder, "minilb-small.csv")), "from,ring_hash,least_conn")
	p.quiet()
}

func TestTheRingFollowsTheKeyUnderTheFocus(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1;algorithm=ring_hash;algorithm=p2c")
	p.wait(`document.querySelectorAll("#keyring .drawing path").length === 3 + 2`) // all outside, two inside
	p.do(`document.querySelector("[data-cell='0']").focus()`)
	p.wait(`document.querySelector("#keyring circle")`)
	before := p.text(`document.querySelector("#keyring circle").getAttribute("cx")`)
	run(p, chromedp.KeyEvent(kb.ArrowRight))
	p.wait(`document.querySelector("#keyring circle").getAttribute("cx") !== "` + before + `"`)
	said := p.text(`document.getElementById("keys-say").textContent`)
	assert.True(t, strings.HasPrefix(said, "key 1 goes to "), said)
	p.do(`document.querySelector("#keyring summary").click()`)
	assert.EqualValues(t, 3+96, p.number(`document.querySelectorAll("#keyring tbody tr").length`))
	p.do(`document.querySelector("#shown [value=p2c]").click()`)
	p.wait(`document.getElementById("keyview").hidden`)
	p.quiet()
}

func TestWhatHasNoEffectIsDimmedSaysWhyAndStaysUsable(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1")
	p.do(`document.querySelector("[data-group=checks]").open = true`)
	idle := `document.getElementById("fall-row").classList.contains("idle")`
	assert.Equal(t, "true", p.text(`String(`+idle+`)`))
	assert.Equal(t, "no effect now: only with --check-interval above 0", p.text(`document.getElementById("fall-idle").textContent`))
	assert.Equal(t, "false", p.text(`String(document.getElementById("fall").disabled)`))
	p.slide("check-interval", 20)
	p.wait(`!(` + idle + `) && document.getElementById("fall-idle").hidden`)
	p.settle()
	p.quiet()
}

func TestKeptRunsStandBesideThePolicies(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1;algorithm=p2c;requests=500")
	assert.False(t, p.visible("#small"), "one policy has nothing beside it")
	p.press(`[data-do="keep"]`)
	p.wait(`document.querySelectorAll("#small .drawing g").length === 2`)
	assert.Contains(t, p.text(`document.querySelector("#small .drawing").textContent`), "A p2c")
	p.press(`[data-do="drop"]`)
	p.wait(`document.getElementById("small").hidden`)
	p.quiet()
}
