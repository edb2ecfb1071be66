package proxy

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A certificate is one for 127.0.0.1 and example.com, in files.
type certificate struct {
	cert, key string
	pool      *x509.CertPool
	pair      tls.Certificate
}

func newCertificate(t testing.TB) certificate {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	c := certificate{cert: filepath.Join(t.TempDir(), "cert.pem"), pool: x509.NewCertPool(), pair: s.TLS.Certificates[0]}
	c.key = filepath.Join(filepath.Dir(c.cert), "key.pem")
	key, err := x509.MarshalPKCS8PrivateKey(c.pair.PrivateKey)
	require.NoError(t, err)
	writePEM(t, c.cert, "CERTIFICATE", s.Certificate().Raw)
	writePEM(t, c.key, "PRIVATE KEY", key)
	c.pool.AddCert(s.Certificate())
	return c
}

func writePEM(t testing.TB, path, kind string, bytes []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600))
}

// serveWith is serveHandler for a server with settings of its own.
func serveWith(t testing.TB, server *http.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if server.TLSConfig != nil {
			_ = server.ServeTLS(l, "", "")
		} else {
			_ = server.Serve(l)
		}
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return l.Addr().String()
}

func serveH2C(t testing.TB, h http.HandlerFunc) string {
	var p http.Protocols
	p.SetUnencryptedHTTP2(true) // and nothing else: as a gRPC server
	return serveWith(t, &http.Server{Handler: h, Protocols: &p})
}

// h2Client speaks HTTP/2 only, in clear text.
func h2Client(t testing.TB) *http.Client {
	transport := newH2Transport(dialProbe)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 10 * time.Second}
}

func tlsClient(t testing.TB, c certificate) *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: c.pool}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 10 * time.Second}
}

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

func protocols(w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, r.Proto, " ", r.TLS != nil, " ", r.Header.Get("X-Forwarded-Proto"), " ", r.RequestURI)
}

func body(t testing.TB, r *http.Response, err error) string {
	t.Helper()
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text)
}

func TestClientsMaySpeakTLSAndHTTP2(t *testing.T) {
	c := newCertificate(t)
	s := newStackOver(t, func(config *Config) {
		quiet(config)
		config.TLSCert, config.TLSKey, config.XForwarded, config.StickyCookie = c.cert, c.key, []string{"proto"}, "MINILB"
	}, serveHandler(t, protocols))
	r, err := tlsClient(t, c).Get("https://" + s.Addr() + "/a%2Fb?")
	assert.Equal(t, "HTTP/1.1 false https /a%2Fb?", body(t, r, err))
	assert.Equal(t, "HTTP/2.0", r.Proto, "by ALPN")
	require.Len(t, r.Cookies(), 1)
	assert.True(t, r.Cookies()[0].Secure)
	old := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: c.pool}}
	defer old.CloseIdleConnections()
	r, err = (&http.Client{Transport: old}).Get("https://" + s.Addr())
	assert.Equal(t, "HTTP/1.1 false https /", body(t, r, err))
}

func TestClientsMaySpeakHTTP2InClearText(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, protocols))
	r, err := h2Client(t).Get("http://" + s.Addr() + "/")
	assert.Equal(t, "HTTP/1.1 false  /", body(t, r, err))
	assert.Equal(t, "HTTP/2.0", r.Proto)
}

func TestBackendsMaySpeakHTTP2InClearText(t *testing.T) {
	s := newStackOver(t, func(c *Config) {
		c.BackendProtocol, c.CheckInterval, c.CheckJitter, c.Fall = "h2c", 20*time.Millisecond, 0, 1
	}, serveH2C(t, protocols))
	for _, target := range []string{"/", "/a%2Fb//?x=1&&y=%20", "/?", "//double", "/a/../b", "/%7euser"} {
		_, text := s.raw("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n").answer()
		assert.Equal(t, "HTTP/2.0 false  "+target, text)
	}
	assert.True(t, s.probed("b1").Passed, "probes speak it too")
}

// TestGRPCPassesFromEndToEnd is the shape of a bidirectional call: messages go
// back and forth at once, and the status is in the trailers.
func TestGRPCPassesFromEndToEnd(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.BackendProtocol = "h2c" }, serveH2C(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status")
		in := bufio.NewScanner(r.Body)
		for in.Scan() {
			fmt.Fprintln(w, r.Header.Get("Te"), in.Text())
			_ = http.NewResponseController(w).Flush()
		}
		w.Header().Set("Grpc-Status", "0")
		w.Header().Set(http.TrailerPrefix+"Grpc-Message", "sum "+r.Trailer.Get("X-Sum"))
	}))
	in, out := io.Pipe()
	r, err := http.NewRequest("POST", "http://"+s.Addr()+"/Service/Method", in)
	require.NoError(t, err)
	r.Header.Set("Te", "trailers")
	r.Trailer = http.Header{"X-Sum": nil}
	go func() { _, _ = io.WriteString(out, "one\n") }()
	resp, err := h2Client(t).Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer := bufio.NewReader(resp.Body)
	line, err := answer.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "trailers one\n", line)
	_, _ = io.WriteString(out, "two\n")
	line, _ = answer.ReadString('\n')
	assert.Equal(t, "trailers two\n", line)
	r.Trailer["X-Sum"] = []string{"2"}
	require.NoError(t, out.Close())
	_, err = answer.ReadByte()
	require.Equal(t, io.EOF, err)
	assert.Equal(t, http.Header{"Grpc-Status": {"0"}, "Grpc-Message": {"sum 2"}}, resp.Trailer)
}

