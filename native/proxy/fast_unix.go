//go:build unix

package proxy

import (
	"context"
	"log"
	"net/http"
	"strings"

	"minilb/native/forward"
	"minilb/native/front"
)

// newFast is the loop for ordinary requests.
func (p *Proxy) newFast(faults *log.Logger) loop {
	next := forwarding(func(ctx context.Context, w http.ResponseWriter, r *forward.Request) {
		p.handler().Forward(ctx, w, r)
	})
	c := front.Config{
		Forward: next.withLog(p.clients.log), ErrorLog: faults,
		HeadTimeout: p.config.ClientHeaderTimeout, IdleTimeout: p.config.ClientIdleTimeout, WriteTimeout: p.config.ClientBodyTimeout,
	}
	if p.config.Admin == "" {
		c.Other = isAdmin
	}
	return front.New(c)
}

// isAdmin says whether a target is one of the admin pages, which net/http
// compares with after decoding it.
func isAdmin(target string) bool {
	path, _, _ := strings.Cut(target, "?")
	for i := range len(adminPrefix) - 1 {
		if path == "" {
			return false
		}
		b := path[0]
		path = path[1:]
		if b == '%' && len(path) >= 2 {
			b, path = unhex(path[0])<<4|unhex(path[1]), path[2:]
		}
		if b != adminPrefix[i] {
			return false
		}
	}
	return path == "" || path[0] == '/' || path[0] == '%'
}

// unhex is the value of a hexadecimal digit.
func unhex(digit byte) byte {
	if digit <= '9' {
		return digit - '0'
	}
	return digit | 0x20 - 'a' + 10
}
