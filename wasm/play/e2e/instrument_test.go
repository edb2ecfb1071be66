package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
)

func (p *tab) in(id string) string {
	p.t.Helper()
	return p.text(fmt.Sprintf(`document.getElementById(%q).textContent`, id))
}

// key presses one key, with the focus on nothing in particular.
func (p *tab) key(keys string) {
	p.t.Helper()
	p.do(`document.activeElement.blur()`)
	run(p, chromedp.KeyEvent(keys))
}

// at is the clock's moment.
func (p *tab) at() float64 { p.t.Helper(); return p.number(`minilbTime.now()`) }

func TestTheFirstFrameHasTheSentenceThatTheRunThenSays(t *testing.T) {
	p := openTab(t, 1280, 900)
	static := staticVerdict(t)
	p.open("")
	assert.Equal(t, static, p.verdict(), "site/static/index.html shows core's sentence before the program is there")
	assert.Contains(t, p.hash(), "health:process")
}

func TestTheIncidentPlaysByItselfAndTheClockMovesEverything(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("")
	p.wait(`minilbTime.playing() && minilbTime.now() > 0.05`)
	p.press(`[data-time="play"]`)
	before := p.at()
	p.press(`[data-time="next"]`)
	assert.InDelta(t, 5, p.at(), 1e-9, "the backend begins to fail")
	assert.NotEqual(t, before, p.at())
	assert.Contains(t, p.in("clock"), "5.00 s of")
	assert.Contains(t, p.text(`document.querySelectorAll("#health .legend output")[2].textContent`), "errors 100%")
	p.do(`const s = document.getElementById("scrub"); s.value = 1000; s.dispatchEvent(new Event("input", {bubbles: true}))`)
	p.press(`[data-time="before"]`)
	assert.InDelta(t, 5, p.at(), 1e-9)
	p.press(`[data-time="restart"]`)
	p.wait(`minilbTime.now() < 3`)
	p.quiet()
}

func TestALineOfTheTranscriptIsAButtonToItsMoment(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open(scenario.Presets[0].Link + ";consecutive-5xx=5")
	at := p.number(`Number(document.querySelector("#transcript [data-at]").dataset.at)`)
	p.press("#transcript [data-at]")
	assert.InDelta(t, at, p.at(), 1e-6)
	assert.Equal(t, "time", p.text(`document.querySelector("#transcript [data-at]").getAttribute("aria-current")`))
	p.quiet()
}

func TestWithReducedMotionNothingMovesAndTheEndIsShown(t *testing.T) {
	p := openTab(t, 1280, 900)
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	require.NoError(t, err)
	p.open("")
	assert.Equal(t, "false", p.text(`String(minilbTime.playing())`))
	assert.Greater(t, p.at(), 30.0)
	p.quiet()
}

func TestTheKeyboardAloneDoesEverything(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("")
	p.key(" ")
	assert.Equal(t, "false", p.text(`String(minilbTime.playing())`), "space pauses")
	p.key(kb.End)
	p.key(",")
	assert.InDelta(t, 5, p.at(), 1e-9)
	p.key(kb.Home)
	p.key(".")
	assert.InDelta(t, 5, p.at(), 1e-9)
	p.key("+")
	assert.Equal(t, "2", p.text(`document.getElementById("speed").value`))
	p.key("?")
	assert.Contains(t, p.in("shortcuts"), "next event")
	run(p, chromedp.KeyEvent(kb.Escape))
	p.key("1")
	assert.Contains(t, p.verdict(), "round_robin sends")
	p.key("f")
	p.settle()
	assert.Contains(t, p.hash(), "consecutive-5xx=5")
	p.key("s")
	assert.Equal(t, "search", p.text(`document.activeElement.id`))
	p.do(`document.getElementById("search").value = ""`) // the driver sends the letter once more as text
	run(p, chromedp.KeyEvent("f"))
	assert.Equal(t, "f", p.text(`document.getElementById("search").value`), "a field keeps its letters")
	p.do(`document.getElementById("letters").click()`)
	before := p.text(`document.getElementById("speed").value`)
	p.key("+")
	assert.Equal(t, before, p.text(`document.getElementById("speed").value`), "single characters are off")
	p.quiet()
}

func TestTheSearchShowsWhatItFindsAndHidesTheRest(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1")
	search := `const e = document.getElementById("search"); e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true}))`
	p.do(fmt.Sprintf(search, "budget"))
	assert.Equal(t, "true", p.text(`String(document.getElementById("rate-row").hidden)`))
	assert.Equal(t, "true", p.text(`String(document.getElementById("budget-wait").offsetParent !== null)`), "unfolded")
	assert.Contains(t, p.in("found"), "found")
	p.do(fmt.Sprintf(search, ""))
	assert.Equal(t, "false", p.text(`String(document.getElementById("rate-row").hidden)`))
	assert.Equal(t, "", p.text(`document.querySelector("#hash-on, #sticky-cookie, #check-path")?.id ?? ""`), "what a simulation ignores is no control")
	p.quiet()
}

