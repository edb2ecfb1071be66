//go:build !unix

package proxy

import "log"

// newFast is nil where sockets are not as the loop needs them.
func (p *Proxy) newFast(*log.Logger) loop { return nil }
