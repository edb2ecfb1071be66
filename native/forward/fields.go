package forward

import (
	"net/http"
	"net/netip"
	"strings"
)

// Fields are what minilb says of itself and of the client in a request's head.
// X-Forwarded-For is always among it.
type Fields struct {
	Proto     bool // X-Forwarded-Proto
	Host      bool // X-Forwarded-Host
	Forwarded bool // Forwarded, RFC 7239
	Via       bool // Via, RFC 9110 section 7.6.3, also in answers

	// Trusted are the peers whose own X-Forwarded-* and Forwarded are kept and
	// added to. Those of anybody else are forged for all we know, and go. When
	// it is empty everybody is trusted.
	Trusted []netip.Prefix

	// BackendHost sends the backend's address as Host instead of the client's.
	BackendHost bool
}

// trusts says whether what a peer says of clients before it is kept.
func (f *Fields) trusts(peer string) bool {
	if len(f.Trusted) == 0 {
		return true
	}
	address, err := netip.ParseAddr(peer)
	if err != nil {
		return false
	}
	address = address.Unmap().WithZone("")
	for _, p := range f.Trusted {
		if p.Contains(address) {
			return true
		}
	}
	return false
}

// claims are the fields in which proxies tell of the client.
var claims = [...]string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded"}

// next turns the client's header into that of the next hop, in place, and
// appends the fields that are added to extra.
func (f *Fields) next(r *Request, m *Memory, extra []string) []string {
	h := r.Header
	protocol, trailers := upgrade(h), hasWord(h["Te"], "trailers")
	removeHopByHop(h)
	delete(h, "Trailer")
	if trailers {
		extra = append(extra, "Te", "trailers")
	}
	if protocol != "" && r.Major == 1 && r.Minor >= 1 {
		extra = append(extra, "Connection", "Upgrade", "Upgrade", protocol)
	}
	if r.Trailer != nil {
		if names := trailerNames(trailing(r.Trailer())); names != "" {
			extra = append(extra, "Trailer", names)
		}
	}
	return f.client(r, m, extra)
}

// client says who the client is.
func (f *Fields) client(r *Request, m *Memory, extra []string) []string {
	h, ip := r.Header, r.ClientIP()
	if !f.trusts(ip) {
		for _, name := range claims {
			delete(h, name)
		}
	}
	extra = append(extra, "X-Forwarded-For", after(h, "X-Forwarded-For", ip))
	if _, said := h["X-Forwarded-Proto"]; f.Proto && !said {
		extra = append(extra, "X-Forwarded-Proto", r.scheme())
	}
	if _, said := h["X-Forwarded-Host"]; f.Host && !said {
		extra = append(extra, "X-Forwarded-Host", r.Host)
	}
	if f.Forwarded {
		extra = append(extra, "Forwarded", after(h, "Forwarded", m.forwarded(r, ip)))
	}
	if f.Via {
		extra = append(extra, "Via", after(h, "Via", r.via()))
	}
	return extra
}

// via11 is the version of the protocol by which a message came, and who passes
// it on.
const via11 = "1.1 minilb"

// after takes a list field out of a header and returns it with one more value
// at its end: appended, not replaced, so that a chain of proxies keeps the
// whole path.
func after(h http.Header, name, value string) string {
	lines := h[name]
	if len(lines) == 0 {
		return value
	}
	delete(h, name)
	return strings.Join(lines, ", ") + ", " + value
}

func (r *Request) scheme() string {
	if r.Secure {
		return "https"
	}
	return "http"
}

func (r *Request) via() string {
	switch {
	case r.Major == 2:
		return "2 minilb"
	case r.Minor == 0:
		return "1.0 minilb"
	}
	return via11
}

// forwarded is one element of the field Forwarded.
func forwarded(r *Request, ip string) string {
	if strings.Contains(ip, ":") {
		ip = `"[` + ip + `]"`
	}
	element := "for=" + ip + ";proto=" + r.scheme()
	if r.Host != "" && !strings.ContainsAny(r.Host, "\"\\") {
		element += `;host="` + r.Host + `"`
	}
	return element
}

// trailerNames are the announced trailers.
func trailerNames(h http.Header) string {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
