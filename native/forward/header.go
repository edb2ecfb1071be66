package forward

import (
	"net/http"
	"net/textproto"
	"strings"
)

// hopByHop are the fields that are about one connection only: RFC 9110 section
// 7.6.1, and the two of proxy authentication, which are about this hop too.
var hopByHop = [...]string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Proxy-Authenticate", "Proxy-Authorization",
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
	for _, name := range hopByHop {
		delete(h, name)
	}
}

// acceptsTrailers says whether the sender of a request can read trailers.
func acceptsTrailers(h http.Header) bool {
	for _, line := range h["Te"] {
		for word := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(textproto.TrimString(word), "trailers") {
				return true
			}
		}
	}
	return false
}

// requestHeader is what a backend is sent: the client's fields without those
// of the connection, and the client's address at the end of X-Forwarded-For.
func requestHeader(from http.Header, clientIP string) http.Header {
	h := from.Clone()
	removeHopByHop(h)
	if acceptsTrailers(from) {
		h["Te"] = []string{"trailers"}
	}
	if _, sent := h["User-Agent"]; !sent {
		h["User-Agent"] = []string{""} // or net/http would name itself
	}
	// Appended, not replaced: a chain of proxies keeps the whole path.
	h["X-Forwarded-For"] = []string{strings.Join(append(h["X-Forwarded-For"], clientIP), ", ")}
	return h
}

// responseHeader copies a backend's fields to the client's, without those of
// the connection and those that only minilb may set.
func responseHeader(to, from http.Header) {
	removeHopByHop(from)
	for name, values := range from {
		to[name] = values
	}
	for _, name := range [...]string{backendField, attemptsField, noteField} {
		delete(to, name)
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
