package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"

	"minilb/native/forward"
)

// A Wire is how the proxy speaks with clients and backends.
type Wire struct {
	TLSCert         string `param:"tls-cert" help:"PEM file with the certificate shown to clients; with --tls-key it makes the listener speak TLS, HTTP/2 included"`
	TLSKey          string `param:"tls-key" help:"PEM file with the key of --tls-cert"`
	BackendProtocol string `param:"backend-protocol" choices:"h1,h2c,h2" default:"h1" help:"what backends speak: HTTP/1.1, or HTTP/2 (gRPC) in clear text (h2c) or with --backend-tls (h2)"`
	BackendTLS      bool   `param:"backend-tls" help:"speak TLS with the backends; their certificates are always verified"`
	BackendTLSName  string `param:"backend-tls-name" help:"the name that the backends' certificates must have; empty: the host of each address" advanced:"true"`
	BackendTLSCA    string `param:"backend-tls-ca" help:"PEM file with the certificates that vouch for the backends; empty: those of the system" advanced:"true"`
}

// A Headers is what the proxy adds to requests.
type Headers struct {
	Host           string    `param:"host" choices:"keep,backend" default:"keep" help:"the Host that backends see: the client's, or the backend's own address" advanced:"true"`
	XForwarded     []string  `param:"x-forwarded" choices:"proto,host" help:"what is told of the client beside X-Forwarded-For: X-Forwarded-Proto, X-Forwarded-Host" advanced:"true"`
	Forwarded      bool      `param:"forwarded" help:"add the field Forwarded (RFC 7239)" advanced:"true"`
	Via            bool      `param:"via" help:"add the field Via to requests and answers" advanced:"true"`
	TrustedProxies []Network `param:"trusted-proxies" help:"networks whose X-Forwarded-* and Forwarded are kept and added to; those of others are removed; none given: all are kept" advanced:"true"`
}

// A Network is a range of addresses: 10.0.0.0/8, or one address.
type Network struct{ netip.Prefix }

// UnmarshalText reads a network.
func (n *Network) UnmarshalText(text []byte) error {
	if one, err := netip.ParseAddr(string(text)); err == nil && one.Zone() == "" {
		n.Prefix = netip.PrefixFrom(one, one.BitLen())
		return nil
	}
	p, err := netip.ParsePrefix(string(text))
	if err != nil || p != p.Masked() {
		return errors.New("not a network; accepted: an address, or one with a prefix length and no bits set after it, such as 10.0.0.0/8")
	}
	n.Prefix = p
	return nil
}

// MarshalText writes what UnmarshalText reads.
func (n Network) MarshalText() ([]byte, error) { return []byte(n.Prefix.String()), nil }

func (h Headers) fields() forward.Fields {
	f := forward.Fields{
		Proto: slices.Contains(h.XForwarded, "proto"), Host: slices.Contains(h.XForwarded, "host"),
		Forwarded: h.Forwarded, Via: h.Via, BackendHost: h.Host == "backend",
	}
	for _, n := range h.TrustedProxies {
		f.Trusted = append(f.Trusted, n.Prefix)
	}
	return f
}

// check reports settings that do not go together. The files are read when the
// proxy starts.
func (w Wire) check() []error {
	var faults []error
	if (w.TLSCert == "") != (w.TLSKey == "") {
		faults = append(faults, errors.New("--tls-cert, --tls-key: only one of them is given; accepted: both or neither"))
	}
	if w.BackendTLS && w.BackendProtocol == "h2c" {
		faults = append(faults, errors.New("--backend-tls: h2c is HTTP/2 in clear text; accepted: --backend-protocol h1 or h2 with it"))
	}
	if !w.BackendTLS && w.BackendProtocol == "h2" {
		faults = append(faults, errors.New("--backend-protocol h2: it needs --backend-tls; accepted: both, or --backend-protocol h2c for HTTP/2 in clear text"))
	}
	if !w.BackendTLS && (w.BackendTLSName != "" || w.BackendTLSCA != "") {
		faults = append(faults, errors.New("--backend-tls-name, --backend-tls-ca: they need --backend-tls; without it backends are spoken to in clear text"))
	}
	if strings.ContainsAny(w.BackendTLSName, " :/") {
		faults = append(faults, fmt.Errorf("--backend-tls-name %.60q: not a name; accepted: one as in a certificate, such as backend.example", w.BackendTLSName))
	}
	return faults
}

// serverTLS is what clients are shown; nil for clear text.
func (w Wire) serverTLS() (*tls.Config, error) {
	if w.TLSCert == "" {
		return nil, nil
	}
	certificate, err := tls.LoadX509KeyPair(w.TLSCert, w.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %s, --tls-key %s: %s", w.TLSCert, w.TLSKey, strings.TrimPrefix(err.Error(), "tls: "))
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}, nil
}

// backendTLS is how backends are verified; nil for clear text.
func (w Wire) backendTLS() (*tls.Config, error) {
	if !w.BackendTLS {
		return nil, nil
	}
	c := &tls.Config{ServerName: w.BackendTLSName, MinVersion: tls.VersionTLS12}
	if w.BackendTLSCA == "" {
		return c, nil
	}
	text, err := os.ReadFile(w.BackendTLSCA)
	if err != nil {
		return nil, fmt.Errorf("--backend-tls-ca: %w", err)
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--backend-tls-ca %s: it has no certificate; accepted: a PEM file with BEGIN CERTIFICATE", w.BackendTLSCA)
	}
	return c, nil
}

func (w Wire) backendScheme() string {
	if w.BackendTLS {
		return "https"
	}
	return "http"
}

// clientProtocols are HTTP/1.1, HTTP/2 by ALPN, and HTTP/2 in clear text for
// clients that begin with it.
func clientProtocols() *http.Protocols {
	var p http.Protocols
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	return &p
}
