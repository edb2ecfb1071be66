package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"minilb/native/proxy"
)

// names are the proxies, in the order in which they are shown: minilb with
// everything on, with its defaults, what to compare it with, and the floors.
var names = []string{"minilb", "plain", reference, "relay", "net/http alone"}

// reference is what all are compared with.
const reference = "reverseproxy"

// be is a proxy until its standard input ends. It prints its address.
func be(name string, backends []string) error {
	var address string
	var err error
	switch name {
	case "minilb":
		address, err = minilb(everything, backends)
	case "plain":
		address, err = minilb(func(*proxy.Config) {}, backends)
	case reference:
		address, err = reverseProxy(backends)
	case "relay":
		address, err = relay(backends)
	case "net/http alone":
		address, err = alone()
	default:
		err = fmt.Errorf("-as %q: unknown; accepted: %s", name, strings.Join(names, ", "))
	}
	if err != nil {
		return err
	}
	return serveParent(address)
}

func minilb(change func(*proxy.Config), backends []string) (string, error) {
	c := proxy.Default()
	c.Listen = "127.0.0.1:0"
	list := c.Params().Lookup("backend") // which a second look-up would begin anew
	for i, address := range backends {
		if err := list.Set("b" + strconv.Itoa(i+1) + "=" + address); err != nil {
			return "", err
		}
	}
	change(&c)
	if err := c.Check(); err != nil {
		return "", err
	}
	p, err := proxy.Start(c, proxy.Options{Log: io.Discard})
	if err != nil {
		return "", err
	}
	return p.Addr(), nil
}

// everything is what an operator may have on together.
func everything(c *proxy.Config) {
	c.Algorithm, c.StickyCookie = "least_conn", "MINILB"
	c.MaxInflight, c.RequestTimeout = 1000, 10*time.Second
	c.XForwarded, c.Forwarded, c.Via = []string{"proto", "host"}, true, true
}

type pool struct{ sync.Pool }

func (p *pool) Get() []byte  { return *p.Pool.Get().(*[]byte) }
func (p *pool) Put(b []byte) { p.Pool.Put(&b) }

// reverseProxy takes turns, and does nothing else.
func reverseProxy(backends []string) (string, error) {
	var turn atomic.Uint64
	buffers := &pool{}
	buffers.New = func() any { b := make([]byte, 32<<10); return &b }
	p := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: backends[turn.Add(1)%uint64(len(backends))]})
			r.SetXForwarded()
		},
		Transport:  &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true},
		BufferPool: buffers,
		ErrorLog:   log.New(io.Discard, "", 0),
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = http.Serve(l, p) }()
	return l.Addr().String(), nil
}
