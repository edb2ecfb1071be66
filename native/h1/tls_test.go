package h1

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// secure is the same script behind TLS, and a client that trusts it.
func secure(t *testing.T, scripts ...func(*peer)) (*Client, string) {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	s.Close()
	for i, script := range scripts {
		scripts[i] = func(p *peer) {
			secured := tls.Server(p.Conn, &tls.Config{Certificates: s.TLS.Certificates})
			defer secured.Close()
			script(&peer{p.t, secured, bufio.NewReader(secured)})
		}
	}
	c := clientFor(t)
	c.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
	c.TLS.RootCAs.AddCert(s.Certificate())
	return c, backend(t, scripts...)
}

func TestSecureBackendIsVerifiedByItsAddressAndKept(t *testing.T) {
	c, address := secure(t, numbered(0), numbered(1))
	assert.Equal(t, "0", end(t, begin(t, c, address)))
	assert.Equal(t, "0", end(t, begin(t, c, address)))
	assert.Equal(t, 1, c.Idle())
	assert.Empty(t, c.TLS.ServerName, "the caller's configuration is left alone")
}

func TestSecureBackendWithAnotherNameIsRefused(t *testing.T) {
	c, address := secure(t, numbered(0))
	c.TLS.ServerName = "other.invalid"
	_, err := ask(c, address, get())
	f := failure(t, err)
	var wrong x509.HostnameError
	require.ErrorAs(t, f, &wrong)
	assert.Equal(t, Dialling, f.Stage)
	assert.False(t, f.Sent)
}

func TestSecureConnectionClosedWhileRestingIsNotUsed(t *testing.T) {
	now := make(chan struct{})
	c, address := secure(t, func(p *peer) { p.request(); p.say(hello); <-now }, numbered(1))
	assert.Equal(t, "hello", end(t, begin(t, c, address)))
	close(now)
	waitDead(t, c, address)
	assert.Equal(t, "1", end(t, begin(t, c, address)))
}

// lastWords gives its bytes and its end in one Read, as crypto/tls does when
// the farewell has come with the data.
type lastWords struct {
	net.Conn
	said []byte
}

func (l *lastWords) Read(p []byte) (int, error) {
	n := copy(p, l.said)
	if l.said = l.said[n:]; len(l.said) == 0 {
		return n, io.EOF
	}
	return n, nil
}

func TestEndThatComesWithTheLastBytesIsNoFailure(t *testing.T) {
	c := newConn(&Client{}, &lastWords{said: make([]byte, 100<<10)})
	for _, f := range []framing{byLength, byClose} {
		c.Conn.(*lastWords).said = make([]byte, 100<<10)
		e := &Response{conn: c, ctx: t.Context(), framing: f, left: 100 << 10}
		var body int
		for err := error(nil); err != io.EOF; {
			var n int
			n, err = e.Read(make([]byte, 64<<10)) // past the connection's buffer
			body += n
			require.True(t, err == nil || err == io.EOF, "%v", err)
		}
		assert.Equal(t, 100<<10, body)
	}
}
