package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const axePath = "../../../scripts/node_modules/axe-core/axe.min.js"

// TestAxeFindsNothingInAnyView has axe-core look at every view in both themes: WCAG 2.2 A and AA, and its best practices.
func TestAxeFindsNothingInAnyView(t *testing.T) {
	source, err := os.ReadFile(axePath)
	require.NoError(t, err, "axe-core is missing: run `make site` first")
	incident := "#v1;algorithm=round_robin;algorithm=least_conn;backend=a:20;backend=b:20;backend=broken:2,errors:1"
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			p := openTab(t, 1280, 900)
			for _, v := range []struct {
				name, file, link, prepare string
				width, height             int64
				phone                     bool
			}{
				{"whole", "", incident, "", 1280, 900, false},
				{"everything unfolded", "", incident, `for (const d of document.querySelectorAll("details")) d.open = true`, 1280, 900, false},
				{"keys go", "", "#v1;algorithm=maglev;algorithm=p2c", "", 1280, 900, false},
				{"share", "", incident, `document.querySelector("[data-share='open']").click()`, 1280, 900, false},
				{"list of keys", "", incident, `document.querySelector("[data-keys='open']")?.click()`, 1280, 900, false},
				{"broken link", "", incident, `location.hash = "#v99"`, 1280, 900, false},
				{"presentation", "", incident, `document.querySelector("[data-share='present']").click()`, 1280, 900, false},
				{"embedded", "embed.html", incident, "", 700, 600, false},
				{"phone", "", incident, "", 360, 740, true},
				{"to French", "", incident, `localStorage.setItem("minilb-language", "fr")`, 1280, 900, false},
				{"French", "", incident, `for (const d of document.querySelectorAll("details")) d.open = true`, 1280, 900, false},
			} {
				p.look(view{v.name, scheme, v.link, v.width, v.height, v.phone})
				p.openFile(v.file, v.link)
				p.do(v.prepare)
				p.settle()
				p.picture(scheme + "-" + strings.ReplaceAll(v.name, " ", "-"))
				assert.Empty(t, p.axe(string(source)), v.name)
			}
		})
	}
}

// axe is what axe-core objects to in the page as it is now, one line for each element. It waits until nothing moves, for a
// colour on its way is not one to judge.
func (p *tab) axe(source string) string {
	p.t.Helper()
	run(p, chromedp.Evaluate[chromedp.Void](source+";0"))
	p.do(`
		window.found = undefined;
		Promise.all(document.getAnimations().map((a) => a.finished.catch(() => {})))
			.then(() => axe.run(document, {resultTypes: ["violations"]}))
			.then(({violations}) => { window.found = violations.flatMap((v) =>
				v.nodes.map((n) => [v.id, n.target.join(" "), (n.any[0] ?? n.all[0] ?? n.none[0])?.message ?? v.help].join(": "))).join("\n"); },
				(e) => { window.found = String(e); });`)
	p.wait(`window.found !== undefined`)
	return p.text(`window.found`)
}
