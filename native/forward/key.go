package forward

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// A Key finds what the hashing policies hash in a request. ok is false when
// the request has no such thing; the policies take turns then.
type Key func(r *http.Request) (key string, ok bool)

// ParseKey reads the parameter hash-on: client-ip, path, header:NAME,
// cookie:NAME or query:NAME ('=' may stand for ':').
func ParseKey(text string) (Key, error) {
	kind, name, named := strings.Cut(strings.Replace(text, "=", ":", 1), ":")
	switch {
	case kind == "client-ip" && !named:
		return func(r *http.Request) (string, bool) { return ClientIP(r), true }, nil
	case kind == "path" && !named:
		return func(r *http.Request) (string, bool) { return r.URL.EscapedPath(), true }, nil
	case kind == "header" && name != "":
		return headerKey(name), nil
	case kind == "cookie" && name != "":
		return cookieKey(name), nil
	case kind == "query" && name != "":
		return queryKey(name), nil
	}
	return nil, fmt.Errorf("unknown; accepted: client-ip, path, header:NAME, cookie:NAME or query:NAME")
}

func headerKey(name string) Key {
	return func(r *http.Request) (string, bool) {
		value := r.Header.Get(name)
		return value, value != ""
	}
}

func cookieKey(name string) Key {
	return func(r *http.Request) (string, bool) {
		c, err := r.Cookie(name)
		if err != nil || c.Value == "" {
			return "", false
		}
		return c.Value, true
	}
}

func queryKey(name string) Key {
	return func(r *http.Request) (string, bool) {
		// Faulty pairs elsewhere in the query do not matter here.
		values, _ := url.ParseQuery(r.URL.RawQuery)
		return values.Get(name), values.Get(name) != ""
	}
}

// ClientIP is the address of the client's end of the connection, without port.
func ClientIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
