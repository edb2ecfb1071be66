package backend

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// grace is how long requests in flight may take when a backend is stopped: it
// is a test backend, and whoever stops one wants it gone.
const grace = time.Second

// Serve answers on a listener until ctx ends, and returns when nothing of it
// is left running.
func Serve(ctx context.Context, l net.Listener, b *Backend) error {
	server := &http.Server{Handler: b, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		limit, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if server.Shutdown(limit) != nil {
			_ = server.Close()
		}
	})
	err := server.Serve(l)
	if !stop() {
		<-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
