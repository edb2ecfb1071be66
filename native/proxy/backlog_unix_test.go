//go:build unix

package proxy

import (
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// listenBacklog listens with the shortest queue there is.
func listenBacklog(t testing.TB) net.Listener {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	require.NoError(t, syscall.Listen(fd, 0))
	f := os.NewFile(uintptr(fd), "listener")
	l, err := net.FileListener(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	t.Cleanup(func() { _ = l.Close() })
	return l
}
