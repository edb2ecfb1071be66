package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"minilb/core/lb"
)

// heartbeat is how often a silent stream shows that it is alive: more often
// than proxies and browsers give up.
const heartbeat = 15 * time.Second

// serveEvents sends the events that are kept, and then each one as it happens,
// as server-sent events whose data is what the status says of an event. A
// client that comes back with Last-Event-ID gets what it missed.
func (p *Proxy) serveEvents(w http.ResponseWriter, r *http.Request) {
	news, stop := p.journal.subscribe()
	defer stop()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	seen, _ := strconv.ParseUint(r.Header.Get("Last-Event-ID"), 10, 64)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		var events []lb.Event
		events, seen = p.journal.since(seen)
		for i, e := range events {
			data, _ := json.Marshal(eventStatus(e)) // texts and a number
			fmt.Fprintf(w, "id: %d\ndata: %s\n\n", seen-uint64(len(events)-1-i), data)
		}
		if out.Flush() != nil {
			return
		}
		select {
		case <-news:
		case <-beat.C:
			fmt.Fprint(w, ": still here\n\n")
		case <-r.Context().Done():
			return
		case <-p.journal.ending:
			return
		}
	}
}
