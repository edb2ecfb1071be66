//go:build unix

package h1

import "syscall"

// readable looks whether there is something to read, an end included, and
// leaves it there.
func readable(raw syscall.RawConn) bool {
	quiet := false
	raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = err == syscall.EAGAIN
	})
	return !quiet
}