// TestGRPCErrorWithoutABodyPasses is an answer of trailers only.
func TestGRPCErrorWithoutABodyPasses(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.BackendProtocol = "h2c" }, serveH2C(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Grpc-Status", "5")
		w.WriteHeader(200)
	}))
	r, err := h2Client(t).Post("http://"+s.Addr(), "application/grpc", nil)
	assert.Empty(t, body(t, r, err))
	assert.Equal(t, "5", r.Header.Get("Grpc-Status")+r.Trailer.Get("Grpc-Status"))
}

func TestHTTP2BackendsMeetTheTimeoutsToo(t *testing.T) {
	s := newStackOver(t, func(c *Config) {
		quiet(c)
		c.BackendProtocol, c.Retries, c.ResponseHeaderTimeout, c.ResponseIdleTimeout = "h2c", 0, short, short
	}, serveH2C(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/half" {
			fmt.Fprint(w, "half")
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}))
	r, text := s.do("GET", "/")
	assert.Equal(t, 504, r.StatusCode)
	assert.Equal(t, "backend b1: no answer within 50ms\n", text)
	r, err := s.client.Get("http://" + s.Addr() + "/half")
	require.NoError(t, err)
	defer r.Body.Close()
	_, err = io.ReadAll(r.Body)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, uint64(2), s.status().Backends[0].Failures)
}

func TestHTTP2BackendThatIsNotThereIsRefused(t *testing.T) {
	s := newStackOver(t, func(c *Config) { quiet(c); c.BackendProtocol = "h2c" }, deadAddress(t), serveH2C(t, protocols))
	for range 2 {
		r, _ := s.do("POST", "/")
		assert.Equal(t, 200, r.StatusCode)
		assert.Contains(t, []string{"b1:refused,b2:200", "b2:200"}, r.Header.Get("x-minilb-attempts"))
	}
}

// TestBackendsCertificateIsAlwaysVerified: only a certificate that is vouched
// for, with the right name, is spoken to.
func TestBackendsCertificateIsAlwaysVerified(t *testing.T) {
	c := newCertificate(t)
	address := serveWith(t, &http.Server{Handler: http.HandlerFunc(protocols), TLSConfig: &tls.Config{Certificates: []tls.Certificate{c.pair}}, ErrorLog: discardLog()})
	cases := []struct {
		claim  string
		change func(*Config)
		says   string
	}{
		{"an unknown one is refused", func(*Config) {}, "backend b1: its certificate is not accepted: x509: certificate signed by unknown authority\n"},
		{"the file's is accepted", func(config *Config) { config.BackendTLSCA = c.cert }, "HTTP/1.1 true  /"},
		{"so is another of its names", func(config *Config) { config.BackendTLSCA, config.BackendTLSName = c.cert, "example.com" }, "HTTP/1.1 true  /"},
		{"a wrong name is refused", func(config *Config) { config.BackendTLSCA, config.BackendTLSName = c.cert, "other.test" },
			"backend b1: its certificate is not accepted: x509: certificate is valid for example.com, *.example.com, not other.test\n"},
	}
	for _, test := range cases {
		t.Run(test.claim, func(t *testing.T) {
			s := newStackOver(t, func(config *Config) {
				config.BackendTLS, config.CheckInterval, config.CheckJitter, config.Fall, config.PanicThreshold = true, 20*time.Millisecond, 0, 1, 100
				config.CheckTimeout, config.ConnectTimeout = 20*time.Millisecond, 10*time.Second
				test.change(config)
			}, address)
			_, text := s.do("GET", "/")
			if text != "no healthy upstream\n" { // a check found out first
				assert.Equal(t, test.says, text)
			}
		})
	}
	clear := newStackOver(t, func(config *Config) { quiet(config); config.BackendTLS = true }, serveBackend(t, "b1", 0))
	_, text := clear.do("GET", "/")
	assert.Equal(t, "backend b1: it does not speak TLS; --backend-tls asks for that\n", text)
}

