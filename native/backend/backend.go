// Package backend is a server to balance: it says which one it is and what it
// was asked, and can be switched to fail or to be slow while it runs.
package backend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"minilb/core/param"
)

// A Mode is how a backend answers at present.
type Mode struct {
	Status int           // of answers to requests
	Health int           // of answers to GET /health; 0: the same, after the same delay
	Delay  time.Duration // before an answer
}

// A Backend answers requests with what it was asked. It is an http.Handler.
type Backend struct {
	name string

	mu   sync.Mutex
	mode Mode
}

// New returns a backend that answers 200 after a delay.
func New(name string, delay time.Duration) *Backend {
	return &Backend{name: name, mode: Mode{Status: http.StatusOK, Delay: delay}}
}

// ServeHTTP answers one request.
func (b *Backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/_backend/mode":
		b.serveMode(w, r)
	case "/health":
		b.serveHealth(w, r)
	default:
		b.serveEcho(w, r)
	}
}

// Mode is how the backend answers now.
func (b *Backend) Mode() Mode {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mode
}

// wait is the delay; false when the client did not wait as well.
func wait(r *http.Request, d time.Duration) bool {
	if d == 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (b *Backend) serveEcho(w http.ResponseWriter, r *http.Request) {
	m := b.Mode()
	// A server that answers without reading cuts its client off.
	_, _ = io.Copy(io.Discard, r.Body)
	if !wait(r, m.Delay) {
		return
	}
	headers := map[string]string{}
	for name, values := range r.Header {
		headers[name] = strings.Join(values, ", ")
	}
	headers["Host"] = r.Host
	b.say(w, m.Status, struct {
		Backend string            `json:"backend"`
		Method  string            `json:"method"`
		Path    string            `json:"path"`
		Headers map[string]string `json:"headers"`
	}{b.name, r.Method, r.RequestURI, headers})
}

// serveHealth answers as requests are answered, unless it was told apart what
// to say: then it lies, and at once.
func (b *Backend) serveHealth(w http.ResponseWriter, r *http.Request) {
	m := b.Mode()
	status := m.Health
	if status == 0 {
		status = m.Status
		if !wait(r, m.Delay) {
			return
		}
	}
	b.say(w, status, struct {
		Backend string `json:"backend"`
		Status  int    `json:"status"`
	}{b.name, status})
}

// say sends a JSON object with a space after each colon, which people and
// their greps expect.
func (b *Backend) say(w http.ResponseWriter, status int, object any) {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false) // a path's & is an &
	out.SetIndent("", "  ")
	if err := out.Encode(object); err != nil {
		panic("backend: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if status != http.StatusNoContent && status != http.StatusNotModified {
		_, _ = w.Write(text.Bytes()) // the client may have left
	}
}

func (b *Backend) serveMode(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost:
		if err := b.change(r.URL.RawQuery); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "accepted: POST /_backend/mode?"+accepted, http.StatusMethodNotAllowed)
		return
	}
	m := b.Mode()
	health := m.Health
	if health == 0 {
		health = m.Status
	}
	b.say(w, http.StatusOK, struct {
		Backend string  `json:"backend"`
		Status  int     `json:"status"`
		Health  int     `json:"health"`
		Delay   float64 `json:"delay"`
	}{b.name, m.Status, health, m.Delay.Seconds()})
}

const accepted = "status=200 to 599, health=200 to 599 and delay=0 to 600 (seconds, or such as 200ms)"

// change switches the mode to what a query says, all of it or nothing.
func (b *Backend) change(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("query %.100q: %w; accepted: %s", query, err, accepted)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.mode
	if values.Has("status") {
		m.Health = 0 // the check follows again
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := m.set(name, values.Get(name)); err != nil {
			return err
		}
	}
	b.mode = m
	return nil
}

func (m *Mode) set(name, value string) (err error) {
	switch name {
	case "status":
		m.Status, err = parseStatus(name, value)
	case "health":
		m.Health, err = parseStatus(name, value)
	case "delay":
		m.Delay, err = parseDelay(value)
	default:
		err = fmt.Errorf("%.40q is unknown; accepted: %s", name, accepted)
	}
	return err
}

func parseStatus(name, value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || !(200 <= n && n <= 599) {
		return 0, fmt.Errorf("%s=%.40s: not a status; accepted: 200 to 599", name, value)
	}
	return n, nil
}

// MaxDelay is the longest delay before an answer.
const MaxDelay = 10 * time.Minute

func parseDelay(value string) (time.Duration, error) {
	d, err := param.ParseDuration(value)
	if err != nil || !(0 <= d && d <= MaxDelay) {
		return 0, fmt.Errorf("delay=%.40s: not a delay; accepted: 0 to 600 seconds, or such as 200ms", value)
	}
	return d, nil
}
