package proxy

import (
	"bufio"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// curl runs the program itself: its idea of HTTP is not Go's.
func curl(t testing.TB, arguments ...string) string {
	t.Helper()
	out, err := exec.Command("curl", append([]string{"--silent", "--show-error", "--max-time", "20"}, arguments...)...).CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

func TestCurlIsServedOverEveryProtocol(t *testing.T) {
	c := newCertificate(t)
	address := serveHandler(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, r.Method, " ", r.RequestURI, " ", n)
	})
	clear := newStackOver(t, quiet, address)
	secured := newStackOver(t, func(config *Config) { quiet(config); config.TLSCert, config.TLSKey = c.cert, c.key }, address)
	plainURL, securedURL := "http://"+clear.Addr()+"/a%2Fb?x", "https://"+secured.Addr()+"/a%2Fb?x"
	protocol := []string{"--write-out", " %{http_version}"}
	large := strings.Repeat("x", 100_000) // long enough for curl to expect a 100
	cases := map[string][]string{
		"GET /a%2Fb?x 0 1.1":       {plainURL},
		"GET /a%2Fb?x 0 1":         {"--http1.0", plainURL},
		"GET /a%2Fb?x 0 2":         {"--http2-prior-knowledge", plainURL},
		"POST /a%2Fb?x 100000 1.1": {"--data", "@-", "--header", "Expect: 100-continue", plainURL},
		"PUT /a%2Fb?x 100000 1.1":  {"--upload-file", "-", plainURL}, // in chunks
	}
	for want, arguments := range cases {
		command := exec.Command("curl", append(append([]string{"--silent", "--show-error", "--max-time", "20"}, protocol...), arguments...)...)
		command.Stdin = strings.NewReader(large)
		out, err := command.CombinedOutput()
		require.NoError(t, err, want+string(out))
		assert.Equal(t, want, string(out))
	}
	assert.Equal(t, "GET /a%2Fb?x 0 2", curl(t, append(protocol, "--cacert", c.cert, securedURL)...), "HTTP/2 by ALPN")
	assert.Equal(t, "GET /a%2Fb?x 0 1.1", curl(t, append(protocol, "--http1.1", "--cacert", c.cert, securedURL)...))
}

// webSocketAccept is the answer to a key (RFC 6455 section 4.2.2).
func webSocketAccept(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// webSocketEcho sends every short message back, unmasked as a server must.
func webSocketEcho(w http.ResponseWriter, r *http.Request) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		webSocketAccept(r.Header.Get("Sec-WebSocket-Key")))
	_ = rw.Flush()
	for {
		opcode, text, err := readFrame(rw.Reader)
		if err != nil {
			return
		}
		_, _ = rw.Write(append([]byte{opcode, byte(len(text))}, text...))
		_ = rw.Flush()
	}
}

// readFrame reads a frame of less than 126 bytes.
func readFrame(in *bufio.Reader) (opcode byte, text []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	var mask [4]byte
	if head[1]&0x80 != 0 {
		if _, err := io.ReadFull(in, mask[:]); err != nil {
			return 0, nil, err
		}
	}
	text = make([]byte, head[1]&0x7f)
	_, err = io.ReadFull(in, text)
	for i := range text {
		text[i] ^= mask[i%4]
	}
	return head[0], text, err
}

func TestWebSocketCarriesMessagesBothWays(t *testing.T) {
	s := newStackOver(t, quiet, serveHandler(t, webSocketEcho))
	key := base64.StdEncoding.EncodeToString([]byte(rand.Text())[:16])
	c := s.raw("GET /chat HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + "\r\n\r\n")
	r, err := http.ReadResponse(c.in, nil)
	require.NoError(t, err)
	require.Equal(t, 101, r.StatusCode)
	assert.Equal(t, webSocketAccept(key), r.Header.Get("Sec-Websocket-Accept"))
	for i := range 100 {
		message := fmt.Sprint("message ", i)
		masked := []byte(message)
		for j := range masked {
			masked[j] ^= "mask"[j%4]
		}
		c.say(string([]byte{0x81, 0x80 | byte(len(message))}) + "mask" + string(masked))
		opcode, text, err := readFrame(c.in)
		require.NoError(t, err)
		assert.Equal(t, byte(0x81), opcode)
		assert.Equal(t, message, string(text))
	}
	require.NoError(t, c.Close())
	s.quietAndBlameless()
}
