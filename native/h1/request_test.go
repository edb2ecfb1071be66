package h1

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func post(body io.Reader, length int64) *Request {
	return &Request{Method: "POST", Target: "/", Host: "h", Body: body, Length: length}
}

// heard gives every request to a channel, as it was on the wire up to the end
// of its head, and answers.
func heard(to chan<- string) func(*peer) {
	return func(p *peer) {
		to <- p.head()
		p.say(hello)
		p.gone()
	}
}

func TestRequestsAreFramedOnce(t *testing.T) {
	header := http.Header{"Content-Length": {"99"}, "Transfer-Encoding": {"gzip"}, "Host": {"other"}}
	extra := []string{"content-length", "98", "X-Extra", "1"}
	for name, x := range map[string]struct {
		r    Request
		want string
	}{
		"get":             {Request{Method: "GET"}, ""},
		"delete":          {Request{Method: "DELETE", Length: -1}, ""},
		"post nothing":    {Request{Method: "POST"}, "Content-Length: 0\r\n"},
		"length":          {Request{Method: "POST", Body: strings.NewReader("hi"), Length: 2}, "Content-Length: 2\r\n"},
		"empty body":      {Request{Method: "POST", Body: strings.NewReader(""), Length: 0}, "Content-Length: 0\r\n"},
		"unknown":         {Request{Method: "POST", Body: strings.NewReader("hi"), Length: -1}, "Transfer-Encoding: chunked\r\n"},
		"get with a body": {Request{Method: "GET", Body: strings.NewReader("hi"), Length: 2}, "Content-Length: 2\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			x.r.Target, x.r.Host, x.r.Header, x.r.Extra = "/a%2Fb?x=1", "h", header, extra
			head := make(chan string, 1)
			_, err := ask(clientFor(t), backend(t, heard(head)), &x.r)
			require.NoError(t, err)
			assert.Equal(t, x.r.Method+" /a%2Fb?x=1 HTTP/1.1\r\nHost: h\r\nX-Extra: 1\r\n"+x.want+"\r\n", <-head)
		})
	}
}

func TestRequestThatWouldBeReadAsAnotherIsNotSent(t *testing.T) {
	for name, spoil := range map[string]func(*Request){
		"method":    func(r *Request) { r.Method = "GET / HTTP/1.1\r\nA:" },
		"no method": func(r *Request) { r.Method = "" },
		"tunnel":    func(r *Request) { r.Method = "CONNECT" },
		"target":    func(r *Request) { r.Target = "/ HTTP/1.1\r\n\r\nGET /" },
		"no target": func(r *Request) { r.Target = "" },
		"host":      func(r *Request) { r.Host = "h\r\nA: b" },
		"value":     func(r *Request) { r.Header = http.Header{"A": {"b\r\nContent-Length: 5"}} },
		"bare CR":   func(r *Request) { r.Header = http.Header{"A": {"b\rc"}} },
		"bare LF":   func(r *Request) { r.Extra = []string{"A", "b\nc"} },
		"NUL":       func(r *Request) { r.Extra = []string{"A", "b\x00"} },
		"name":      func(r *Request) { r.Extra = []string{"A:b", "c"} },
		"space":     func(r *Request) { r.Header = http.Header{"Content-Length ": {"5"}} },
		"no name":   func(r *Request) { r.Extra = []string{"", "c"} },
	} {
		t.Run(name, func(t *testing.T) {
			r := get()
			spoil(r)
			_, err := ask(clientFor(t), "nowhere.invalid:1", r)
			f := failure(t, err)
			var u Unsendable
			require.ErrorAs(t, f, &u)
			assert.False(t, f.Sent || f.Timeout())
		})
	}
}

func TestTrailersPassBothWays(t *testing.T) {
	for _, announced := range []bool{true, false} {
		for _, body := range []string{"", "hi"} {
			c := clientFor(t)
			var came http.Header
			address := backend(t, func(p *peer) {
				r, got := p.request()
				came = r.Trailer
				chunk := ""
				if got != "" {
					chunk = "2\r\n" + got + "\r\n"
				}
				p.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + "0\r\nA: b\r\na:  c \r\nE:\r\n\r\n")
				p.gone()
			})
			r := post(strings.NewReader(body), -1)
			r.Trailer = func() http.Header {
				return http.Header{"Sum": {"1", "2"}, "Content-Length": {"7"}}
			}
			if announced {
				r.Header = http.Header{"Trailer": {"Sum"}}
			}
			g, err := ask(c, address, r)
			require.NoError(t, err)
			assert.Equal(t, body, g.body)
			assert.Equal(t, http.Header{"A": {"b", "c"}, "E": {""}}, g.trailer)
			assert.Equal(t, http.Header{"Sum": {"1", "2"}}, came)
			assert.Equal(t, 1, c.Idle())
		}
	}
}

func TestTrailerThatWouldBeReadAsAnotherIsTheClients(t *testing.T) {
	r := post(strings.NewReader("hi"), -1)
	r.Trailer = func() http.Header { return http.Header{"A": {"b\r\n\r\nGET / HTTP/1.1"}} }
	_, err := ask(clientFor(t), backend(t, once("")), r)
	var b *BodyError
	require.ErrorAs(t, err, &b)
}

