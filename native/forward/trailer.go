package forward

import (
	"net/http"
	"net/textproto"
	"strings"
)

// mayTrail says whether a field may come after a body. Those may not that have
// to be known before it (RFC 9110 section 6.5.1), for a reader that adds
// trailers to the head's fields could be told another length, another client or
// another backend than the head had been judged by.
func mayTrail(name string) bool {
	switch name {
	case "Content-Length", "Trailer", // where the message ends
		"Host", "Max-Forwards", "Forwarded", // where it goes, and whence it came
		"Authorization", "Www-Authenticate", "Cookie", "Set-Cookie", // who asks
		"Cache-Control", "Expect", "Pragma", "Range", // how it is to be answered
		"Age", "Date", "Expires", "Location", "Retry-After", "Vary", "Warning", // what is to be done with the answer
		"Content-Encoding", "Content-Range", "Content-Type": // how the body is to be read
		return false
	}
	return !hopByHop(name) && !strings.HasPrefix(name, "If-") &&
		!strings.HasPrefix(name, "X-Forwarded-") && !strings.HasPrefix(name, "X-Minilb-")
}

// trailing is the fields of a trailer that pass. The map is left as it is:
// whoever reads the body may still be adding to it.
func trailing(h http.Header) http.Header {
	passes := make(http.Header, len(h))
	for name, values := range h {
		if mayTrail(name) {
			passes[name] = values
		}
	}
	return passes
}

// trailers is what a backend gets of the request's trailers; nil without any.
// It does not hold the Request, whose memory the connection's next one uses.
func (r *Request) trailers() func() http.Header {
	all := r.Trailer
	if all == nil {
		return nil
	}
	return func() http.Header { return trailing(all()) }
}

// announcing is the field Trailer with the names that pass, one a line.
func announcing(lines []string) (names []string) {
	for _, line := range lines {
		for name := range strings.SplitSeq(line, ",") {
			name = http.CanonicalHeaderKey(textproto.TrimString(name))
			if name != "" && mayTrail(name) {
				names = append(names, name)
			}
		}
	}
	return names
}