func TestAKeptRunStandsBesideTheNextOneWithTheDifferenceInWords(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("")
	p.press(`[data-do="keep"]`)
	p.press(`[data-do="remedy"]`)
	p.settle()
	assert.Contains(t, p.in("variants-list"), "consecutive-5xx 0 → 5")
	assert.Contains(t, p.in("variants-table"), "failed requests fewer")
	p.press(`[data-do="drop"]`)
	assert.Equal(t, "", p.in("variants-list"))
	p.quiet()
}

func TestIntervalsOverSeedsComeOnDemandAndCanBeStopped(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("")
	p.press(`[data-do="study"]`)
	p.wait(`!document.getElementById("study-table").hidden`)
	assert.Contains(t, p.in("study-words"), "20 seeds")
	assert.Contains(t, p.in("study-words"), "least_conn has a higher number of errors than round_robin")
	p.slide("rate", 30)
	p.settle()
	assert.Equal(t, "", p.in("study-words"), "of another scenario")
	p.quiet()
}

func TestAHashingPolicyShowsWhereKeysGo(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1;algorithm=ring_hash")
	p.do(`document.querySelector('[data-cell="0"]').focus()`)
	assert.Contains(t, p.in("keys-say"), "key 0 goes to")
	run(p, chromedp.KeyEvent(kb.ArrowRight))
	assert.Contains(t, p.in("keys-say"), "key 1 goes to")
	p.do(`const e = document.getElementById("keys-text"); e.value = "<b>user"; e.dispatchEvent(new Event("input", {bubbles: true}))`)
	assert.Contains(t, p.in("keys-say"), "<b>user goes to")
	assert.Contains(t, p.in("keys-why"), "the first at or after the key")
	p.follow("#v1;algorithm=p2c")
	assert.Equal(t, "true", p.text(`String(document.getElementById("keyview").hidden)`))
	p.quiet()
}

func TestTheRulesOfThumbStandBesideWhatTheSimulationMeasured(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1;check-interval=2;backend=a:20;backend=b:20,crash_at:5")
	assert.Equal(t, "2 s × 3 = 6.00 s", p.in("calc-detection"))
	assert.Contains(t, p.in("calc-detection-measured"), "b out after")
	assert.Equal(t, "8 draws on 2 backends: 2/256 = 0.8%", p.in("calc-sample"))
	p.do(`const e = document.getElementById("draws"); e.value = "4"; e.dispatchEvent(new Event("input", {bubbles: true}))`)
	assert.Contains(t, p.in("calc-sample"), "2/16")
	p.quiet()
}

// A million requests: progress soon, and a stop that is obeyed at once; right after loading, and twice more at rest. The
// numbers are printed; only what nobody would call immediate fails, since the machine may be busy.
func TestAMillionRequestsShowProgressSoonAndStopAtOnce(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1")
	p.do(`
		const main = document.getElementById("main"), bar = document.getElementById("progress");
		new MutationObserver(() => { if (!bar.hidden) window.seen.progress ??= performance.now(); }).observe(bar, {attributes: true});
		new MutationObserver(() => { if (window.seen.stop && main.dataset.state === "idle") window.seen.idle ??= performance.now(); }).observe(main, {attributes: true});`)
	for _, requests := range []string{"1000000", "1000001", "1000002"} {
		p.do(`
			const e = document.getElementById("requests");
			e.value = "` + requests + `";
			window.seen = {start: performance.now()};
			e.dispatchEvent(new Event("input", {bubbles: true}));`)
		p.wait(`window.seen.progress`)
		p.do(`window.seen.stop = performance.now(); document.getElementById("stop").click()`)
		p.wait(`window.seen.idle`)
		t.Logf("progress after %.0f ms, stopped after %.0f ms", p.number(`window.seen.progress - window.seen.start`), p.number(`window.seen.idle - window.seen.stop`))
		assert.Less(t, p.number(`window.seen.idle - window.seen.stop`), 1000.0)
	}
	p.quiet()
}

func TestOnAPhoneOneChartIsShownAndTheControlsAreASheet(t *testing.T) {
	p := openTab(t, 360, 740)
	p.open("")
	shown := `[...document.querySelectorAll("#results > figure:not(#flow)")].filter((f) => f.offsetParent).map((f) => f.id).join()`
	assert.Equal(t, "latency", p.text(shown))
	p.press(`[data-tab="health"]`)
	assert.Equal(t, "health", p.text(shown))
	assert.Equal(t, "null", p.text(`String(document.getElementById("rate").offsetParent)`))
	p.press(`#status [data-do="sheet"]`)
	p.slide("rate", 30)
	p.settle()
	assert.Equal(t, native(t, p.hash()), p.results())
	p.quiet()
}
