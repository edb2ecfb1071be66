package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
	"minilb/core/sim"
)

// native is what `minilb simulate --json --scenario LINK` prints.
func native(t *testing.T, link string) string {
	t.Helper()
	s, err := scenario.Decode(link)
	require.NoError(t, err, link)
	text, err := sim.RunJSON(s)
	require.NoError(t, err, link)
	return string(text)
}

func TestFirstSightIsAnIncidentWithItsSentence(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("")
	assert.Contains(t, p.verdict(), "checkout3, which answers all of them with errors")
	assert.Equal(t, native(t, p.hash()), p.results())
	p.press(`[data-do="remedy"]`)
	p.settle()
	assert.Contains(t, p.hash(), "consecutive-5xx=5")
	assert.Contains(t, p.verdict(), "checkout3 is ejected")
	p.quiet()
}

func TestThePageShowsTheNativeNumbersToTheLastBit(t *testing.T) {
	p := openTab(t, 1280, 900)
	links := []string{
		"#v1",
		"#v1;algorithm=p2c;rate=400;requests=20000;seed=42",
		"#v1;algorithm=least_conn;backend=a:20;backend=b:20;backend=broken:2,errors:0.5;consecutive-5xx=5;max-ejection-percent=34;check-interval=1",
		"#v1;algorithm=ring_hash;algorithm=peak_ewma;retries=1;retry-on=5xx;backend=a:20;backend=b:30,errors:0.1;backend=c:5,weight:3",
	}
	for _, preset := range scenario.Presets {
		links = append(links, preset.Link)
	}
	p.open("")
	for _, link := range links {
		p.follow(link)
		require.Equal(t, native(t, link), p.results(), link)
		assert.Equal(t, canonical(t, link), p.hash())
		assert.Empty(t, p.notice())
		assertTable(t, p)
	}
	p.quiet()
}

func canonical(t *testing.T, link string) string {
	t.Helper()
	s, err := scenario.Decode(link)
	require.NoError(t, err)
	return scenario.Encode(s)
}

// assertTable compares the exact values behind the table with the JSON beside it.
func assertTable(t *testing.T, p *tab) {
	t.Helper()
	var report struct {
		Results []struct {
			Latency map[string]float64 `json:"latency_ms"`
			Errors  int
		}
	}
	require.NoError(t, json.Unmarshal([]byte(p.results()), &report))
	for i, r := range report.Results {
		for _, name := range []string{"p50", "p95", "p99", "max", "mean"} {
			shown := p.number(fmt.Sprintf(`Number(document.querySelectorAll('#compare td[data-figure="%s"]')[%d].dataset.value)`, name, i))
			assert.Equal(t, r.Latency[name], shown, name)
		}
		assert.EqualValues(t, r.Errors, p.number(fmt.Sprintf(`Number(document.querySelectorAll('#compare td[data-figure="errors"]')[%d].dataset.value)`, i)))
	}
}

func TestASliderChangesTheAddressAndTheNumbersAndReloadingKeepsThem(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1")
	before, address := p.results(), p.hash()
	p.slide("rate", int(p.number(`Number(document.getElementById("rate-slider").max) - 8`)))
	p.settle()
	after := p.results()
	assert.NotEqual(t, address, p.hash())
	assert.Contains(t, p.hash(), "rate=")
	assert.NotEqual(t, before, after)
	assert.Equal(t, native(t, p.hash()), after)
	run(p, chromedp.Reload())
	p.settle()
	assert.Equal(t, after, p.results())
	p.press(`[data-reset="rate"]`)
	p.settle()
	assert.Equal(t, before, p.results())
	p.quiet()
}

