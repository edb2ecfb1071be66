package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"minilb/core/lb"
	"minilb/core/param"
	"minilb/native/forward"
)

const adminPrefix = "/_minilb/"

// front sends what is minilb's own to the admin pages and forwards the rest.
// It is no ServeMux: that would clean paths, which are the backends' business.
func (p *Proxy) front() http.Handler {
	admin := p.admin()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, adminPrefix) || r.URL.Path+"/" == adminPrefix {
			admin.ServeHTTP(w, r)
			return
		}
		p.forward.ServeHTTP(w, r)
	})
}

// admin is everything under /_minilb/. It is for whoever sits at this machine.
func (p *Proxy) admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_minilb/status", p.serveStatus)
	mux.HandleFunc("POST /_minilb/drain", p.serveDrain)
	mux.HandleFunc("POST /_minilb/undrain", p.serveUndrain)
	mux.Handle("GET /_minilb/play/", http.StripPrefix("/_minilb/play/", playground(p.options.Play)))
	mux.HandleFunc("/_minilb/", serveIndex)
	return localOnly(mux)
}

const index = `minilb
GET  /_minilb/status                           what every backend is doing, and the last 200 events
POST /_minilb/drain?backend=NAME&timeout=30    no new requests; removed when its last one has ended
POST /_minilb/undrain?backend=NAME             takes a draining backend back
GET  /_minilb/play/                            the playground
`

func serveIndex(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if r.URL.Path != adminPrefix {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, "%.100q is not here; there is:\n\n", r.URL.Path)
	}
	fmt.Fprint(w, index)
}

// localOnly refuses everybody who is not on this machine, and requests that a
// page of another site makes a browser on this machine send. The Host must be
// an address or localhost, or a site could point its own name here.
func localOnly(next http.Handler) http.Handler {
	sameSite := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client, err := netip.ParseAddr(forward.ClientIP(r))
		switch {
		case err != nil || !client.Unmap().IsLoopback():
			http.Error(w, "/_minilb/ answers only to this machine (loopback)", http.StatusForbidden)
		case !localName(r.Host):
			http.Error(w, fmt.Sprintf("/_minilb/ does not answer as %.100q; use 127.0.0.1 or localhost", r.Host), http.StatusForbidden)
		case sameSite.Check(r) != nil:
			http.Error(w, "refused: the request comes from another site's page (Origin, Sec-Fetch-Site)", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func localName(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	_, notAddress := netip.ParseAddr(name)
	return notAddress == nil || name == "localhost" || strings.HasSuffix(name, ".localhost")
}

const (
	drainTimeout    = 30 * time.Second
	maxDrainTimeout = 24 * time.Hour
)

func (p *Proxy) serveDrain(w http.ResponseWriter, r *http.Request) {
	timeout := drainTimeout
	if text := r.URL.Query().Get("timeout"); text != "" {
		var err error
		timeout, err = param.ParseDuration(text)
		if err != nil || !(0 <= timeout && timeout <= maxDrainTimeout) {
			http.Error(w, fmt.Sprintf("timeout %.60q: not a duration; accepted: 0 to 24h, in seconds or such as 500ms", text), http.StatusBadRequest)
			return
		}
	}
	p.change(w, r, func(name string) error { return p.pool.Drain(p.now(), name, timeout) })
}

func (p *Proxy) serveUndrain(w http.ResponseWriter, r *http.Request) {
	p.change(w, r, func(name string) error { return p.pool.Undrain(p.now(), name) })
}

// change does something to the backend that the query names, and answers with
// the status of all.
func (p *Proxy) change(w http.ResponseWriter, r *http.Request, do func(name string) error) {
	name := r.URL.Query().Get("backend")
	err := do(name)
	switch {
	case errors.Is(err, lb.ErrUnknown):
		http.Error(w, fmt.Sprintf("backend %.60q: no such backend; accepted: %s", name, p.names()), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusConflict)
	default:
		p.serveStatus(w, r)
	}
}

func (p *Proxy) names() string {
	var names []string
	for _, s := range p.pool.Status(p.now()) {
		names = append(names, s.Name)
	}
	if names == nil {
		return "none, the pool is empty"
	}
	return strings.Join(names, ", ")
}

func (p *Proxy) serveStatus(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	_ = out.Encode(p.Status()) // the client may have left
}
