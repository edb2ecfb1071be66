//go:build unix

package front

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/native/forward"
)

func TestFramingFieldsInAnyCaseStayInside(t *testing.T) {
	s := newStand(t, Config{}, func(_ context.Context, w http.ResponseWriter, r *forward.Request) {
		w.Header()["content-length"] = []string{"1"}
		w.Header()["TRANSFER-ENCODING"] = []string{"chunked"}
		if r.Target == "/" {
			w.Header()["Content-Length"] = []string{"2"}
		}
		_, _ = io.WriteString(w, "ok")
		w.Header()[http.TrailerPrefix+"content-length"] = []string{"1"}
	})
	heard, err := io.ReadAll(s.dial().say(get + "GET /chunks HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"))
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(heard), "Content-Length: 2"))
	assert.Equal(t, 1, strings.Count(string(heard), "Transfer-Encoding: chunked"))
	assert.NotContains(t, string(heard), "content-length")
	assert.NotContains(t, string(heard), "TRANSFER-ENCODING")
}

// failing is a listener that fails a few times first.
type failing struct {
	net.Listener
	times int
	err   error
}

func (f *failing) Accept() (net.Conn, error) {
	if f.times--; f.times >= 0 {
		return nil, &net.OpError{Op: "accept", Err: f.err}
	}
	return f.Listener.Accept()
}

func TestListenerThatLacksSomethingIsAskedAgain(t *testing.T) {
	for _, err := range []error{syscall.EMFILE, syscall.ENOBUFS, syscall.ENETDOWN} {
		s := newStandOn(t, &failing{listenLocally(t), 3, err}, Config{}, tell)
		_, body := s.dial().say(get).get()
		assert.Equal(t, "GET / h\n", body, err)
	}
}

// broken is a listener that fails for good after one connection.
type broken struct {
	net.Listener
	taken bool
}

func (b *broken) Accept() (net.Conn, error) {
	if b.taken {
		return nil, syscall.EINVAL
	}
	b.taken = true
	return b.Listener.Accept()
}

func TestListenerThatFailsForGoodEndsTheServer(t *testing.T) {
	l := listenLocally(t)
	s := New(Config{Forward: tell})
	ended := make(chan error, 1)
	go func() { ended <- s.Run(&broken{Listener: l}) }()
	c := dial(t, l.Addr())
	assert.ErrorIs(t, <-ended, syscall.EINVAL)
	c.ended()
	_, err := s.Others().Accept()
	assert.ErrorIs(t, err, net.ErrClosed)
}

func TestIdleConnectionKeepsLittle(t *testing.T) {
	s := newStand(t, Config{}, func(ctx context.Context, w http.ResponseWriter, r *forward.Request) {
		for i := range 1000 {
			w.Header()["X-"+strconv.Itoa(i)] = []string{"v"}
		}
		tell(ctx, w, r)
	})
	var names strings.Builder
	for i := 0; names.Len() < 7000; i++ {
		fmt.Fprintf(&names, "A%d:\r\n", i)
	}
	client := s.dial()
	for _, text := range []string{get, "GET / HTTP/1.1\r\nHost: h\r\n" + names.String() + "\r\n", get} {
		client.say(text).get()
		c := s.onlyIdle()
		assert.LessOrEqual(t, len(c.header), maxKept)
		assert.LessOrEqual(t, len(c.request.Header), maxKept)
		assert.LessOrEqual(t, cap(c.values), 2*maxKept)
		assert.LessOrEqual(t, len(c.buf), maxHead)
		assert.Empty(t, c.answer.header)
		assert.LessOrEqual(t, cap(c.answer.fields), 2*maxKept)
		assert.LessOrEqual(t, cap(c.answer.out), 2*firstOut)
	}
}

// onlyIdle is the connection, once it is idle.
func (s *stand) onlyIdle() (c *conn) {
	require.Eventually(s.t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		c = s.conns[0]
		return c.phase.Load() == idle
	}, guard, time.Millisecond)
	return c
}

func TestClientThatNeverReadsDoesNotHoldClose(t *testing.T) {
	ended := make(chan error, 1)
	s := newStand(t, Config{}, func(_ context.Context, w http.ResponseWriter, _ *forward.Request) {
		for {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				ended <- err
				return
			}
		}
	})
	s.dial().say(get + get)
	time.Sleep(short)
	require.NoError(t, s.Server.Close())
	assert.ErrorIs(t, <-ended, net.ErrClosed)
	s.running.Wait()
}