func TestEveryKindOfControlReachesTheScenario(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1")
	steps := []struct{ what, script, want string }{
		{"a number field", `f("seed", "7")`, "seed=7"},
		{"a duration in a field", `f("base-ejection", "500ms")`, "base-ejection=0.5"},
		{"a backend's error share", `f("b0.errors", "0.25")`, "backend=fast1:20,errors:0.25"},
		{"a policy", `c('[data-toggle="algorithm"][value="random"]')`, "algorithm=random"},
		{"a switch", `c('[data-switch="always-eject-one-host"]')`, "always-eject-one-host=true"},
		{"a menu", `f("initial", "down")`, "initial=down"},
		{"one more backend", `c('[data-do="add"]')`, "backend=b1:100"},
		{"a name", `n("[data-name='3']", "spare")`, "backend=spare:100"},
		{"one backend less", `c('[data-remove="2"]')`, "backend=spare:100"},
	}
	p.do(`
		const tell = (e) => { for (const kind of ["input", "change"]) e.dispatchEvent(new Event(kind, {bubbles: true})); };
		window.f = (id, text) => { const e = document.getElementById(id); e.value = text; tell(e); };
		window.n = (at, text) => { const e = document.querySelector(at); e.value = text; tell(e); };
		window.c = (at) => document.querySelector(at).click();`)
	for _, s := range steps {
		p.do(s.script)
		p.settle()
		assert.Contains(t, p.hash(), s.want, s.what)
	}
	assert.NotContains(t, p.hash(), "slow")
	assert.Equal(t, native(t, p.hash()), p.results())
	p.quiet()
}

func TestARefusedValueIsExplainedAndChangesNothing(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1")
	for _, bad := range []string{"NaN", "-5", "1e999", "<b>", ""} {
		p.do(fmt.Sprintf(`
			const e = document.getElementById("rate");
			e.value = %q;
			e.dispatchEvent(new Event("input", {bubbles: true}));
			e.dispatchEvent(new Event("change", {bubbles: true}));
		`, bad))
		assert.Contains(t, p.text(`document.getElementById("rate-error").textContent`), "rate=", bad)
		assert.Equal(t, "true", p.text(`document.getElementById("rate").getAttribute("aria-invalid")`))
	}
	p.settle()
	assert.Equal(t, "#v1", p.hash())
}

func TestABrokenLinkShowsAPlainMessageAndTheDefaultScenario(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v99;rate=1")
	assert.Contains(t, p.notice(), "this build knows v1", "an unknown version, on loading")
	assert.Equal(t, native(t, "#v1"), p.results())
	for _, c := range []struct{ claim, link, want string }{
		{"an unknown version", "#v99;rate=1", "this build knows v1"},
		{"no version", "#rate=1", "does not begin with a version"},
		{"not a number", "#v1;rate=NaN", "rate=NaN"},
		{"script for a name", "#v1;backend=<script>alert(1)</script>:20", "cannot be read"},
		{"script in an unknown key", `#v1;x="><img/src=x/onerror=alert(1)>`, "cannot be read"},
		{"100 kB", "#v1;rate=" + strings.Repeat("1", 100_000), "too long"},
		{"1 MB", "#v1;" + strings.Repeat("x", 1<<20), "too long"},
		{"a packed link cut short", "#v1z.AAAA", "cut short"},
		{"an impossible table", "#v1;algorithm=maglev;table-size=100", "not a prime"},
	} {
		p.press(`[data-incident]:last-child`)
		p.settle()
		require.Empty(t, p.notice())
		p.follow(c.link)
		assert.Contains(t, p.notice(), c.want, c.claim)
		assert.Equal(t, "#v1", p.hash(), c.claim)
		assert.Equal(t, native(t, "#v1"), p.results(), c.claim)
	}
	p.follow("#v1;rate=100;later=yes")
	assert.Contains(t, p.notice(), "later=yes")
	assert.Equal(t, "#v1;rate=100;later=yes", p.hash(), "an unknown key is passed on")
	p.quiet()
}

func TestAnAddressTypedOverTheOldOneIsOpened(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1")
	p.do(`location.hash = "#v1;seed=9"`)
	p.wait(`document.getElementById("main").dataset.link === "#v1;seed=9"`)
	p.settle()
	assert.Equal(t, native(t, "#v1;seed=9"), p.results())
	assert.Equal(t, "9", p.text(`document.getElementById("seed").value`))
	p.follow("#v1")
	assert.Equal(t, native(t, "#v1"), p.results(), "back to the one before")
	p.quiet()
}

