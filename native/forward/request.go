package forward

import (
	"io"
	"net"
	"net/http"
	"strings"
)

// A Request is what a client asks, in terms that belong to no server loop.
type Request struct {
	Method string
	Target string      // origin-form, or "*": exactly as the client wrote it
	Host   string      // that of an absolute target before that of the field
	Header http.Header // changed in place
	Remote string      // the client's end of the connection, HOST:PORT
	Secure bool        // it came over TLS

	Major, Minor int // of the protocol's version

	Body    io.Reader          // nil: none
	Length  int64              // of Body; -1: unknown
	Trailer func() http.Header // its keys from the start, its values after the end of Body; nil: none

	// Memory is what the requests of one connection use one after the other;
	// nil: this one has its own. What is said of the request, its answer's
	// header above all, is good until the next one begins.
	Memory *Memory
}

// fromHTTP is a Request of net/http's server.
func fromHTTP(r *http.Request) Request {
	q := Request{
		Method: r.Method, Target: target(r), Host: r.Host, Header: r.Header, Remote: r.RemoteAddr,
		Secure: r.TLS != nil, Major: r.ProtoMajor, Minor: r.ProtoMinor,
	}
	if r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 {
		q.Body, q.Length = r.Body, r.ContentLength
		if q.Length < 0 { // only then are there trailers
			q.Trailer = func() http.Header { return r.Trailer }
		}
	}
	return q
}

// target is the path and query as they were written. net/url would write them
// in its own way.
func target(r *http.Request) string {
	raw := r.RequestURI
	if strings.HasPrefix(raw, "/") || raw == "*" {
		return raw
	}
	if _, rest, absolute := strings.Cut(raw, "://"); absolute {
		if at := strings.IndexAny(rest, "/?"); at >= 0 {
			if rest = rest[at:]; rest[0] == '?' {
				rest = "/" + rest
			}
			return rest
		}
		return "/"
	}
	return r.URL.RequestURI() // of a server that keeps no more
}

// path is the target without its query.
func (r *Request) path() string {
	path, _, _ := strings.Cut(r.Target, "?")
	return path
}

func (r *Request) rawQuery() string {
	_, query, _ := strings.Cut(r.Target, "?")
	return query
}

// cookie is the value of the first cookie of a name; empty without one.
func (r *Request) cookie(name string) string {
	for _, line := range r.Header["Cookie"] {
		for part := range strings.SplitSeq(line, ";") {
			key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			if key == name {
				return strings.Trim(value, `"`)
			}
		}
	}
	return ""
}

// ClientIP is the address of the client's end of the connection, without port.
func (r *Request) ClientIP() string { return hostOf(r.Remote) }

// ClientIP is the address of the client's end of the connection, without port.
func ClientIP(r *http.Request) string { return hostOf(r.RemoteAddr) }

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