func TestHeldBodyGoesOutAfter100(t *testing.T) {
	c := clientFor(t)
	address := backend(t, func(p *peer) {
		p.head()
		p.say("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
		body := make([]byte, 4)
		io.ReadFull(p.in, body)
		p.say("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n" + string(body))
		p.gone()
	})
	r := post(strings.NewReader("body"), 4)
	r.Hold = true
	g, err := ask(c, address, r)
	require.NoError(t, err)
	assert.Equal(t, "body", g.body)
	assert.Equal(t, 1, c.Idle())
}

func TestHeldBodyIsNotSentAfterARefusal(t *testing.T) {
	c := clientFor(t)
	rest := make(chan string, 1)
	address := backend(t, func(p *peer) {
		p.head()
		p.say("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
		b, _ := io.ReadAll(p.in)
		rest <- string(b)
	}, answers(hello))
	r := post(strings.NewReader("body"), 4)
	r.Hold = true
	g, err := ask(c, address, r)
	require.NoError(t, err)
	assert.Equal(t, 417, g.status)
	assert.Zero(t, c.Idle(), "the body was announced")
	assert.Empty(t, <-rest)
	g, err = ask(c, address, get())
	assertHello(t, g, err)
}

func TestHeldBodyGoesOutWhenNobodySays100(t *testing.T) {
	for name, hint := range map[string]string{"silence": "", "only a hint": "HTTP/1.1 103 Early Hints\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var waited time.Duration
				c := pipeClient(t, func(p *peer) {
					p.head()
					p.say(hint)
					io.ReadFull(p.in, make([]byte, 4))
					waited = time.Since(began)
					time.Sleep(5 * time.Second) // longer than the wait for the 100
					p.say(hello)
					p.gone()
				})
				r := post(strings.NewReader("body"), 4)
				r.Hold = true
				g, err := ask(c, "pipe", r)
				assertHello(t, g, err)
				assert.GreaterOrEqual(t, waited, expectWait)
				assert.LessOrEqual(t, waited, expectWait*9/8)
				assert.Equal(t, 1, c.Idle())
			})
		})
	}
}

func TestHeadThatComesInPartsMayTakeItsTimeThoughABodyIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := pipeClient(t, func(p *peer) {
			p.head()
			p.say("HTTP/1.1 417 Exp")
			time.Sleep(3 * time.Second)
			p.say("ectation Failed\r\nContent-Length: 0\r\n\r\n")
		})
		r := post(strings.NewReader("body"), 4)
		r.Hold = true
		g, err := ask(c, "pipe", r)
		require.NoError(t, err)
		assert.Equal(t, 417, g.status)
	})
}

func TestEarlyAnswerIsReadWhileTheBodyIsBeingSent(t *testing.T) {
	c := clientFor(t)
	address := backend(t, func(p *peer) {
		p.head()
		io.CopyN(io.Discard, p.in, 1<<20)
		p.say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge")
		p.gone()
	})
	body, wake := blockingBody()
	r := post(io.MultiReader(bytes.NewReader(make([]byte, 1<<20)), body), 1<<30)
	woken := false
	r.Interrupt = func() { woken = true; wake() }
	began := time.Now()
	g, err := ask(c, address, r)
	require.NoError(t, err)
	assert.Equal(t, 413, g.status)
	assert.Equal(t, "large", g.body)
	assert.True(t, woken)
	assert.Zero(t, c.Idle())
	assert.Less(t, time.Since(began), guard/2)
}

func TestBackendMayCloseAfterAnEarlyAnswer(t *testing.T) {
	address := backend(t, func(p *peer) {
		p.head()
		p.say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge")
	})
	g, err := ask(clientFor(t), address, post(bytes.NewReader(make([]byte, 8<<20)), 8<<20))
	require.NoError(t, err)
	assert.Equal(t, "large", g.body)
}

// spoiled gives some bytes and then an error.
type spoiled struct {
	left int
	err  error
}

func (s *spoiled) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, s.err
	}
	n := min(len(p), s.left)
	s.left -= n
	return n, nil
}

func TestBodyThatCannotBeReadIsTheClientsFailure(t *testing.T) {
	broken := errors.New("client left")
	for name, r := range map[string]*Request{
		"small":          post(&spoiled{3, broken}, 10),
		"small, short":   post(&spoiled{3, io.EOF}, 10),
		"large":          post(&spoiled{20000, broken}, 30000),
		"large, short":   post(&spoiled{20000, io.EOF}, 30000),
		"chunked":        post(&spoiled{20000, broken}, -1),
		"slow":           post(&spoiled{20000, context.DeadlineExceeded}, -1),
		"without a byte": post(&spoiled{0, broken}, -1),
	} {
		t.Run(name, func(t *testing.T) {
			c := clientFor(t)
			address := backend(t, func(p *peer) { p.gone() })
			began := time.Now()
			_, err := ask(c, address, r)
			f := failure(t, err)
			var b *BodyError
			require.ErrorAs(t, f, &b)
			assert.Equal(t, Sending, f.Stage)
			assert.False(t, f.Received || f.Timeout(), "%+v", f)
			assert.Equal(t, strings.HasPrefix(name, "small"), !f.Sent)
			assert.Zero(t, c.Idle())
			assert.Less(t, time.Since(began), guard/2, "nobody waits for the answer")
		})
	}
}

func TestBodyIsNotReadPastItsLength(t *testing.T) {
	for _, length := range []int{10, 40000} {
		body := bytes.NewReader(make([]byte, length+5))
		address := backend(t, answers(hello, hello))
		c := clientFor(t)
		g, err := ask(c, address, post(body, int64(length)))
		assertHello(t, g, err)
		assert.Equal(t, 5, body.Len())
		g, err = ask(c, address, get())
		assertHello(t, g, err)
	}
}

func TestInterruptedBodyIsNotTheCause(t *testing.T) {
	address := backend(t, func(p *peer) { p.head(); p.say("garbage\r\n\r\n"); p.gone() })
	body, wake := blockingBody()
	r := post(body, -1)
	r.Interrupt = wake
	_, err := ask(clientFor(t), address, r)
	malformed(t, err)
}