// A million requests keep the worker busy for seconds; the page must not notice, and a newer change must win.
func TestThePageStaysResponsiveDuringALongRunAndTheNewestChangeWins(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1")
	p.do(`
		window.ticks = 0; window.worst = 0; let last = performance.now();
		const tick = (t) => { window.ticks++; window.worst = Math.max(window.worst, performance.now() - last); last = performance.now(); requestAnimationFrame(tick); };
		requestAnimationFrame(tick);
		const e = document.getElementById("requests");
		e.value = "5000000";
		e.dispatchEvent(new Event("input", {bubbles: true}));`)
	p.wait(`!document.getElementById("progress").hidden`)
	before := p.number(`window.ticks`)
	time.Sleep(500 * time.Millisecond)
	assert.Equal(t, "running", p.text(`document.getElementById("main").dataset.state`), "the run was over too soon to show anything")
	assert.Greater(t, p.number(`window.ticks`)-before, 10.0, "animation frames while the simulation runs")

	p.do(`window.asked = performance.now(); document.getElementById("requests").value = "5000"; document.getElementById("requests").dispatchEvent(new Event("input", {bubbles: true}))`)
	p.settle()
	assert.Equal(t, native(t, "#v1"), p.results(), "the newest change wins")
	t.Logf("longest frame %.0f ms, newest change shown %s ms after it was made", p.number(`window.worst`), p.text(`document.getElementById("main").dataset.lastMs`))
	p.quiet()
}

func TestALongRunCanBeStopped(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1")
	before := p.results()
	p.do(`const e = document.getElementById("requests"); e.value = "20000000"; e.dispatchEvent(new Event("input", {bubbles: true}))`)
	p.wait(`!document.getElementById("stop").hidden`)
	p.press("#stop")
	p.wait(`document.getElementById("main").dataset.state === "idle"`)
	assert.Equal(t, before, p.results())
	assert.Contains(t, p.text(`document.getElementById("ran").textContent`), "Stopped")
	p.quiet()
}

func TestAHandThatDragsSeesNumbersOnTheWayAndTheLastOnesAtTheEnd(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("")
	p.do(`
		window.seen = new Set();
		new MutationObserver(() => window.seen.add(document.getElementById("main").dataset.link)).observe(document.getElementById("main"), {attributes: true});
		window.over = false;
		let position = 20, slider = document.getElementById("rate-slider");
		const move = () => {
			slider.value = position++;
			slider.dispatchEvent(new Event("input", {bubbles: true}));
			if (position < 80) requestAnimationFrame(move); else window.over = true;
		};
		requestAnimationFrame(move);`)
	p.wait(`window.over`)
	p.settle()
	assert.Equal(t, native(t, p.hash()), p.results())
	assert.Greater(t, p.number(`window.seen.size`), 3.0, "numbers shown while the slider moved")
	t.Logf("%.0f of 60 movements were shown", p.number(`window.seen.size`))
	p.quiet()
}

func TestAnotherPolicyIsShownWithoutAnotherRun(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1;algorithm=round_robin;algorithm=p2c")
	assert.Contains(t, p.verdict(), "under round_robin")
	p.press(`[data-show="p2c"]`)
	assert.Contains(t, p.verdict(), "p2c answers")
	assert.Equal(t, "#v1;algorithm=round_robin;algorithm=p2c", p.hash())
	p.follow("#v1;algorithm=p2c")
	p.press(`[data-do="compare"]`)
	p.settle()
	assert.Equal(t, "#v1;algorithm=round_robin;algorithm=p2c", p.hash())
	p.quiet()
}

func TestTheKeyboardAloneMovesASlider(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("#v1")
	p.do(`document.getElementById("rate-slider").focus()`)
	run(p, chromedp.KeyEvent(kb.ArrowRight))
	p.settle()
	assert.Equal(t, "#v1;rate=160", p.hash())
	assert.Equal(t, "160 requests/s", p.text(`document.getElementById("rate-slider").getAttribute("aria-valuetext")`))
	assert.Equal(t, "160", p.text(`document.getElementById("rate").value`))
	p.quiet()
}

func TestEveryInputHasALabelAndNoTwoElementsShareAnID(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("")
	assert.Empty(t, p.text(`[...document.querySelectorAll("input, select")].filter((e) =>
		!e.labels?.length && !e.getAttribute("aria-label")).map((e) => e.outerHTML).join("\n")`))
	assert.Empty(t, p.text(`[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i).join(" ")`))
	assert.Empty(t, p.text(`performance.getEntriesByType("resource").map((r) => r.name).filter((n) => !n.startsWith(location.origin)).join(" ")`))
}
