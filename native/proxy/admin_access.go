package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"minilb/native/forward"
)

// guardAdmin lets in whoever sits at this machine, and others who show the
// token; and nobody whom a page of another site made their browser send. A
// client without the token must name an address or localhost, or a site could
// point its own name here.
func guardAdmin(token string, next http.Handler) http.Handler {
	sameSite := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known := shows(r, token)
		client, err := netip.ParseAddr(forward.ClientIP(r))
		switch {
		case sameSite.Check(r) != nil:
			http.Error(w, "refused: the request comes from another site's page (Origin, Sec-Fetch-Site)", http.StatusForbidden)
		case known:
			next.ServeHTTP(w, r)
		case (err != nil || !client.Unmap().IsLoopback()) && token != "":
			w.Header().Set("WWW-Authenticate", `Basic realm="minilb", charset="UTF-8"`)
			http.Error(w, "/_minilb/ answers other machines only with the token of --admin-token, as Bearer token or password", http.StatusUnauthorized)
		case err != nil || !client.Unmap().IsLoopback():
			http.Error(w, "/_minilb/ answers only to this machine (loopback); --admin-token lets others in", http.StatusForbidden)
		case !localName(r.Host):
			http.Error(w, fmt.Sprintf("/_minilb/ does not answer as %.100q; use 127.0.0.1 or localhost", r.Host), http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// shows says whether a request has the token, as a Bearer token or as the
// password of any user: browsers ask for one. The time it takes tells nothing
// of the token.
func shows(r *http.Request, token string) bool {
	if token == "" {
		return false
	}
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer {
		_, given, _ = r.BasicAuth()
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

func localName(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	_, notAddress := netip.ParseAddr(name)
	return notAddress == nil || name == "localhost" || strings.HasSuffix(name, ".localhost")
}
