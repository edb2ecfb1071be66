package h1

import (
	"context"
	"io"
	"net/http"
	"testing"
)

func BenchmarkExchange(b *testing.B) {
	address, _ := startServer(b, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	c := newClient()
	defer c.Close()
	header := http.Header{"Accept": {"*/*"}, "User-Agent": {"bench"}}
	buf := make([]byte, 4096)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		res, f := c.Do(ctx, address, &Request{Method: "GET", Target: "/", Host: "h", Header: header})
		if f != nil {
			b.Fatal(f)
		}
		for {
			if _, err := res.Read(buf); err != nil {
				break
			}
		}
		res.Close()
	}
}

func BenchmarkTransport(b *testing.B) {
	address, _ := startServer(b, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	buf := make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		req, _ := http.NewRequestWithContext(context.Background(), "GET", "http://"+address+"/", nil)
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := res.Body.Read(buf); err != nil {
				break
			}
		}
		res.Body.Close()
	}
}

// BenchmarkClientAlone has no backend: what is left is this package's own work
// and what its callers cannot avoid.
func BenchmarkClientAlone(b *testing.B) {
	for name, watched := range map[string]bool{"background": false, "cancelable": true} {
		b.Run(name, func(b *testing.B) {
			c := play([]byte("HTTP/1.1 200 OK\r\nDate: Mon, 02 Jan 2006 15:04:05 GMT\r\nContent-Length: 5\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nhello"))
			defer c.Close()
			ctx := context.Background()
			if watched {
				child, cancel := context.WithCancel(ctx)
				defer cancel()
				ctx = child
			}
			header := http.Header{"Accept": {"*/*"}, "User-Agent": {"bench"}}
			buf := make([]byte, 4096)
			b.ReportAllocs()
			for b.Loop() {
				res, f := c.Do(ctx, "x", &Request{Method: "GET", Target: "/", Host: "h", Header: header})
				if f != nil {
					b.Fatal(f)
				}
				for {
					if _, err := res.Read(buf); err != nil {
						break
					}
				}
				res.Close()
			}
		})
	}
}

// BenchmarkLookAtRestingConnection is the price of never sending a request
// into a connection that was closed, or spoken into, meanwhile.
func BenchmarkLookAtRestingConnection(b *testing.B) {
	c := clientFor(b)
	address := backend(b, numbered(0))
	res := begin(b, c, address)
	end(b, res)
	cn := c.stack(address).conns[0]
	for b.Loop() {
		if !cn.alive() {
			b.Fatal("dead")
		}
	}
}

// BenchmarkDeadline is what an exchange saves whenever its deadlines are far
// enough away already.
func BenchmarkDeadline(b *testing.B) {
	c := clientFor(b)
	address := backend(b, numbered(0))
	res := begin(b, c, address)
	end(b, res)
	cn := c.stack(address).conns[0]
	b.Run("set", func(b *testing.B) {
		for b.Loop() {
			cn.reads = deadline{}
			cn.readWithin(guard)
		}
	})
	b.Run("kept", func(b *testing.B) {
		for b.Loop() {
			cn.readWithin(guard)
		}
	})
}
