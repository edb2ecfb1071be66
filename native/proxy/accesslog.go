package proxy

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"minilb/native/forward"
)

// An accessLog writes a line for each request: in the Common Log Format, or as
// a JSON object with what minilb did besides.
type accessLog func(r *logged, w *answered, began time.Time)

// A logged request is what of it is written.
type logged struct {
	ctx                                           context.Context
	client, method, host, target, protocol, agent string
}

// newAccessLog is nil when there is none to be written.
func newAccessLog(form string, to io.Writer) accessLog {
	switch form {
	case "common":
		return func(r *logged, w *answered, began time.Time) { commonLine(to, r, w, began) }
	case "json":
		logger := slog.New(slog.NewJSONHandler(to, nil))
		return func(r *logged, w *answered, began time.Time) { jsonLine(logger, r, w, began) }
	}
	return nil
}

// withAccessLog logs what next answers. Without a log it is next itself, and
// costs nothing.
func withAccessLog(next http.Handler, log accessLog) http.Handler {
	if log == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, watched := time.Now(), &answered{ResponseWriter: w}
		line := &logged{r.Context(), forward.ClientIP(r), r.Method, r.Host, r.RequestURI, r.Proto, r.UserAgent()}
		defer func() { log(line, watched, began) }()
		next.ServeHTTP(watched, r)
	})
}

// A forwarding answers one request of any server loop.
type forwarding func(ctx context.Context, w http.ResponseWriter, r *forward.Request)

// withLog is withAccessLog for requests that are not net/http's.
func (next forwarding) withLog(log accessLog) forwarding {
	if log == nil {
		return next
	}
	return func(ctx context.Context, w http.ResponseWriter, r *forward.Request) {
		began, watched := time.Now(), &answered{ResponseWriter: w}
		line := &logged{ctx, r.ClientIP(), r.Method, r.Host, r.Target, "HTTP/1.1", r.Header.Get("User-Agent")}
		defer func() { log(line, watched, began) }()
		next(ctx, watched, r)
	}
}

// answered remembers what was answered.
type answered struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap is for http.ResponseController: flushing and upgrades go past the log.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader notes the final status.
func (a *answered) WriteHeader(status int) {
	if a.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write counts the body's bytes.
func (a *answered) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

// commonLine is HOST - - [TIME] "METHOD TARGET PROTOCOL" STATUS BYTES. Whatever
// a client could put into it to forge a second line is escaped.
func commonLine(to io.Writer, r *logged, w *answered, began time.Time) {
	fmt.Fprintf(to, "%s - - [%s] %q %d %d\n", r.client, began.Format("02/Jan/2006:15:04:05 -0700"),
		r.method+" "+r.target+" "+r.protocol, w.status, w.bytes)
}

func jsonLine(logger *slog.Logger, r *logged, w *answered, began time.Time) {
	h := w.Header()
	logger.LogAttrs(r.ctx, slog.LevelInfo, "request",
		slog.String("client", r.client), slog.String("method", r.method), slog.String("host", r.host),
		slog.String("target", r.target), slog.String("protocol", r.protocol),
		slog.Int("status", w.status), slog.Int64("bytes", w.bytes), slog.Float64("took_s", time.Since(began).Seconds()),
		slog.String("backend", h.Get("x-minilb-backend")), slog.String("attempts", h.Get("x-minilb-attempts")),
		slog.String("note", h.Get("x-minilb-note")), slog.String("user_agent", strings.ToValidUTF8(r.agent, "?")))
}
