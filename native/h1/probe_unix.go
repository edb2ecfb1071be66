//go:build unix

package h1

import (
	"errors"
	"syscall"
)

// A probe looks at a socket without waiting. Its closure is made once, for the
// look is part of every exchange on a kept connection.
type probe struct {
	raw   syscall.RawConn
	look  func(fd uintptr)
	quiet bool
	one   [1]byte
}

func (p *probe) open(sc syscall.Conn) {
	if sc == nil {
		return
	}
	if raw, err := sc.SyscallConn(); err == nil {
		p.raw, p.look = raw, p.read
	}
}

// silent says whether the socket is open and has nothing to read. A byte read
// here is lost, and with it the connection: none was due. Control is used, and
// not Read, which fails once an old deadline has passed.
func (p *probe) silent() bool {
	if p.raw == nil {
		return true // not a socket: only the next read can tell
	}
	p.quiet = false
	return p.raw.Control(p.look) == nil && p.quiet
}

func (p *probe) read(fd uintptr) {
	_, err := syscall.Read(int(fd), p.one[:])
	p.quiet = errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EWOULDBLOCK)
}
