package forward

import (
	"net/http"
	"net/textproto"
	"strings"
)

// hopByHop names the fields that are about one connection only: RFC 9110
// section 7.6.1, and the two of proxy authentication, which are about this hop
// too.
func hopByHop(name string) bool {
	switch name {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Te", "Transfer-Encoding", "Upgrade",
		"Proxy-Authenticate", "Proxy-Authorization", "Http2-Settings":
		return true
	}
	return false
}

// removeHopByHop deletes the hop-by-hop fields and all that Connection names.
// What a proxy adds of its own is added after this, so that a client cannot
// have it removed by naming it in Connection.
func removeHopByHop(h http.Header) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			if name = textproto.TrimString(name); name != "" {
				h.Del(name)
			}
		}
	}
	for name := range h {
		if hopByHop(name) {
			delete(h, name)
		}
	}
}

// hasWord looks for a word in a field's comma-separated list, whatever its
// case.
func hasWord(lines []string, word string) bool {
	for _, line := range lines {
		for w := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(textproto.TrimString(w), word) {
				return true
			}
		}
	}
	return false
}

// upgrade is the protocol that the sender of a header wants to change to;
// empty when it does not. HTTP/2 is none of them: a tunnel to it would carry
// requests past everything that is decided here.
func upgrade(h http.Header) string {
	lines := h["Upgrade"]
	if len(lines) != 1 || !hasWord(h["Connection"], "upgrade") {
		return ""
	}
	if name, _, _ := strings.Cut(lines[0], "/"); hasWord(lines, "h2c") || strings.EqualFold(name, "HTTP") {
		return ""
	}
	return lines[0]
}

// responseHeader copies a backend's fields to the client's, without those of
// the connection and those that only minilb may set.
func responseHeader(to, from http.Header) {
	removeHopByHop(from)
	for name, values := range from {
		switch name {
		case backendField, attemptsField, noteField:
			delete(to, name)
		case "Trailer":
			if names := announcing(values); names != nil {
				to[name] = names
			}
		default:
			to[name] = values
		}
	}
	if _, sent := from["Content-Type"]; !sent {
		to["Content-Type"] = nil // or net/http would guess one
	}
}

// The fields that say what minilb did with a request.
const (
	backendField  = "X-Minilb-Backend"
	attemptsField = "X-Minilb-Attempts"
	noteField     = "X-Minilb-Note"
)
