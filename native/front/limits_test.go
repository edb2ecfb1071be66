//go:build unix

package front

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/native/forward"
)

const short = 50 * time.Millisecond

func TestSilentClientsAreClosed(t *testing.T) {
	for claim, way := range map[string]struct {
		limits Config
		say    string
		heard  int
	}{
		"that say nothing":                {Config{HeadTimeout: short}, "", 0},
		"in the middle of a head":         {Config{HeadTimeout: short}, "GET / HTTP/1.1\r\nHo", 0},
		"in the middle of the next head":  {Config{HeadTimeout: short, IdleTimeout: time.Hour}, get + "GET / HTTP/1.1\r\nHo", 1},
		"that do not ask again":           {Config{IdleTimeout: short}, get, 1},
		"that stop between two requests":  {Config{HeadTimeout: time.Hour, IdleTimeout: short}, get + get, 2},
		"and not only when there is more": {Config{HeadTimeout: short, IdleTimeout: 2 * short}, get, 1},
	} {
		t.Run(claim, func(t *testing.T) {
			s := newStand(t, way.limits, tell)
			began := time.Now()
			c := s.dial().say(way.say)
			for range way.heard {
				c.get()
			}
			c.ended()
			assert.GreaterOrEqual(t, time.Since(began), short)
			assert.Zero(t, s.handed.get())
		})
	}
}

// TestDrippingHeadMeetsItsLimit is the slow-loris client: every byte comes in
// time, and all of them do not.
func TestDrippingHeadMeetsItsLimit(t *testing.T) {
	s := newStand(t, Config{HeadTimeout: 2 * short, IdleTimeout: time.Hour}, tell)
	c := s.dial().say(get)
	c.get()
	began := time.Now()
	for _, b := range strings.Repeat("GET / HTTP/1.1\r\nA: ", 1000) {
		if _, err := fmt.Fprintf(c, "%c", b); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	assert.Less(t, time.Since(began), guard/2)
	c.ended()
}

func TestBusyConnectionMeetsNoLimitOfIdleOnes(t *testing.T) {
	s := newStand(t, Config{HeadTimeout: short, IdleTimeout: short}, func(ctx context.Context, w http.ResponseWriter, r *forward.Request) {
		time.Sleep(4 * short)
		tell(ctx, w, r)
	})
	_, body := s.dial().say(get).get()
	assert.Equal(t, "GET / h\n", body)
}

func TestClientThatTakesNothingIsCut(t *testing.T) {
	failed := make(chan error, 1)
	s := newStand(t, Config{WriteTimeout: short}, func(_ context.Context, w http.ResponseWriter, _ *forward.Request) {
		piece := make([]byte, 32<<10)
		for {
			if _, err := w.Write(piece); err != nil {
				failed <- err
				panic(http.ErrAbortHandler)
			}
		}
	})
	s.dial().say(get)
	var late net.Error
	require.ErrorAs(t, <-failed, &late)
	assert.True(t, late.Timeout())
}

func TestSlowReaderIsInTimeAsLongAsItReads(t *testing.T) {
	const size = 1 << 20
	s := newStand(t, Config{WriteTimeout: 4 * short}, func(_ context.Context, w http.ResponseWriter, _ *forward.Request) {
		w.Header()["Content-Length"] = []string{fmt.Sprint(size)}
		for range size / (32 << 10) {
			_, _ = w.Write(make([]byte, 32<<10))
		}
	})
	c := s.dial()
	require.NoError(t, c.Conn.(*net.TCPConn).SetReadBuffer(64<<10))
	c.say(get)
	r, err := http.ReadResponse(c.in, nil)
	require.NoError(t, err)
	n := int64(0)
	for n < size {
		read, err := io.CopyN(io.Discard, r.Body, 64<<10)
		require.NoError(t, err)
		n += read
		time.Sleep(short / 2)
	}
}

func TestShutdownEndsIdleConnectionsAndLetsRequestsEnd(t *testing.T) {
	begun, on := make(chan struct{}), make(chan struct{})
	s := newStand(t, Config{}, func(ctx context.Context, w http.ResponseWriter, r *forward.Request) {
		if r.Target == "/slow" {
			close(begun)
			<-on
		}
		tell(ctx, w, r)
	})
	idle, half := s.dial().say(get), s.dial().say(get+"GET / HT")
	idle.get()
	half.get()
	slow := s.dial().say("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n" + get)
	<-begun
	var ending sync.WaitGroup
	ending.Go(func() { assert.NoError(t, s.Shutdown(t.Context())) })
	idle.ended()
	half.ended()
	_, err := net.Dial("tcp", s.address.String())
	assert.Error(t, err, "nobody is let in any more")
	close(on)
	r, body := slow.get()
	assert.Equal(t, "GET /slow h\n", body)
	assert.True(t, r.Close, "the last answer says so")
	slow.ended()
	ending.Wait()
	_, err = s.Others().Accept()
	assert.ErrorIs(t, err, net.ErrClosed)
}

func TestRequestThatIsOnItsWayAtShutdownIsAnswered(t *testing.T) {
	s := newStand(t, Config{}, tell)
	c := s.dial()
	require.Eventually(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.conns) == 1 }, guard, time.Millisecond)
	var ending sync.WaitGroup
	ending.Go(func() { assert.NoError(t, s.Shutdown(t.Context())) })
	require.Eventually(t, s.closing.Load, guard, time.Millisecond)
	r, _ := c.say(get).get()
	assert.True(t, r.Close)
	c.ended()
	ending.Wait()
}

