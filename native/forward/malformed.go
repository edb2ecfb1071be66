package forward

import (
	"net/http"
	"strings"
)

// refusal says why no backend is to see a request: the answer's status, and
// the reason in words. The status is 0 for one that goes on. Servers look at
// some of this themselves, but not all of them and not for every version of the
// protocol; here it is the same whichever way a request came.
func (r *Request) refusal() (status int, why string) {
	switch {
	case r.Method == http.MethodConnect:
		// A tunnel through a load balancer has no use and many abuses.
		return http.StatusMethodNotAllowed, "CONNECT is not forwarded"
	case !r.hasTarget():
		return http.StatusBadRequest, "malformed target; accepted: a path that begins with / and has no fragment, or * with OPTIONS"
	case !isHost(r.Host):
		return http.StatusBadRequest, "malformed host; accepted: a name or an address, with or without a port"
	}
	return 0, ""
}

// hasTarget says whether the target is one: the asterisk is for OPTIONS alone
// (RFC 9112 section 3.2.4), and a fragment is the client's own (RFC 9110
// section 7.1).
func (r *Request) hasTarget() bool {
	t := r.Target
	if t == "*" {
		return r.Method == http.MethodOptions
	}
	if t == "" || t[0] != '/' {
		return false
	}
	for i := range len(t) {
		if b := t[i]; b <= ' ' || b == '#' || b == 0x7f {
			return false
		}
	}
	return true
}

// isHost says whether s may be a host, as net/http does for HTTP/1. An empty
// one is that of a client which had none to name.
func isHost(s string) bool {
	for i := range len(s) {
		if !hostBytes[s[i]] {
			return false
		}
	}
	return true
}

// hostBytes are the bytes a host and its port are made of (RFC 3986 section
// 3.2.2), without the user that RFC 9110 section 4.2.4 has no place for.
var hostBytes = func() (table [256]bool) {
	for b := range 0x80 {
		c := byte(b)
		table[b] = '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || strings.IndexByte("!$%&'()*+,-.:;=[]_~", c) >= 0
	}
	return table
}()
