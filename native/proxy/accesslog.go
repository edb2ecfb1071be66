package proxy

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"minilb/native/forward"
)

// withAccessLog writes a line for each request that next answers: in the
// Common Log Format, or as a JSON object with what minilb did besides. Without
// a log it is next itself, and costs nothing.
func withAccessLog(next http.Handler, form string, to io.Writer) http.Handler {
	var line func(*http.Request, *answered, time.Time)
	switch form {
	case "common":
		line = func(r *http.Request, w *answered, began time.Time) { commonLine(to, r, w, began) }
	case "json":
		logger := slog.New(slog.NewJSONHandler(to, nil))
		line = func(r *http.Request, w *answered, began time.Time) { jsonLine(logger, r, w, began) }
	default:
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, target := time.Now(), r.RequestURI
		watched := &answered{ResponseWriter: w}
		defer func() {
			r.RequestURI = target
			line(r, watched, began)
		}()
		next.ServeHTTP(watched, r)
	})
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
func commonLine(to io.Writer, r *http.Request, w *answered, began time.Time) {
	fmt.Fprintf(to, "%s - - [%s] %q %d %d\n", forward.ClientIP(r), began.Format("02/Jan/2006:15:04:05 -0700"),
		r.Method+" "+r.RequestURI+" "+r.Proto, w.status, w.bytes)
}

func jsonLine(logger *slog.Logger, r *http.Request, w *answered, began time.Time) {
	h := w.Header()
	logger.LogAttrs(r.Context(), slog.LevelInfo, "request",
		slog.String("client", forward.ClientIP(r)), slog.String("method", r.Method), slog.String("host", r.Host),
		slog.String("target", r.RequestURI), slog.String("protocol", r.Proto),
		slog.Int("status", w.status), slog.Int64("bytes", w.bytes), slog.Float64("took_s", time.Since(began).Seconds()),
		slog.String("backend", h.Get("x-minilb-backend")), slog.String("attempts", h.Get("x-minilb-attempts")),
		slog.String("note", h.Get("x-minilb-note")), slog.String("user_agent", strings.ToValidUTF8(r.UserAgent(), "?")))
}
