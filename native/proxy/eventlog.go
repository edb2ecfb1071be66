package proxy

import (
	"context"
	"io"
	"log/slog"
	"sync"

	"minilb/core/lb"
)

// eventLogger writes events: as the transcript's lines, which the simulator
// prints too, or as one of log/slog's own forms.
func eventLogger(to io.Writer, form string) *slog.Logger {
	switch form {
	case "json":
		return slog.New(slog.NewJSONHandler(to, nil))
	case "text":
		return slog.New(slog.NewTextHandler(to, nil))
	}
	return slog.New(&plainHandler{to: to})
}

// A plainHandler writes each record as a line of words; what is in its
// attributes is in the words already.
type plainHandler struct {
	mu sync.Mutex
	to io.Writer
}

// Enabled is true: there are no debugging records.
func (h *plainHandler) Enabled(context.Context, slog.Level) bool { return true }

// Handle writes a line.
func (h *plainHandler) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := io.WriteString(h.to, "[minilb] "+r.Message+"\n")
	return err
}

// WithAttrs leaves attributes out.
func (h *plainHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup leaves groups out.
func (h *plainHandler) WithGroup(string) slog.Handler { return h }

// logEvent writes an event, in parts as well as in words.
func logEvent(l *slog.Logger, e lb.Event) {
	l.LogAttrs(context.Background(), slog.LevelInfo, e.String(),
		slog.Float64("at", seconds(e.At)), slog.String("backend", e.Backend),
		slog.String("what", e.What.String()), slog.String("reason", e.Reason))
}