func TestSilentNewConnectionDoesNotHoldShutdownForLong(t *testing.T) {
	s := newStand(t, Config{}, tell)
	c := s.dial()
	began := time.Now()
	assert.NoError(t, s.Shutdown(t.Context()))
	assert.Less(t, time.Since(began), 2*freshFor)
	c.ended()
}

func TestShutdownGivesUpWithItsContextAndCloseCutsTheRest(t *testing.T) {
	h := newSlow()
	s := newStand(t, Config{}, h.answer)
	c := s.dial().say(get)
	<-h.begun
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	assert.ErrorIs(t, s.Shutdown(ctx), context.DeadlineExceeded)
	require.NoError(t, s.Server.Close())
	assert.Equal(t, context.Canceled, <-h.ended)
	c.ended()
}

func TestIdleConnectionsTakeOneGoroutineEach(t *testing.T) {
	s := newStand(t, Config{}, tell)
	s.dial().say(get).get()
	before := runtime.NumGoroutine()
	for range 50 {
		s.dial().say(get).get()
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), before+50)
}

func TestLimitEndsAnAttemptAndNotTheRequest(t *testing.T) {
	for claim, d := range map[string]time.Duration{"a short one": 10 * time.Millisecond, "one for the look-out": 3 * lookEvery} {
		t.Run(claim, func(t *testing.T) {
			s := newStand(t, Config{}, func(ctx context.Context, w http.ResponseWriter, r *forward.Request) {
				limiter := ctx.(forward.Limiter)
				for range 2 {
					woken := make(chan struct{})
					limiter.Limit(d)
					began := time.Now()
					ctx.(interface{ Watch(func()) }).Watch(func() { close(woken) })
					select {
					case <-woken:
					case <-time.After(guard):
						t.Error("nobody was woken")
					}
					assert.GreaterOrEqual(t, time.Since(began), d-time.Millisecond)
					<-ctx.Done()
					assert.Equal(t, context.DeadlineExceeded, ctx.Err())
					assert.True(t, ctx.(interface{ Unwatch() bool }).Unwatch())
					limiter.Unlimit()
					assert.NoError(t, ctx.Err())
				}
				tell(ctx, w, r)
			})
			c := s.dial()
			for range 3 {
				_, body := c.say(get).get()
				assert.Equal(t, "GET / h\n", body)
			}
		})
	}
}

func TestContextIsOverWithItsRequest(t *testing.T) {
	var kept []context.Context
	s := newStand(t, Config{}, func(ctx context.Context, w http.ResponseWriter, r *forward.Request) {
		assert.NoError(t, ctx.Err())
		ctx.Done() // somebody may look at it later
		kept = append(kept, ctx)
		tell(ctx, w, r)
	})
	c := s.dial()
	for range 3 {
		c.say(get).get()
	}
	for _, ctx := range kept {
		<-ctx.Done()
		assert.Equal(t, context.Canceled, ctx.Err())
	}
}

func TestWatchIsToldOfAnEndThatCameBefore(t *testing.T) {
	w := newWatch(New(Config{}))
	w.begin()
	w.end(context.Canceled)
	called := 0
	w.Watch(func() { called++ })
	assert.Equal(t, 1, called)
	assert.True(t, w.Unwatch())
	w.end(errors.New("again"))
	assert.Equal(t, 1, called)
	assert.True(t, w.finish(), "another request needs another one")
}

// TestNudgeSpoilsNoBody: the look-out may wake the reader in the very moment in
// which a request comes.
func TestNudgeSpoilsNoBody(t *testing.T) {
	s := newStand(t, Config{}, tell)
	stop := make(chan struct{})
	var nudging sync.WaitGroup
	nudging.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			s.mu.Lock()
			for _, c := range s.conns {
				if phase := c.phase.Load(); phase == idle {
					c.nudge(phase, c.since())
				}
			}
			s.mu.Unlock()
		}
	})
	c := s.dial()
	for range 200 {
		c.say("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhello")
		runtime.Gosched()
		c.say("again")
		_, body := c.get()
		require.Equal(t, "POST / h\nContent-Length: 10\n\nhelloagain", body)
	}
	close(stop)
	nudging.Wait()
}

// wrapped hides what a connection is.
type wrapped struct{ net.Listener }

func (w wrapped) Accept() (net.Conn, error) {
	nc, err := w.Listener.Accept()
	return struct{ net.Conn }{nc}, err
}

func TestConnectionThatIsNoSocketIsHandedOver(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := newStandOn(t, wrapped{l}, Config{}, tell)
	_, body := s.dial().say(get).get()
	assert.Equal(t, "GET / h\n", body)
	assert.Equal(t, 1, s.handed.get())
}

func TestContextsThatAreDerivedEndWithIt(t *testing.T) {
	var stopped, ended context.Context
	var late context.CancelCauseFunc
	s := newStand(t, Config{}, func(ctx context.Context, w http.ResponseWriter, r *forward.Request) {
		before := runtime.NumGoroutine()
		var stop context.CancelFunc
		stopped, stop = context.WithCancel(ctx)
		ended, late = context.WithCancelCause(ctx)
		assert.LessOrEqual(t, runtime.NumGoroutine(), before, "and take no goroutine")
		stop()
		assert.NoError(t, ended.Err())
		tell(ctx, w, r)
	})
	c := s.dial()
	for range 2 {
		c.say(get).get()
		<-stopped.Done()
		<-ended.Done()
		assert.Equal(t, context.Canceled, ended.Err())
		late(errors.New("too late"))
	}
}
