package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stopwatch measures on the page itself: asking from outside, every few milliseconds, would be part of what is measured.
// move moves a slider and gives the milliseconds from the input to the first paint that shows the new numbers, which is
// over when a task that the next frame has posted gets its turn.
const stopwatch = `
	window.painted = () => new Promise((done) => requestAnimationFrame(() => {
		const { port1, port2 } = new MessageChannel();
		port1.onmessage = () => done(performance.now());
		port2.postMessage(null);
	}));
	window.changes = (element, holds) => new Promise((done) => {
		const observer = new MutationObserver(() => { if (holds()) { observer.disconnect(); done(performance.now()); } });
		observer.observe(element, {attributes: true});
	});
	window.move = async (id, position) => {
		const main = document.getElementById("main"), slider = document.getElementById(id + "-slider");
		const before = main.dataset.link, shown = changes(main, () => main.dataset.link !== before);
		performance.clearMeasures();
		slider.value = position;
		const start = performance.now();
		slider.dispatchEvent(new Event("input", {bubbles: true}));
		await shown;
		const end = await painted();
		const rest = changes(main, () => main.dataset.state === "idle");
		if (main.dataset.state !== "idle") await rest;
		await new Promise((done) => setTimeout(done, 50));
		return JSON.stringify({total: end - start, steps: Object.fromEntries(performance.getEntriesByType("measure").map((m) => [m.name.replace("minilb: ", ""), m.duration]))});
	};`

// A moved is what one movement of a slider took, in milliseconds.
type moved struct {
	Total float64
	Steps map[string]float64
}

func (p *tab) move(id string, position int) moved {
	p.t.Helper()
	var m moved
	text := run(p, chromedp.Evaluate[string](fmt.Sprintf(`move(%q, %d)`, id, position), chromedp.EvalAwaitPromise))
	require.NoError(p.t, json.Unmarshal([]byte(text), &m))
	return m
}

// spread is what there is to say of some milliseconds; on a busy machine the best is the one to look at.
func spread(ms []float64) string {
	sorted, sum := slices.Sorted(slices.Values(ms)), 0.0
	for _, v := range ms {
		sum += v
	}
	return fmt.Sprintf("mean %5.1f, median %5.1f, best %5.1f, worst %5.1f ms", sum/float64(len(ms)), sorted[len(sorted)/2], sorted[0], sorted[len(sorted)-1])
}

// Never a failing test on a busy machine: the numbers are printed, and only what nobody would call immediate fails.
func TestAFiveThousandRequestChangeIsShownAtOnce(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("")
	p.do(stopwatch)
	t.Logf("a move at once after loading: %.1f ms", p.move("rate", 39).Total)
	time.Sleep(time.Second) // a hand needs longer than that, and a worker that rests warms up
	var totals []float64
	steps := map[string][]float64{}
	for i := range 20 {
		m := p.move("rate", 40+i)
		totals = append(totals, m.Total)
		for name, ms := range m.Steps {
			steps[name] = append(steps[name], ms)
		}
	}
	t.Logf("input to painted numbers, 20 moves: %s", spread(totals))
	t.Logf("all: %.0f", totals)
	for _, name := range []string{"change to numbers", "to the worker", "decode", "simulate", "encode", "to the page", "write", "paint"} {
		if list := steps[name]; len(list) > 0 {
			t.Logf("  %-14s %s", name, spread(list))
		}
	}
	t.Log(strings.TrimSpace(p.text(`document.getElementById("ran").textContent`)))
	slices.Sort(totals)
	assert.Less(t, totals[len(totals)/2], 1000.0)
	p.quiet()
}
