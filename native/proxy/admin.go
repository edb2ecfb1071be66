package proxy

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
)

const adminPrefix = "/_minilb/"

// front sends what is minilb's own to the admin pages and forwards the rest.
// It is no ServeMux: that would clean paths, which are the backends' business.
// With a listener for the admin pages alone, clients' requests all go on.
func (p *Proxy) front() http.Handler {
	forwarded := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.handler().ServeHTTP(w, r) }))
	forwarded = withAccessLog(forwarded, p.clients.log)
	if p.config.Admin != "" {
		return forwarded
	}
	admin := p.adminPages()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, adminPrefix) || r.URL.Path+"/" == adminPrefix {
			admin.ServeHTTP(w, r)
			return
		}
		forwarded.ServeHTTP(w, r)
	})
}

// adminPages is everything under /_minilb/.
func (p *Proxy) adminPages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_minilb/status", p.serveStatus)
	mux.HandleFunc("GET /_minilb/events", p.serveEvents)
	mux.HandleFunc("GET /_minilb/config", p.serveConfig)
	mux.Handle("GET /_minilb/metrics", p.ops.meters.page())
	mux.HandleFunc("POST /_minilb/drain", p.serveDrain)
	mux.HandleFunc("POST /_minilb/undrain", p.serveUndrain)
	mux.HandleFunc("POST /_minilb/weight", p.serveWeight)
	mux.HandleFunc("POST /_minilb/backends", p.serveAdd)
	mux.HandleFunc("DELETE /_minilb/backends", p.serveRemove)
	mux.Handle("GET /_minilb/play/", http.StripPrefix("/_minilb/play/", playground(p.options.Play)))
	mux.HandleFunc("/_minilb/", serveIndex)
	return guardAdmin(p.config.AdminToken, mux)
}

const index = `minilb
GET  /_minilb/                                 this list, or the live page in a browser
GET  /_minilb/status                           what every backend is doing, and the last 200 events, as JSON
GET  /_minilb/events                           the same events as they happen (server-sent)
GET  /_minilb/metrics                          for Prometheus
GET  /_minilb/config                           the configuration in force
POST /_minilb/drain?backend=NAME&timeout=30    no new requests; removed when its last one has ended
POST /_minilb/undrain?backend=NAME             takes a draining backend back
POST /_minilb/weight?backend=NAME&weight=N     from now on
POST /_minilb/backends?name=NAME&address=HOST:PORT&weight=N    takes a backend in
DELETE /_minilb/backends?backend=NAME&timeout=30               drains it and removes it
GET  /_minilb/play/                            the playground
`

//go:embed page.html
var page []byte

func serveIndex(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if r.URL.Path == adminPrefix && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; frame-ancestors 'none'")
		_, _ = w.Write(page)
		return
	}
	h.Set("Content-Type", "text/plain; charset=utf-8")
	if r.URL.Path != adminPrefix {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, "%s %.100q is not here; there is:\n\n", r.Method, r.URL.Path)
	}
	fmt.Fprint(w, index)
}

func (p *Proxy) serveStatus(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	_ = out.Encode(p.Status()) // the client may have left
}

// serveConfig is the configuration in force, as --print-config prints it.
func (p *Proxy) serveConfig(w http.ResponseWriter, _ *http.Request) {
	text, err := p.live().JSON()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(text)
}

// An adminServer is a listener for /_minilb/ alone.
type adminServer struct {
	listener net.Listener
	server   *http.Server
	say      func(format string, args ...any)
}

func newAdminServer(p *Proxy) (*adminServer, error) {
	l, err := Listen(p.config.Admin)
	if err != nil {
		return nil, fmt.Errorf("--admin: %w", err)
	}
	return &adminServer{listener: l, say: p.say, server: &http.Server{
		Handler: p.adminPages(), ReadHeaderTimeout: p.config.ClientHeaderTimeout, IdleTimeout: p.config.ClientIdleTimeout,
		ErrorLog: log.New(p.options.Log, "[minilb] admin: ", 0),
	}}, nil
}

func (a *adminServer) run() {
	if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
		a.say("stopped answering under /_minilb/: %v", err)
	}
}

// close ends it at once, whoever is being answered.
func (a *adminServer) close() { _ = a.server.Close() }
