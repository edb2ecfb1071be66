package page

import (
	"fmt"
	"html"
	"path"
	"strings"

	"minilb/core/scenario"
)

// A Share is everything by which a scenario leaves the page. Links carry the engine's version and a digest of the
// results that the sender sees.
type Share struct {
	Link    string // empty when it would be too long: then a file carries the scenario
	Embed   string // HTML for another page; empty where this page has no address that others could load
	Command string
	Name    string // of files, without its ending
	Note    string // what the person must know
}

// Share is for the page at that address. The digest is that of the results on the page, "" while there are none of this
// scenario.
func (m *Model) Share(address, digest string) Share {
	base, _, _ := strings.Cut(address, "#")
	base, _, _ = strings.Cut(base, "?")
	link := scenario.EncodeStamped(m.scenario, stampOf(digest))
	s := Share{Command: m.Command(), Name: "minilb-scenario"}
	if scenario.TooLong(link) {
		s.Note = m.words.Say("The link would have {n} characters, and programs cut links of more than 2000: save the scenario as a file instead.", counted("n", len(link)))
		return s
	}
	s.Link = pageAddress(base) + link
	if strings.HasPrefix(base, "http") {
		s.Embed = fmt.Sprintf(`<iframe src="%s" title="minilb" width="100%%" height="760" loading="lazy" style="border:0"></iframe>`,
			html.EscapeString(sibling(base, "embed.html")+link))
	}
	return s
}

func stampOf(digest string) scenario.Stamp {
	if digest == "" {
		return scenario.Stamp{}
	}
	return scenario.Stamp{Engine: scenario.Engine, Digest: digest}
}

// pageAddress is the whole page's, when the address is that of an embedded one.
func pageAddress(base string) string {
	if path.Base(base) == "embed.html" {
		return sibling(base, "")
	}
	return base
}

// sibling is another file in the folder of an address.
func sibling(base, name string) string {
	return base[:strings.LastIndexByte(base, '/')+1] + name
}

// WholePage is the address of the page on which an embedded scenario can be changed.
func (m *Model) WholePage(address string) string {
	base, _, _ := strings.Cut(address, "#")
	return pageAddress(base) + m.Link()
}

// Sender compares this build's results with those that the link's sender saw. It is empty when the link does not say,
// and when the scenario has been changed since.
func (m *Model) Sender(digest string) string {
	switch sent := m.sent; {
	case sent.stamp.Digest == "" || digest == "" || m.Link() != sent.link:
		return ""
	case sent.stamp.Digest == digest:
		return m.words.T("Same result as the sender.")
	case sent.stamp.Engine != 0 && sent.stamp.Engine != scenario.Engine:
		return m.words.Say("The engine has changed since the sender saw a result: it was version {was}, this is {is}.", counted("was", sent.stamp.Engine), counted("is", scenario.Engine))
	}
	return m.words.T("The engine has changed since: the sender saw another result.")
}

// sent is what a link said of its sender's result, and the scenario that it was for.
type sent struct {
	link  string
	stamp scenario.Stamp
}

// LoadFile replaces the scenario by that of a file: JSON, YAML or a link. It stays as it was when the file cannot be
// read, and the notice says why.
func (m *Model) LoadFile(name string, text []byte) bool {
	s, err := scenario.FromFile(text)
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		m.Notice = m.words.Say("{file} is no scenario that can be read, so nothing has changed: {why}", named("file", cut(name, 80)), named("why", m.words.Error(err)))
		return false
	}
	m.scenario, m.link, m.Notice, m.shown, m.sent = s, "", m.words.unknown(s), "", sent{}
	return true
}

// JSON and YAML are the scenario as files.
func (m *Model) JSON() string { return string(scenario.ToJSON(m.scenario)) }
func (m *Model) YAML() string { return string(scenario.ToYAML(m.scenario)) }
