//go:build unix

package front

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// ways are requests, and who answers them.
var ways = map[string]struct {
	text string
	want verdict
}{
	"an ordinary GET":                    {get, taken},
	"fields in any case":                 {"GET / HTTP/1.1\r\nhOST: h\r\nx-lOwEr: A\r\nACCEPT: b\r\n\r\n", taken},
	"a field twice":                      {"GET / HTTP/1.1\r\nHost: h\r\nA: 1\r\nA: 2\r\na: 3\r\n\r\n", taken},
	"an empty field":                     {"GET / HTTP/1.1\r\nHost: h\r\nA:\r\nB: \t \r\n\r\n", taken},
	"white space around a value":         {"GET / HTTP/1.1\r\nHost:h\r\nA: \t b c\t \r\n\r\n", taken},
	"bytes beyond ASCII in a value":      {"GET / HTTP/1.1\r\nHost: h\r\nA: caf\xc3\xa9 \xff\r\n\r\n", taken},
	"a method of one's own":              {"brew-2! /pot HTTP/1.1\r\nHost: h\r\n\r\n", taken},
	"a target that net/url would change": {"GET //a%2Fb/../;c?d?e=%zz&f#g HTTP/1.1\r\nHost: h\r\n\r\n", taken},
	"bytes beyond ASCII in a target":     {"GET /caf\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n", taken},
	"a host with a port":                 {"GET / HTTP/1.1\r\nHost: [::1%25eth0]:80\r\n\r\n", taken},
	"a body":                             {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", taken},
	"a body of a GET":                    {"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 005\r\n\r\nhello", taken},
	"an empty body":                      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", taken},
	"a POST without a length":            {"POST / HTTP/1.1\r\nHost: h\r\n\r\n", taken},
	"the last request":                   {"GET / HTTP/1.1\r\nHost: h\r\nConnection: Close\r\n\r\n", taken},
	"a connection with options":          {"GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, X-A\r\nX-A: 1\r\nKeep-Alive: 5\r\n\r\n", taken},
	"no cache, in an old way":            {"GET / HTTP/1.1\r\nHost: h\r\nPragma: no-cache\r\n\r\n", taken},
	"no cache, in both ways":             {"GET / HTTP/1.1\r\nHost: h\r\nPragma: no-cache\r\nCache-Control: max-age=1\r\n\r\n", taken},
	"a head of almost 8 kB":              {"GET / HTTP/1.1\r\nHost: h\r\nA: " + strings.Repeat("a", 8000) + "\r\n\r\n", taken},
	"OPTIONS":                            {"OPTIONS /a HTTP/1.1\r\nHost: h\r\n\r\n", taken},
	"TRACE":                              {"TRACE / HTTP/1.1\r\nHost: h\r\n\r\n", taken},

	"a head over 8 kB":                 {"GET / HTTP/1.1\r\nHost: h\r\nA: " + strings.Repeat("a", 9000) + "\r\n\r\n", notOurs},
	"HTTP/1.0":                         {"GET / HTTP/1.0\r\nHost: h\r\n\r\n", notOurs},
	"HTTP/1.2":                         {"GET / HTTP/1.2\r\nHost: h\r\nConnection: close\r\n\r\n", notOurs},
	"HTTP/2 by its preface":            {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", notOurs},
	"HTTP/3":                           {"GET / HTTP/3.0\r\nHost: h\r\n\r\n", notOurs},
	"no version":                       {"GET /\r\nHost: h\r\n\r\n", notOurs},
	"two spaces before the target":     {"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", notOurs},
	"two spaces before the version":    {"GET /  HTTP/1.1\r\nHost: h\r\n\r\n", notOurs},
	"a space after the version":        {"GET / HTTP/1.1 \r\nHost: h\r\n\r\n", notOurs},
	"a space in the target":            {"GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", notOurs},
	"a tab in the request line":        {"GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n", notOurs},
	"a control character in a target":  {"GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n", notOurs},
	"DEL in a target":                  {"GET /\x7f HTTP/1.1\r\nHost: h\r\n\r\n", notOurs},
	"an escape that is none":           {"GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", notOurs},
	"an escape that is cut off":        {"GET /a%4 HTTP/1.1\r\nHost: h\r\n\r\n", notOurs},
	"an absolute target":               {"GET http://o/p HTTP/1.1\r\nHost: h\r\n\r\n", notOurs},
	"the target *":                     {"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", notOurs},
	"a target without a slash":         {"GET a HTTP/1.1\r\nHost: h\r\n\r\n", notOurs},
	"CONNECT":                          {"CONNECT o:1 HTTP/1.1\r\nHost: o:1\r\nConnection: close\r\n\r\n", notOurs},
	"CONNECT with a path":              {"CONNECT /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", notOurs},
	"a method that is no token":        {"G(T / HTTP/1.1\r\nHost: h\r\n\r\n", notOurs},
	"no method":                        {" / HTTP/1.1\r\nHost: h\r\n\r\n", notOurs},
	"an empty line before it":          {"\r\n" + get, notOurs},
	"no Host":                          {"GET / HTTP/1.1\r\n\r\n", notOurs},
	"an empty Host":                    {"GET / HTTP/1.1\r\nHost:\r\n\r\n", notOurs},
	"two Hosts":                        {"GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", notOurs},
	"a Host that is none":              {"GET / HTTP/1.1\r\nHost: h/a\r\n\r\n", notOurs},
	"an upgrade":                       {"GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", notOurs},
	"an upgrade to HTTP/2":             {"GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade, http2-settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n", notOurs},
	"an expectation":                   {"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na", notOurs},
	"an unknown expectation":           {"POST / HTTP/1.1\r\nHost: h\r\nExpect: more\r\nContent-Length: 1\r\n\r\na", notOurs},
	"a body in chunks":                 {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", notOurs},
	"trailers that may be sent":        {"GET / HTTP/1.1\r\nHost: h\r\nTE: trailers\r\n\r\n", notOurs},
	"a Trailer":                        {"GET / HTTP/1.1\r\nHost: h\r\nTrailer: A\r\n\r\n", notOurs},
	"an empty Content-Length":          {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n", notOurs},
	"a signed Content-Length":          {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\na", notOurs},
	"a Content-Length in hexadecimal":  {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x1\r\n\r\na", notOurs},
	"two Content-Lengths that agree":   {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", notOurs},
	"two Content-Lengths that do not":  {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", notOurs},
	"a list as Content-Length":         {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\na", notOurs},
	"a Content-Length beyond 64 bits":  {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10000000000000000001\r\n\r\na", notOurs},
	"a space before the colon":         {"GET / HTTP/1.1\r\nHost: h\r\nA : b\r\n\r\n", notOurs},
	"a field on two lines":             {"GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n", notOurs},
	"a first line that is indented":    {"GET / HTTP/1.1\r\n Host: h\r\n\r\n", notOurs},
	"a field without a colon":          {"GET / HTTP/1.1\r\nHost: h\r\nA\r\n\r\n", notOurs},
	"a field without a name":           {"GET / HTTP/1.1\r\nHost: h\r\n: a\r\n\r\n", notOurs},
	"a name beyond ASCII":              {"GET / HTTP/1.1\r\nHost: h\r\nCaf\xc3\xa9: a\r\n\r\n", notOurs},
	"a null byte in a value":           {"GET / HTTP/1.1\r\nHost: h\r\nA: b\x00c\r\n\r\n", notOurs},
	"a bare CR in a value":             {"GET / HTTP/1.1\r\nHost: h\r\nA: b\rC: d\r\n\r\n", notOurs},
	"lines that end in a bare LF":      {"GET / HTTP/1.1\nHost: h\n\n", notOurs},
	"a field that ends in a bare LF":   {"GET / HTTP/1.1\r\nHost: h\r\nA: b\nC: d\r\n\r\n", notOurs},
	"a last line that is a bare LF":    {"GET / HTTP/1.1\r\nHost: h\r\n\n", notOurs},
	"a length and chunks":              {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", refused},
	"a length and an unknown coding":   {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: x\r\nContent-Length: 1\r\n\r\na", refused},
	"a length and chunks in bare LFs":  {"POST / HTTP/1.1\nHost: h\nContent-Length: 1\nTransfer-Encoding: chunked\n\n0\r\n\r\n", refused},
	"a length and chunks in HTTP/1.0":  {"POST / HTTP/1.0\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", refused},
	"a length and chunks and no Host":  {"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", refused},
	"an end in the middle of the head": {"GET / HTTP/1.1\r\nHo", needMore},
}

func TestOnlyWhatIsPlainIsTaken(t *testing.T) {
	for claim, way := range ways {
		c := &conn{server: New(Config{}), buf: []byte(way.text), w: len(way.text), header: map[string][]string{}}
		want := way.want
		if claim == "a head over 8 kB" {
			want = taken // by the grammar; the buffer does not become so large
		}
		assert.Equal(t, want, c.parse(), claim)
	}
}

// What is handed over comes to net/http from its first byte on, and the
// connection stays there.
func TestWhoeverAnswersNothingIsLost(t *testing.T) {
	s := newStand(t, Config{}, tell)
	for claim, way := range ways {
		t.Run(claim, func(t *testing.T) {
			before := s.handed.get()
			c := dial(t, s.address).say(way.text)
			_ = closeWrite(c.Conn)
			heard, err := io.ReadAll(c.in)
			assert.NoError(t, err)
			assert.NotEmpty(t, heard)
			handed := way.want == notOurs || way.want == needMore
			assert.Equal(t, handed, s.handed.get() > before)
			assert.Equal(t, way.want == refused, strings.HasSuffix(string(heard), "400 Bad Request: both Content-Length and Transfer-Encoding"))
		})
	}
}

func TestTargetsOfOthersAreHandedOver(t *testing.T) {
	s := newStand(t, Config{Other: func(target string) bool { return strings.HasPrefix(target, "/admin") }}, tell)
	c := s.dial().say(get + "GET /admin HTTP/1.1\r\nHost: h\r\n\r\n" + get)
	for _, want := range []string{"GET / h\n", "GET /admin h\n", "GET / h\n"} {
		_, body := c.get()
		assert.Equal(t, want, body)
	}
	assert.Equal(t, 1, s.handed.get())
}