// TestBackendsMaySpeakHTTP2OverTLS: verified as any, and nothing else is spoken
// when they do not know it.
func TestBackendsMaySpeakHTTP2OverTLS(t *testing.T) {
	c := newCertificate(t)
	speaks := func(h http.HandlerFunc, versions ...string) string {
		return serveWith(t, &http.Server{Handler: h, TLSConfig: &tls.Config{Certificates: []tls.Certificate{c.pair}, NextProtos: versions}, ErrorLog: discardLog()})
	}
	secured := func(change func(*Config)) func(*Config) {
		return func(config *Config) {
			quiet(config)
			config.BackendProtocol, config.BackendTLS, config.BackendTLSCA = "h2", true, c.cert
			config.ConnectTimeout, config.CheckTimeout = 20*time.Second, 20*time.Second // a handshake under load
			change(config)
		}
	}
	s := newStackOver(t, secured(func(c *Config) { c.CheckInterval, c.CheckJitter, c.Fall = 20*time.Millisecond, 0, 1 }), speaks(protocols, "h2"))
	_, text := s.raw("GET /a%2Fb?x HTTP/1.1\r\nHost: x\r\n\r\n").answer()
	assert.Equal(t, "HTTP/2.0 true  /a%2Fb?x", text)
	assert.True(t, s.probed("b1").Passed, "probes speak it too")
	trailing := newStackOver(t, secured(func(*Config) {}), speaks(trailers, "h2"))
	r, text := trailing.do("GET", "/")
	assert.Empty(t, text)
	assert.Equal(t, http.Header{"Grpc-Status": {"0"}, "Grpc-Message": {"fine"}}, r.Trailer)

	for says, other := range map[string]*stack{
		"its certificate is not accepted: x509: certificate signed by unknown authority": newStackOver(t, secured(func(c *Config) { c.BackendTLSCA = "" }), speaks(protocols, "h2")),
		"it does not speak HTTP/2; --backend-protocol h2 asks for that":                  newStackOver(t, secured(func(*Config) {}), serveTLS1(t, c)),
		"it does not speak TLS; --backend-tls asks for that":                             newStackOver(t, secured(func(*Config) {}), serveBackend(t, "b1", 0)),
	} {
		r, text := other.do("POST", "/")
		assert.Equal(t, "backend b1: "+says+"\n", text)
		assert.Equal(t, "b1:refused", r.Header.Get("x-minilb-attempts"), "nothing of the request was sent")
	}
}

// serveTLS1 knows HTTP/1.1 alone.
func serveTLS1(t testing.TB, c certificate) string {
	var p http.Protocols
	p.SetHTTP1(true)
	return serveWith(t, &http.Server{Handler: http.HandlerFunc(protocols), Protocols: &p, TLSConfig: &tls.Config{Certificates: []tls.Certificate{c.pair}}, ErrorLog: discardLog()})
}

func TestFilesThatAreNotThereAreNamed(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.pem")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	cases := map[string]func(*Config){
		"--tls-cert " + none:                             func(c *Config) { c.TLSCert, c.TLSKey = none, none },
		"--backend-tls-ca: open " + none:                 func(c *Config) { c.BackendTLS, c.BackendTLSCA = true, none },
		"--backend-tls-ca " + empty + ": it has no cert": func(c *Config) { c.BackendTLS, c.BackendTLSCA = true, empty },
	}
	for says, change := range cases {
		c := Default()
		c.Listen = "127.0.0.1:0"
		change(&c)
		_, err := Start(c, Options{Log: io.Discard})
		assert.ErrorContains(t, err, says)
	}
}

func TestSettingsThatDoNotGoTogetherAreFaults(t *testing.T) {
	cases := map[string]Wire{
		"--tls-cert, --tls-key: only one":          {TLSCert: "a"},
		"--backend-tls: h2c is":                    {BackendTLS: true, BackendProtocol: "h2c"},
		"--backend-protocol h2: it needs":          {BackendProtocol: "h2"},
		"--backend-tls-name, --backend-tls-ca: th": {BackendTLSName: "a"},
		"--backend-tls-name \"a b\": not a name":   {BackendTLS: true, BackendTLSName: "a b"},
	}
	for says, w := range cases {
		faults := w.check()
		require.Len(t, faults, 1, says)
		assert.ErrorContains(t, faults[0], says)
	}
}

func TestNetworksAreRead(t *testing.T) {
	for text, want := range map[string]string{"10.0.0.0/8": "10.0.0.0/8", "10.1.2.3": "10.1.2.3/32", "::1": "::1/128"} {
		var n Network
		require.NoError(t, n.UnmarshalText([]byte(text)))
		back, _ := n.MarshalText()
		assert.Equal(t, want, string(back))
	}
	for _, text := range []string{"", "10.0.0.1/8", "10.0.0.0/33", "host", "fe80::1%eth0"} {
		assert.ErrorContains(t, new(Network).UnmarshalText([]byte(text)), "accepted: an address", text)
	}
}

func TestHostIsKeptOrTheBackendsOwn(t *testing.T) {
	address := serveHandler(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) })
	for setting, want := range map[string]string{"keep": "client.example", "backend": address} {
		s := newStackOver(t, func(c *Config) { quiet(c); c.Host = setting }, address)
		_, text := s.do("GET", "/", "Host", "client.example")
		assert.Equal(t, want, text)
	}
}