func TestCloseEndsConnectionsInEveryState(t *testing.T) {
	states := []string{
		"", "GET", get, get + "GE", get + "GET / HT", "GET /wait HTTP/1.1\r\nHost: h\r\n\r\n" + get,
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\nabc",
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n",
	}
	for round := range 10 {
		s := newStand(t, Config{}, func(ctx context.Context, w http.ResponseWriter, r *forward.Request) {
			if r.Target == "/wait" {
				<-ctx.Done()
			}
			tell(ctx, w, r)
		})
		for _, text := range states {
			s.dial().say(text)
		}
		time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond)
		if round%2 == 0 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(20))*time.Millisecond)
			err := s.Shutdown(ctx)
			cancel()
			assert.True(t, err == nil || errors.Is(err, context.DeadlineExceeded), err)
		}
		require.NoError(t, s.Server.Close())
		_ = s.others.Close()
		s.running.Wait()
	}
}

// TestConnectionsAreNotMixedUp opens connections and cuts many of them at any
// moment, so that descriptors come and go, and asks whether everybody hears
// the answers to what he asked, in order and whole.
func TestConnectionsAreNotMixedUp(t *testing.T) {
	s := newStand(t, Config{HeadTimeout: short, IdleTimeout: short}, func(_ context.Context, w http.ResponseWriter, r *forward.Request) {
		var body []byte
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
		}
		if rand.IntN(50) == 0 {
			time.Sleep(short / 2)
		}
		text := r.Target + " " + string(body)
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(text))}
		_, _ = io.WriteString(w, text)
	})
	var clients sync.WaitGroup
	for i := range 40 {
		clients.Go(func() {
			for j := range 25 {
				converse(t, s.address, fmt.Sprint("/", i, "/", j, "/"))
			}
		})
	}
	clients.Wait()
	assert.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.conns) == 0
	}, guard, time.Millisecond)
}

// converse asks a few things at once, half of the time not to the end.
func converse(t *testing.T, address net.Addr, path string) {
	nc, err := net.Dial(address.Network(), address.String())
	if !assert.NoError(t, err) {
		return
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(guard))
	if rand.IntN(4) == 0 {
		_ = nc.(*net.TCPConn).SetLinger(0)
	}
	said, wanted := questions(path)
	go drip(nc, said[:len(said)-rand.IntN(2)*rand.IntN(len(said))], len(said))
	in := bufio.NewReader(nc)
	for _, want := range wanted {
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return // it was cut, by us or for its slowness
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			return
		}
		got := string(body)
		assert.True(t, strings.HasPrefix(want, got) && len(got) >= len(path), "%.50q instead of %.50q", got, want)
		if got != want {
			return // its body was cut
		}
	}
}

// questions are a few requests, and what is to be answered. The third and what
// follows may be net/http's.
func questions(path string) (said string, wanted []string) {
	var text strings.Builder
	for i := range 1 + rand.IntN(5) {
		target, body := path+strconv.Itoa(i), strings.Repeat("x", rand.IntN(3)*rand.IntN(6000))
		switch kind := rand.IntN(4); {
		case kind == 0:
			body = ""
			fmt.Fprintf(&text, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", target)
		case kind == 1 && i > 1:
			body += "x"
			fmt.Fprintf(&text, "POST %s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", target, len(body), body)
		default:
			fmt.Fprintf(&text, "POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", target, len(body), body)
		}
		wanted = append(wanted, target+" "+body)
	}
	return text.String(), wanted
}

// drip says a text in pieces, and ends the connection when it was to be longer.
func drip(nc net.Conn, text string, whole int) {
	cut := len(text) < whole
	for text != "" {
		n := min(len(text), 1+rand.IntN(4000))
		if _, err := io.WriteString(nc, text[:n]); err != nil {
			return
		}
		if text = text[n:]; rand.IntN(20) == 0 {
			time.Sleep(time.Duration(rand.IntN(int(short))))
		}
	}
	switch {
	case cut && rand.IntN(2) == 0:
		_ = nc.Close()
	case cut:
		_ = closeWrite(nc)
	}
}
