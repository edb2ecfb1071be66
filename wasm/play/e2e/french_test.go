package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"minilb/core/scenario"
)

// What French does not write, and what both languages do: names of policies, parameters and their values.
var (
	english = regexp.MustCompile(`(?i)\b(the|of|is|are|was|were|with|and|which|its?|that|not|than|without|requests?|each|when|from|how|what|never|more|fewer|higher|lower|` +
		`none|only|every|seeds?|attempts|nobody|changed|wait|answered|event|keys?|nothing|takes?|retry|all|show|keep|drop|now|search|reset|remove|copy|save|close)\b`)
	alike = regexp.MustCompile(`[a-z0-9]+[_-][a-z0-9_-]+|/health|health=\w+|« [^»]* »|\b(keys|retries|requests|seed|rate|keys zipf|retry on|min retry concurrency|budget wait|table size|hash balance factor|drain for|cold for|stall for|change for)\b`)
)

// TestTheFrenchPageHasNoEnglishLeft opens every preset, with everything unfolded, and reads the whole document but for
// what is marked as English: the lines of the transcript and the reasons of a pick.
func TestTheFrenchPageHasNoEnglishLeft(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("")
	assert.Zero(t, p.number(`performance.getEntriesByType("resource").filter((e) => e.name.includes(".json")).length`), "who reads English loads no other language")
	p.do(`localStorage.setItem("minilb-language", "fr")`)
	links := []string{"#v1;algorithm=ring_hash;algorithm=maglev;backend=a:20;backend=b:20,crash_at:5;check-interval=2;retries=1"}
	for _, preset := range scenario.Presets {
		links = append(links, preset.Link)
	}
	for _, link := range links {
		p.open(link)
		assert.Equal(t, "fr", p.text(`document.documentElement.lang`))
		p.do(`for (const d of document.querySelectorAll("details")) d.open = true; document.querySelector("[data-share='open']").click()`)
		p.do(`minilbTime.seek(3); document.querySelector("[data-do='keep']").click()`)
		var left []string
		for _, text := range strings.Split(p.text(readAll), "\n") {
			if word := english.FindString(alike.ReplaceAllString(text, "")); word != "" {
				left = append(left, word+": "+text)
			}
		}
		assert.Empty(t, left, "%s:\n%s", link, strings.Join(left, "\n"))
	}
	p.quiet()
}

// readAll is every text that a person can meet in the document, one a line.
const readAll = `(() => {
	const english = "[lang=en], script, style, noscript, code, #results-json, .hidden";
	const names = ".row > label, .checkrow .label, .checks, .card .name, option, #keys-removed, .sharerow input";
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	const texts = [];
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		const parent = node.parentElement;
		if (!parent.closest(english) && !parent.closest(names) && node.data.trim()) texts.push(node.data.trim());
	}
	for (const e of document.querySelectorAll("[aria-label], [title], [placeholder]")) {
		if (!e.closest(english)) texts.push(...["aria-label", "title", "placeholder"].map((name) => e.getAttribute(name)).filter(Boolean));
	}
	return texts.map((s) => s.replace(/\s+/g, " ")).join("\n");
})()`
