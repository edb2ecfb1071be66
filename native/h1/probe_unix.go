//go:build unix

package h1

import (
	"io"
	"os"
	"syscall"
)

// A probe looks at a socket without waiting. Its closures are made once, for
// the look is part of every exchange on a kept connection.
type probe struct {
	raw   syscall.RawConn
	look  func(fd uintptr)
	quiet bool
	one   [1]byte

	step      func(fd uintptr) bool // nil: only the connection itself can write and read
	out, into []byte
	resting   bool // to be looked at first
	asked     bool
	sent, got int
	err       error
}

func (p *probe) open(sc syscall.Conn, plain bool) {
	if sc == nil {
		return
	}
	if raw, err := sc.SyscallConn(); err == nil {
		p.raw, p.look = raw, p.read
		if plain {
			p.step = p.exchange
		}
	}
}

// direct says whether the socket may be written to and read from here.
func (p *probe) direct() bool { return p.step != nil }

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
	p.quiet = isAgain(err)
}

// ask writes out, and when all of it went reads the first bytes that come back.
// The descriptor is made ready for the wait before anything is written, so that
// the answer cannot be missed and the read that would say that there is none
// yet is not made. With look the socket must be silent before, or it is dead.
func (p *probe) ask(out, into []byte, look bool) (sent, got int, err error) {
	p.out, p.into, p.resting, p.asked, p.sent, p.got, p.err = out, into, look, false, 0, 0, nil
	err = p.raw.Read(p.step)
	p.out, p.into = nil, nil
	if p.err != nil {
		err = p.err
	}
	return p.sent, p.got, err
}

// exchange is called at once, and then whenever there may be something to read.
func (p *probe) exchange(fd uintptr) (done bool) {
	if !p.asked {
		p.asked = true
		if p.resting {
			if p.read(fd); !p.quiet {
				p.err = errDead
				return true
			}
		}
		return !p.write(int(fd))
	}
	return p.receive(int(fd))
}

// write says whether everything was taken. What was not is for a connection
// that can wait to write.
func (p *probe) write(fd int) (all bool) {
	n, err := syscall.Write(fd, p.out)
	for err == syscall.EINTR {
		n, err = syscall.Write(fd, p.out)
	}
	p.sent = max(n, 0)
	if err != nil && !isAgain(err) {
		p.err = os.NewSyscallError("write", err)
	}
	return p.sent == len(p.out)
}

func (p *probe) receive(fd int) (done bool) {
	n, err := syscall.Read(fd, p.into)
	for err == syscall.EINTR {
		n, err = syscall.Read(fd, p.into)
	}
	switch {
	case isAgain(err):
		return false
	case err != nil:
		p.err = os.NewSyscallError("read", err)
	case n == 0:
		p.err = io.EOF
	default:
		p.got = n
	}
	return true
}

func isAgain(err error) bool {
	return err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
}
