package main

import (
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

// What minilb and the others stand on: no proxy on this machine and in this
// language can cost less than the relay, and one behind net/http's server not
// less than a handler that asks nobody.

// relay reads, writes, reads and writes, and parses nothing. Each client has a
// backend connection of its own.
func relay(backends []string) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	var turn atomic.Uint64
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go relayFor(client, backends[turn.Add(1)%uint64(len(backends))])
		}
	}()
	return l.Addr().String(), nil
}

func relayFor(client net.Conn, address string) {
	defer client.Close()
	backend, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer backend.Close()
	for piece := make([]byte, 4<<10); pass(backend, client, piece) && pass(client, backend, piece); {
	}
}

// pass moves what one read gives, which is a whole small message.
func pass(to io.Writer, from io.Reader, piece []byte) bool {
	n, err := from.Read(piece)
	if err != nil {
		return false
	}
	_, err = to.Write(piece[:n])
	return err == nil
}

// alone is a net/http server whose handler answers by itself.
func alone() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	handler := func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{"text/plain"}
		_, _ = io.WriteString(w, small)
	}
	go func() { _ = http.Serve(l, http.HandlerFunc(handler)) }()
	return l.Addr().String(), nil
}
