package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"minilb/core/lb"
	"minilb/core/param"
)

const maxDrainTimeout = 24 * time.Hour

func (p *Proxy) serveDrain(w http.ResponseWriter, r *http.Request) {
	if timeout, ok := timeoutOf(w, r); ok {
		p.change(w, r, func(name string) error { return p.pool.Drain(p.now(), name, timeout) })
	}
}

// timeoutOf is how long a drain may take, or false after saying what is wrong.
func timeoutOf(w http.ResponseWriter, r *http.Request) (time.Duration, bool) {
	text := r.FormValue("timeout")
	if text == "" {
		return drainTimeout, true
	}
	timeout, err := param.ParseDuration(text)
	if err != nil || !(0 <= timeout && timeout <= maxDrainTimeout) {
		http.Error(w, fmt.Sprintf("timeout %.60q: not a duration; accepted: 0 to 24h, in seconds or such as 500ms", text), http.StatusBadRequest)
		return 0, false
	}
	return timeout, true
}

func (p *Proxy) serveUndrain(w http.ResponseWriter, r *http.Request) {
	p.change(w, r, func(name string) error { return p.pool.Undrain(p.now(), name) })
}

func (p *Proxy) serveWeight(w http.ResponseWriter, r *http.Request) {
	text := r.FormValue("weight")
	weight, err := strconv.Atoi(text)
	if err != nil || !(1 <= weight && weight <= lb.MaxWeight) {
		http.Error(w, fmt.Sprintf("weight %.60q: not a weight; accepted: 1 to %d", text, lb.MaxWeight), http.StatusBadRequest)
		return
	}
	p.change(w, r, func(name string) error { return p.pool.SetWeight(p.now(), name, weight) })
}

// serveAdd takes a backend in. With active checks it enters after one pass.
func (p *Proxy) serveAdd(w http.ResponseWriter, r *http.Request) {
	b, err := backendOf(r.FormValue("name"), r.FormValue("address"), r.FormValue("weight"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := p.notSelf(b); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := p.pool.Add(p.now(), b); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	p.serveStatus(w, r)
}

// serveRemove is a drain by another name: a backend is never cut off.
func (p *Proxy) serveRemove(w http.ResponseWriter, r *http.Request) {
	p.serveDrain(w, r)
}

// change does something to the backend that the request names, and answers
// with the status of all.
func (p *Proxy) change(w http.ResponseWriter, r *http.Request, do func(name string) error) {
	name := r.FormValue("backend")
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
