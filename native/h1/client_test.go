package h1

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func startServer(t testing.TB, h http.HandlerFunc) (address string, connections *int) {
	t.Helper()
	n := 0
	s := httptest.NewUnstartedServer(h)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			n++
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), &n
}

func TestSequentialExchangesShareOneConnection(t *testing.T) {
	address, connections := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.RequestURI, body)
	})
	c := newClient()
	defer c.Close()
	for i := range 20 {
		r := &Request{Method: "POST", Target: "/a%2Fb?x=1", Host: "h", Body: strings.NewReader("hi"), Length: 2}
		if i%2 == 0 {
			r.Length = -1
		}
		res, f := c.Do(context.Background(), address, r)
		require.Nil(t, f)
		body, err := io.ReadAll(res)
		require.NoError(t, err)
		require.NoError(t, res.Close())
		assert.Equal(t, "POST /a%2Fb?x=1 hi", string(body))
	}
	assert.Equal(t, 1, *connections)
	assert.Equal(t, 1, c.Idle())
}

func TestLargeBodiesPassBothWaysAtOnce(t *testing.T) {
	address, _ := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		io.Copy(w, r.Body)
	})
	c := newClient()
	defer c.Close()
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	res, f := c.Do(context.Background(), address, &Request{Method: "PUT", Target: "/", Host: "h", Body: bytes.NewReader(sent), Length: int64(len(sent))})
	require.Nil(t, f)
	got, err := io.ReadAll(res)
	require.NoError(t, err)
	require.NoError(t, res.Close())
	assert.Equal(t, sha256.Sum256(sent), sha256.Sum256(got))
	assert.Equal(t, 1, c.Idle())
}

func TestRefusedConnectionSentNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l.Close()
	_, f := newClient().Do(context.Background(), l.Addr().String(), &Request{Method: "GET", Target: "/", Host: "h"})
	require.NotNil(t, f)
	assert.Equal(t, Dialling, f.Stage)
	assert.False(t, f.Sent)
}
