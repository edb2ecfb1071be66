package h1

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clear answers have one reading.
var clearAnswers = []struct {
	name, method, text string
	status             int
	body               string
	idle               int // connections kept
}{
	{"length", "GET", hello, 200, "hello", 1},
	{"no reason", "GET", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, "", 1},
	{"bare LF in the head", "GET", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", 200, "hi", 1},
	{"equal lengths", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length:  2\r\n\r\nhi", 200, "hi", 1},
	{"chunks", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\nh\r\nA\r\n0123456789\r\n0a\r\nabcdefghij\r\n0\r\n\r\n", 200, "h0123456789abcdefghij", 1},
	{"chunk extensions", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n2 ;c=\"d;e\"\r\nho\r\n000;x\r\n\r\n", 200, "hiho", 1},
	{"until close", "GET", "HTTP/1.1 200 OK\r\n\r\nhi", 200, "hi", 0},
	{"close", "GET", "HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", 0},
	{"1.0", "GET", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", 0},
	{"1.0 keep-alive", "GET", "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", 1},
	{"1.0 keep-alive without length", "GET", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nhi", 200, "hi", 0},
	{"1.0 keep-alive and close", "GET", "HTTP/1.0 200 OK\r\nConnection: keep-alive, close\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", 0},
	{"1.0 after a 1.1 close", "GET", "HTTP/1.1 103 Early\r\nConnection: close\r\n\r\nHTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", 0},
	{"HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", 200, "", 1},
	{"HEAD chunked", "HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200, "", 1},
	{"HEAD with a body", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "", 0},
	{"204", "GET", "HTTP/1.1 204 No Content\r\n\r\n", 204, "", 1},
	{"204 with length", "GET", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", 204, "", 0},
	{"204 chunked", "GET", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", 204, "", 0},
	{"304 with length", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, "", 1},
	{"1xx before", "GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + hello, 200, "hello", 1},
	{"two answers", "GET", hello + hello, 200, "hello", 0},
	{"bytes after chunks", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\r\n", 200, "", 0},
	{"values trimmed", "GET", "HTTP/1.1 200 OK\r\nContent-Length:\t 2 \t\r\nEmpty:\r\n\r\nhi", 200, "hi", 1},
	{"obs-text in reason and value", "GET", "HTTP/1.1 200 \xffk\r\nA: \xe9\r\nContent-Length: 0\r\n\r\n", 200, "", 1},
	{"head of 60 kB", "GET", "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 60<<10) + "\r\nContent-Length: 0\r\n\r\n", 200, "", 1},
}

func TestClearAnswersAreReadAndOnlySafeConnectionsKept(t *testing.T) {
	for _, x := range clearAnswers {
		t.Run(x.name, func(t *testing.T) {
			c := clientFor(t)
			script := once(x.text)
			if x.idle > 0 {
				script = answers(x.text)
			}
			r := get()
			r.Method = x.method
			g, err := ask(c, backend(t, script), r)
			require.NoError(t, err)
			assert.Equal(t, x.status, g.status)
			assert.Equal(t, x.body, g.body)
			assert.Equal(t, x.idle, c.Idle())
		})
	}
}

func TestAnswersMayBeSplitAtEveryByte(t *testing.T) {
	for _, x := range clearAnswers {
		if len(x.text) > 1000 {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			c := pipeClient(t, func(p *peer) {
				p.request()
				for i := range len(x.text) { // a pipe's write returns when its byte was read
					if _, err := p.Write([]byte{x.text[i]}); err != nil {
						return
					}
				}
				if x.idle > 0 {
					p.gone()
				}
			})
			r := get()
			r.Method = x.method
			g, err := ask(c, "pipe", r)
			require.NoError(t, err)
			assert.Equal(t, x.status, g.status)
			assert.Equal(t, x.body, g.body)
		})
	}
}

func TestUnclearAnswersAreMalformed(t *testing.T) {
	const ok, chunked = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, text := range map[string]string{
		"both framings":             ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"differing lengths":         ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"differing in a list":       ok + "Content-Length: 5, 6\r\n\r\nhello",
		"negative length":           ok + "Content-Length: -5\r\n\r\nhello",
		"length with plus":          ok + "Content-Length: +5\r\n\r\nhello",
		"empty length":              ok + "Content-Length:\r\n\r\nhello",
		"hexadecimal length":        ok + "Content-Length: 0x5\r\n\r\nhello",
		"length over 63 bits":       ok + "Content-Length: 9223372036854775808\r\n\r\nhello",
		"gzip":                      ok + "Transfer-Encoding: gzip\r\n\r\nhello",
		"gzip, chunked":             ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"chunked twice":             ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"identity":                  ok + "Transfer-Encoding: identity\r\n\r\nhello",
		"vertical tab in coding":    ok + "Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n",
		"chunked in 1.0":            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"obs-fold":                  ok + "A: b\r\n c\r\n\r\n",
		"fold before any field":     ok + " A: b\r\n\r\n",
		"space before colon":        ok + "Content-Length : 5\r\n\r\nhello",
		"no colon":                  ok + "garbage\r\n\r\n",
		"empty name":                ok + ": b\r\n\r\n",
		"NUL in value":              ok + "A: b\x00c\r\n\r\n",
		"CR in value":               ok + "A: b\rContent-Length: 5\r\n\r\nhello",
		"CR in name":                ok + "A\r: b\r\n\r\n",
		"head of 70 kB":             ok + "A: " + strings.Repeat("a", 70<<10) + "\r\n\r\n",
		"status line of 70 kB":      "HTTP/1.1 200 " + strings.Repeat("a", 70<<10) + "\r\n\r\n",
		"2000 fields":               ok + strings.Repeat("A: b\r\n", 2000) + "\r\n",
		"not HTTP":                  "SSH-2.0-OpenSSH_9.6\r\n\r\n",
		"HTTP/2":                    "HTTP/2.0 200 OK\r\n\r\n",
		"HTTP/1.2":                  "HTTP/1.2 200 OK\r\n\r\n",
		"HTTP/1.10":                 "HTTP/1.10 200 OK\r\n\r\n",
		"lower case":                "http/1.1 200 OK\r\n\r\n",
		"status of two digits":      "HTTP/1.1 20 OK\r\n\r\n",
		"status of four digits":     "HTTP/1.1 2000 OK\r\n\r\n",
		"status below 100":          "HTTP/1.1 099 OK\r\n\r\n",
		"signed status":             "HTTP/1.1 +20 OK\r\n\r\n",
		"two spaces":                "HTTP/1.1  200 OK\r\n\r\n",
		"CR in reason":              "HTTP/1.1 200 O\rK\r\n\r\n",
		"empty line first":          "\r\n" + hello,
		"101 unasked":               "HTTP/1.1 101 Switching Protocols\r\n\r\n",
		"101 informational answers": strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 101) + hello,
		"1xx with a length":         "HTTP/1.1 103 Early\r\nContent-Length: 0\r\n\r\n" + hello,
		"1xx in chunks":             "HTTP/1.1 103 Early\r\nTransfer-Encoding: chunked\r\n\r\n" + hello,
		"bare LF after size":        chunked + "5\nhello\r\n0\r\n\r\n",
		"bare LF after data":        chunked + "5\r\nhello\n0\r\n\r\n",
		"bare LF in extension":      chunked + "5;a\nhello\r\n0\r\n\r\n",
		"bare CR in extension":      chunked + "5;a\rb\r\nhello\r\n0\r\n\r\n",
		"bare LF at the end":        chunked + "0\r\n\n",
		"bare LF in trailer":        chunked + "0\r\nA: b\n\r\n",
		"bare LF after trailer":     chunked + "0\r\nA: b\r\n\n",
		"obs-fold in trailer":       chunked + "0\r\nA: b\r\n c\r\n\r\n",
		"chunk longer than size":    chunked + "4\r\nhello\r\n0\r\n\r\n",
		"no size":                   chunked + "\r\nhello\r\n",
		"extension only":            chunked + ";a\r\n\r\n",
		"size 0x5":                  chunked + "0x5\r\nhello\r\n0\r\n\r\n",
		"signed size":               chunked + "+5\r\nhello\r\n0\r\n\r\n",
		"negative size":             chunked + "-5\r\nhello\r\n0\r\n\r\n",
		"space before size":         chunked + " 5\r\nhello\r\n0\r\n\r\n",
		"space after size":          chunked + "5 \r\nhello\r\n0\r\n\r\n",
		"size over 60 bits":         chunked + "1000000000000000\r\nhello",
		"size that wraps":           chunked + "10000000000000005\r\nhello\r\n0\r\n\r\n",
		"extension of 5 kB":         chunked + "5;" + strings.Repeat("a", 5<<10) + "\r\nhello\r\n0\r\n\r\n",
		"trailers of 70 kB":         chunked + "0\r\nA: " + strings.Repeat("a", 70<<10) + "\r\n\r\n",
		"2000 trailers":             chunked + "0\r\n" + strings.Repeat("A: b\r\n", 2000) + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := clientFor(t)
			_, err := ask(c, backend(t, once(text)), get())
			malformed(t, err)
			f := failure(t, err)
			assert.True(t, f.Sent && f.Received && !f.Reused && !f.Timeout(), "%+v", f)
			assert.Zero(t, c.Idle())
		})
	}
}

func TestBrokenOffAnswersFail(t *testing.T) {
	for text, stage := range map[string]Stage{
		"":                            Waiting,
		"HTTP/1.1 2":                  Waiting,
		"HTTP/1.1 200 OK\r\nA: b\r\n": Waiting,
		"HTTP/1.1 103 Early\r\n\r\n":  Waiting,
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello":                  Reading,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n":              Reading,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello":    Reading,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello":    Reading,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n": Reading,
	} {
		c := clientFor(t)
		_, err := ask(c, backend(t, once(text)), get())
		f := failure(t, err)
		assert.Equal(t, stage, f.Stage, text)
		assert.True(t, f.Sent, text)
		assert.Equal(t, text != "", f.Received, text)
		assert.ErrorContains(t, f, "unexpected EOF", text)
		assert.Zero(t, c.Idle())
	}
}

func TestFailureOfABodyIsFinal(t *testing.T) {
	c := clientFor(t)
	address := backend(t, once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhiX5\r\nhello\r\n0\r\n\r\n"))
	res, f := c.Do(t.Context(), address, get())
	require.Nil(t, f)
	defer res.Close()
	buf := make([]byte, 100)
	n, err := res.Read(buf)
	require.NoError(t, err)
	assert.Equal(t, "hi", string(buf[:n]))
	for range 3 {
		n, err = res.Read(buf)
		assert.Zero(t, n, "garbage is not a body")
		malformed(t, err)
	}
}

func TestReadAfterCloseLeavesTheNextExchangeAlone(t *testing.T) {
	c := clientFor(t)
	address := backend(t, answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", hello), func(p *peer) { p.gone() })
	res, f := c.Do(t.Context(), address, get())
	require.Nil(t, f)
	require.NoError(t, res.Close())
	require.NoError(t, res.Close())
	_, err := res.Read(make([]byte, 1))
	assert.Error(t, err)
	g, err := ask(c, address, get())
	assertHello(t, g, err)
}

func TestChunkIsHandedOutBeforeItsEndHasCome(t *testing.T) {
	more := make(chan struct{})
	address := backend(t, func(p *peer) {
		p.request()
		p.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi")
		<-more
		p.say("\r\n0\r\n\r\n")
		p.gone()
	})
	c := clientFor(t)
	res, f := c.Do(t.Context(), address, get())
	require.Nil(t, f)
	buf := make([]byte, 100)
	n, err := res.Read(buf)
	require.NoError(t, err)
	assert.Equal(t, "hi", string(buf[:n]))
	close(more)
	_, err = res.Read(buf)
	assert.Error(t, err)
	res.Close()
	assert.Equal(t, 1, c.Idle())
}

func TestInformationalAnswersAreToldWithTheirFields(t *testing.T) {
	var told []string
	r := get()
	r.Informational = func(status int, h http.Header) { told = append(told, fmt.Sprint(status, h)) }
	c := clientFor(t)
	address := backend(t, answers("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\n\r\nHTTP/1.1 102 P\r\n\r\n"+hello))
	g, err := ask(c, address, r)
	assertHello(t, g, err)
	assert.Equal(t, []string{"103 map[Link:[</a> </b>]]", "102 map[]"}, told)
}

func TestLengthIsHandedOnOnceAndOnlyIfMeant(t *testing.T) {
	c := clientFor(t)
	g, err := ask(c, backend(t, answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi")), get())
	require.NoError(t, err)
	assert.Equal(t, []string{"2"}, g.header["Content-Length"])
	g, err = ask(c, backend(t, answers("HTTP/1.1 204 OK\r\nContent-Length: 2\r\n\r\n")), get())
	require.NoError(t, err)
	assert.NotContains(t, g.header, "Content-Length")
}

func TestUpgradeHandsOverTheBytesThatCameEarly(t *testing.T) {
	address := backend(t, func(p *peer) {
		p.head()
		p.say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\nearly")
		line, _ := p.in.ReadString('\n')
		p.say(line)
	})
	c := clientFor(t)
	r := get()
	r.Extra = []string{"Connection", "Upgrade", "Upgrade", "echo"}
	res, f := c.Do(t.Context(), address, r)
	require.Nil(t, f)
	assert.Equal(t, 101, res.Status)
	nc, early := res.Upgraded()
	defer nc.Close()
	assert.Equal(t, "early", string(early))
	fmt.Fprintln(nc, "ping")
	buf := make([]byte, 5)
	n, err := nc.Read(buf)
	require.NoError(t, err)
	assert.Equal(t, "ping\n", string(buf[:n]))
	require.NoError(t, res.Close(), "after Upgraded the connection is not the response's")
	assert.Zero(t, c.Idle())
}

func TestUpgradeWhoseContextEndedIsClosed(t *testing.T) {
	ctx, cancel := contextWithCancel()
	defer cancel()
	address := backend(t, func(p *peer) {
		p.head()
		p.say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n")
		p.gone()
	})
	r := get()
	r.Header = http.Header{"Upgrade": {"echo"}}
	res, f := clientFor(t).Do(ctx, address, r)
	require.Nil(t, f)
	cancel()
	nc, _ := res.Upgraded()
	_, err := nc.Read(make([]byte, 1))
	assert.ErrorIs(t, err, net.ErrClosed)
}

func TestUpgradeBeforeTheBodysEndIsMalformed(t *testing.T) {
	body, wake := blockingBody()
	r := &Request{Method: "POST", Target: "/", Host: "h", Body: body, Length: -1, Interrupt: wake, Extra: []string{"Upgrade", "echo"}}
	address := backend(t, func(p *peer) {
		p.head()
		p.say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n")
		p.gone()
	})
	_, err := ask(clientFor(t), address, r)
	malformed(t, err)
}
