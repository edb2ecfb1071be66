package proxy

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
)

// clients are the listener's side of the proxy: a loop of our own that takes
// ordinary requests over clear text, and net/http's server for all others.
type clients struct {
	log    accessLog
	fast   loop // nil: everything is net/http's
	server *http.Server
	limit  listener
	cut    context.CancelFunc // ends the requests, also those that were upgraded
}

// A loop serves connections, and hands over those that are not for it.
type loop interface {
	Run(net.Listener) error
	Others() net.Listener
	Shutdown(context.Context) error
	Close() error
}

func newClients(p *Proxy) (*clients, error) {
	shown, err := p.config.serverTLS()
	if err != nil {
		return nil, err
	}
	requests, cut := context.WithCancel(context.Background())
	c := &clients{
		log: newAccessLog(p.config.AccessLog, p.options.access()), cut: cut,
		limit: listener{limit: p.config.ClientBodyTimeout},
	}
	p.clients = c
	faults := log.New(p.options.Log, "[minilb] ", 0)
	c.server = &http.Server{
		Handler: p.front(), Protocols: clientProtocols(), TLSConfig: shown, ErrorLog: faults,
		ReadHeaderTimeout: p.config.ClientHeaderTimeout, IdleTimeout: p.config.ClientIdleTimeout,
		BaseContext: func(net.Listener) context.Context { return requests },
	}
	if shown == nil {
		c.fast = p.newFast(faults)
	}
	return c, nil
}

// serve takes connections until the server is shut down.
func (c *clients) serve(l net.Listener) error {
	if c.limit.Listener = l; c.server.TLSConfig != nil {
		return c.server.ServeTLS(&c.limit, "", "")
	} else if c.fast == nil {
		return c.server.Serve(&c.limit)
	}
	c.limit.Listener = c.fast.Others()
	var others sync.WaitGroup
	defer others.Wait()
	others.Go(func() { _ = c.server.Serve(&c.limit) }) // which ends with the listener
	return c.fast.Run(l)
}

// shutdown takes no more requests and waits for those in flight.
func (c *clients) shutdown(ctx context.Context) error {
	if c.fast == nil {
		return c.server.Shutdown(ctx)
	}
	// What net/http has is told at once, and ends while the others do. Its own
	// Shutdown would not return before its listener is closed.
	c.server.SetKeepAlivesEnabled(false)
	rest := make(chan error, 1)
	go func() { rest <- c.server.Shutdown(ctx) }()
	return errors.Join(c.fast.Shutdown(ctx), <-rest)
}

// close ends what is left.
func (c *clients) close() {
	c.cut()
	if c.fast != nil {
		_ = c.fast.Close()
	}
	_ = c.server.Close()
}
