package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
)

const answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: Mon, 02 Jan 2006 15:04:05 GMT\r\nContent-Length: 40\r\n\r\n" + small

const small = "hello from a backend in a small answer.\n"

// serveBackends runs backends that answer everything with the same, and cost
// next to nothing.
func serveBackends(n int) (addresses []string, stop func(), err error) {
	var listeners []net.Listener
	stop = func() {
		for _, l := range listeners {
			_ = l.Close()
		}
	}
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			stop()
			return nil, nil, err
		}
		listeners, addresses = append(listeners, l), append(addresses, l.Addr().String())
		go accept(l)
	}
	return addresses, stop, nil
}

func accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			for in := bufio.NewReader(conn); skipHead(in, nil) == nil; {
				if _, err := io.WriteString(conn, answer); err != nil {
					return
				}
			}
		}()
	}
}

// request sends n requests over connections that are kept alive.
func request(address string, clients, n int) error {
	text := "GET /path?query=1 HTTP/1.1\r\nHost: " + address + "\r\nUser-Agent: proxybench\r\nAccept: */*\r\nCookie: MINILB=b2\r\n\r\n"
	var running sync.WaitGroup
	errs := make(chan error, clients)
	for i := range clients {
		running.Go(func() { errs <- requestOn(address, text, n*(i+1)/clients-n*i/clients) })
	}
	running.Wait()
	for range clients {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

func requestOn(address, text string, n int) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for range n {
		if _, err := io.WriteString(conn, text); err != nil {
			return err
		}
		length := -1
		if err := skipHead(in, &length); err != nil {
			return err
		}
		if length != 40 {
			return fmt.Errorf("an answer of %d bytes, not of 40", length)
		}
		if _, err := in.Discard(length); err != nil {
			return err
		}
	}
	return nil
}

// skipHead reads a head, and the length of the body after it.
func skipHead(in *bufio.Reader, length *int) error {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= len("\r\n") {
			return nil
		}
		if digits, found := bytes.CutPrefix(line, []byte("Content-Length: ")); found && length != nil {
			*length, _ = strconv.Atoi(string(bytes.TrimSpace(digits)))
		}
	}
}
