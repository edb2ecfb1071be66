package forward

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// A Key finds what the hashing policies hash in a request. ok is false when
// the request has no such thing; the policies take turns then.
type Key func(r *Request) (key string, ok bool)

// ParseKey reads the parameter hash-on: client-ip, path, header:NAME,
// cookie:NAME or query:NAME ('=' may stand for ':').
func ParseKey(text string) (Key, error) {
	kind, name, named := strings.Cut(strings.Replace(text, "=", ":", 1), ":")
	switch {
	case kind == "client-ip" && !named:
		return func(r *Request) (string, bool) { return r.ClientIP(), true }, nil
	case kind == "path" && !named:
		return func(r *Request) (string, bool) { return r.path(), true }, nil
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
	name = http.CanonicalHeaderKey(name)
	return func(r *Request) (string, bool) {
		values := r.Header[name]
		if len(values) == 0 {
			return "", false
		}
		return values[0], values[0] != ""
	}
}

func cookieKey(name string) Key {
	return func(r *Request) (string, bool) {
		value := r.cookie(name)
		return value, value != ""
	}
}

func queryKey(name string) Key {
	return func(r *Request) (string, bool) {
		// Faulty pairs elsewhere in the query do not matter here.
		values, _ := url.ParseQuery(r.rawQuery())
		return values.Get(name), values.Get(name) != ""
	}
}
