package forward

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"minilb/core/scenario"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRequestArrivesAsTheClientWroteIt(t *testing.T) {
	for _, target := range []string{"/", "/a%2Fb//c/?x=1&&y=%20", "/a/../b", "/?", "//double", "/%7Euser/", "/a;b=c"} {
		var got *http.Request
		l := newLab(t, nil, func(r *http.Request) (*http.Response, error) { got = r; return response(200, ""), nil })
		l.do("GET", target, "", "Host", "ignored")
		assert.Equal(t, target, got.URL.RequestURI())
		assert.Equal(t, "example.com", got.Host)
	}
}

func TestRequestHeaderIsThatOfTheNextHop(t *testing.T) {
	h, extra := nextHop(Fields{}, http.Header{
		"Connection": {"", "X-Secret, close", "X-Forwarded-For, Cookie"}, "X-Secret": {"1"}, "Keep-Alive": {"5"},
		"Te": {"gzip, trailers"}, "Upgrade": {"h2c"}, "Proxy-Authorization": {"Basic x"}, "Cookie": {"a=b"},
		"X-Forwarded-For": {"10.0.0.1"}, "Accept": {"b", "a"},
	})
	assert.Equal(t, http.Header{"Accept": {"b", "a"}}, h)
	assert.Equal(t, []string{"Te", "trailers", "X-Forwarded-For", "192.0.2.7"}, extra,
		"Connection has X-Forwarded-For removed, and minilb adds its own afterwards")
}

// nextHop is what becomes of a header on the way to a backend.
func nextHop(f Fields, h http.Header) (http.Header, []string) {
	r := Request{Header: h, Remote: "192.0.2.7:4711", Host: "example.com:8080", Major: 1, Minor: 1}
	extra := f.next(&r, new(Memory), nil)
	return r.Header, extra
}

func TestClientIsAppendedToForwardedFor(t *testing.T) {
	_, extra := nextHop(Fields{}, http.Header{"X-Forwarded-For": {"10.0.0.1, 10.0.0.2", "10.0.0.3"}})
	assert.Equal(t, []string{"X-Forwarded-For", "10.0.0.1, 10.0.0.2, 10.0.0.3, 192.0.2.7"}, extra)
}

func TestFieldsThatTellOfTheClient(t *testing.T) {
	incoming := func() http.Header {
		return http.Header{
			"X-Forwarded-For": {"10.0.0.1"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"outer"},
			"Forwarded": {"for=10.0.0.1"}, "Via": {"2 outer"},
		}
	}
	all := Fields{Proto: true, Host: true, Forwarded: true, Via: true}
	own := `for=192.0.2.7;proto=http;host="example.com:8080"`
	trusted, untrusted := all, all
	trusted.Trusted = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	untrusted.Trusted = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	cases := []struct {
		claim  string
		fields Fields
		header http.Header
		kept   http.Header
		added  []string
	}{
		{"all of it anew", all, http.Header{}, http.Header{}, []string{
			"X-Forwarded-For", "192.0.2.7", "X-Forwarded-Proto", "http", "X-Forwarded-Host", "example.com:8080", "Forwarded", own, "Via", "1.1 minilb"}},
		{"a trusted peer's is kept and added to", trusted, incoming(), http.Header{"X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"outer"}}, []string{
			"X-Forwarded-For", "10.0.0.1, 192.0.2.7", "Forwarded", "for=10.0.0.1, " + own, "Via", "2 outer, 1.1 minilb"}},
		{"another's is replaced", untrusted, incoming(), http.Header{}, []string{
			"X-Forwarded-For", "192.0.2.7", "X-Forwarded-Proto", "http", "X-Forwarded-Host", "example.com:8080", "Forwarded", own, "Via", "2 outer, 1.1 minilb"}},
		{"forged ones go even if none are added", Fields{Trusted: untrusted.Trusted}, incoming(), http.Header{"Via": {"2 outer"}}, []string{"X-Forwarded-For", "192.0.2.7"}},
	}
	for _, c := range cases {
		kept, added := nextHop(c.fields, c.header)
		assert.Equal(t, c.kept, kept, c.claim)
		assert.Equal(t, c.added, added, c.claim)
	}
	assert.Equal(t, `for="[2001:db8::1]";proto=https`, forwarded(&Request{Secure: true}, "2001:db8::1"))
}

func TestAnswerLosesItsHopByHopFields(t *testing.T) {
	l := newLab(t, nil, func(*http.Request) (*http.Response, error) {
		r := response(200, "x")
		r.Header = http.Header{"Connection": {"X-Hop"}, "X-Hop": {"1"}, "Keep-Alive": {"1"}, "Set-Cookie": {"a=1", "b=2"}, "X-Minilb-Note": {"forged"}}
		return r, nil
	})
	h := l.do("GET", "/", "").Header
	assert.Empty(t, h["X-Hop"])
	assert.Empty(t, h["Keep-Alive"])
	assert.Empty(t, h["X-Minilb-Note"])
	assert.Empty(t, h["Content-Type"], "none is made up")
	assert.Equal(t, []string{"a=1", "b=2"}, h["Set-Cookie"])
}

func TestConnectIsRefused(t *testing.T) {
	l := newLab(t, nil, status(200))
	r := httptest.NewRequest("GET", "/", nil)
	r.Method = "CONNECT"
	w := httptest.NewRecorder()
	l.ServeHTTP(w, r)
	assert.Equal(t, 405, w.Code)
	assert.Zero(t, l.up.called("a"))
}

func TestStickyCookieKeepsAClientOnItsBackend(t *testing.T) {
	l := newLab(t, func(b *scenario.Balancer) { b.StickyCookie = "MINILB" }, status(200), status(200), status(502))
	first := l.do("GET", "/", "").Cookies()
	require.Len(t, first, 1)
	assert.Equal(t, "MINILB=a; Path=/; HttpOnly; SameSite=Lax", first[0].Raw)
	for range 5 {
		r := l.do("GET", "/", "", "Cookie", "other=1; MINILB=a")
		assert.Equal(t, "a", r.Header.Get("x-minilb-backend"))
		assert.Empty(t, r.Cookies(), "nothing to rewrite")
	}
	r := l.do("GET", "/", "", "Cookie", "MINILB=c")
	assert.NotEqual(t, "c", r.Header.Get("x-minilb-backend"))
	require.Len(t, r.Cookies(), 1)
	assert.Equal(t, r.Header.Get("x-minilb-backend"), r.Cookies()[0].Value, "the cookie names the backend of the retry")
}

func TestStickyCookieIsRewrittenWhenItsBackendIsGone(t *testing.T) {
	l := newLab(t, func(b *scenario.Balancer) { b.StickyCookie = "MINILB" }, status(200), status(200))
	require.NoError(t, l.Pool.Drain(l.Now(), "a", time.Minute))
	r := l.do("GET", "/", "", "Cookie", "MINILB=a")
	require.Len(t, r.Cookies(), 1)
	assert.Equal(t, "b", r.Cookies()[0].Value)
}

func TestClientThatLeavesIsNoFailureOfTheBackend(t *testing.T) {
	ctx, leave := context.WithCancel(context.Background())
	cancelled := false
	l := newLab(t, nil, func(r *http.Request) (*http.Response, error) {
		leave()
		<-r.Context().Done()
		cancelled = true
		return nil, r.Context().Err()
	}, status(200))
	assert.PanicsWithError(t, http.ErrAbortHandler.Error(), func() {
		l.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil))
	})
	assert.True(t, cancelled, "the attempt was cancelled")
	assert.Zero(t, l.Pool.Status(l.Now())[0].Failures)
	assert.Zero(t, l.up.called("b"), "nothing is retried for nobody")
}

func TestPerTryTimeoutEndsAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }
		l := newLab(t, func(b *scenario.Balancer) { b.PerTryTimeout = time.Second }, silent, status(200))
		start := time.Now()
		r := l.do("GET", "/", "")
		assert.Equal(t, "a:timeout,b:200", r.Header.Get("x-minilb-attempts"))
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestRetryWaitsForItsBackoffAndForTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(b *scenario.Balancer) {
			b.BudgetPercent, b.MinRetryConcurrency, b.BudgetWait = 0, 1, 5*time.Second
		}, status(502), status(200))
		require.True(t, l.Budget.Take(), "another retry has the only place")
		time.AfterFunc(time.Second, l.Budget.Give)
		start := time.Now()
		r := l.do("GET", "/", "")
		assert.Equal(t, "a:502,b:200", r.Header.Get("x-minilb-attempts"))
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestFullPoolHasAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(*http.Request) (*http.Response, error) { time.Sleep(time.Second); return response(200, "x"), nil }
		l := newLab(t, func(b *scenario.Balancer) { b.MaxInflight, b.Queue, b.QueueTimeout = 1, 2, 1500*time.Millisecond }, slow)
		results := make(chan int, 4)
		for range 4 {
			go func() { results <- l.do("GET", "/", "").StatusCode }()
		}
		counts := map[int]int{}
		for range 4 {
			counts[<-results]++
		}
		assert.Equal(t, map[int]int{200: 2, 503: 2}, counts, "one at once, one from the queue, one waits too long, one finds it full")
	})
}

// brokenBody fails after a piece.
type brokenBody struct{ left string }

func (b *brokenBody) Read(p []byte) (int, error) {
	if b.left == "" {
		return 0, errors.New("reset")
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}
func (b *brokenBody) Close() error { return nil }

func TestAnswerThatBreaksOffIsCutAndCounted(t *testing.T) {
	l := newLab(t, nil, func(*http.Request) (*http.Response, error) {
		r := response(200, "")
		r.ContentLength, r.Body = 100, &brokenBody{"half"}
		return r, nil
	}, status(200))
	w := httptest.NewRecorder()
	assert.PanicsWithError(t, http.ErrAbortHandler.Error(), func() { l.ServeHTTP(w, httptest.NewRequest("GET", "/", nil)) })
	assert.Equal(t, "half", w.Body.String())
	assert.Equal(t, uint64(1), l.Pool.Status(l.Now())[0].Failures)
	assert.Zero(t, l.up.called("b"), "never after the first byte")
}

func TestClientWhoseBodyBreaksIsToldSo(t *testing.T) {
	l := newLab(t, nil, echo, status(200))
	r := httptest.NewRequest("PUT", "/", &brokenBody{"half"})
	r.ContentLength = 100
	w := httptest.NewRecorder()
	l.ServeHTTP(w, r)
	assert.Equal(t, 400, w.Code)
	assert.Zero(t, l.Pool.Status(l.Now())[0].Failures, "not the backend's fault")
	assert.Zero(t, l.up.called("b"))
}

func TestPiecesAreFlushedAsTheyCome(t *testing.T) {
	pieces, w := io.Pipe()
	l := newLab(t, nil, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: pieces}, nil
	})
	front := httptest.NewServer(l)
	defer front.Close()
	r, err := http.Get(front.URL)
	require.NoError(t, err, "the head comes before any of the body")
	defer r.Body.Close()
	buffer := make([]byte, 10)
	for _, piece := range []string{"one", "two"} {
		_, err = io.WriteString(w, piece)
		require.NoError(t, err)
		n, err := r.Body.Read(buffer) // would wait for ever if it were held back
		require.NoError(t, err)
		assert.Equal(t, piece, string(buffer[:n]))
	}
	require.NoError(t, w.Close())
	assert.Empty(t, text(t, r))
}

func TestTrailersPassAnnouncedOrNot(t *testing.T) {
	l := newLab(t, nil, func(*http.Request) (*http.Response, error) {
		r := &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Trailer: http.Header{"Grpc-Status": nil}}
		r.Body = io.NopCloser(io.MultiReader(strings.NewReader("x"), readFunc(func() {
			r.Trailer["Grpc-Status"] = []string{"0"}
			r.Trailer["Unannounced"] = []string{"1"}
		})))
		return r, nil
	})
	front := httptest.NewServer(l)
	defer front.Close()
	r, err := http.Get(front.URL)
	require.NoError(t, err)
	defer r.Body.Close()
	assert.Equal(t, "x", text(t, r))
	assert.Equal(t, http.Header{"Grpc-Status": {"0"}, "Unannounced": {"1"}}, r.Trailer)
}

// readFunc is called at the end of a body.
type readFunc func()

func (f readFunc) Read([]byte) (int, error) { f(); return 0, io.EOF }

func TestLeaseIsBackBeforeTheClientHasTheAnswer(t *testing.T) {
	l := newLab(t, nil, status(200))
	w := &watchedWriter{ResponseRecorder: httptest.NewRecorder(), inFlight: func() int { return l.Pool.Counts().InFlight }}
	l.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	assert.Equal(t, []int{0}, w.seen, "a client's next request must find this one counted")
}

type watchedWriter struct {
	*httptest.ResponseRecorder
	inFlight func() int
	seen     []int
}

func (w *watchedWriter) Write(p []byte) (int, error) {
	w.seen = append(w.seen, w.inFlight())
	return w.ResponseRecorder.Write(p)
}

func TestKeysAreFoundWhereHashOnSays(t *testing.T) {
	r := httptest.NewRequest("GET", "/a%2Fb?k=v&e=", nil)
	r.Header.Set("X-User", "u7")
	r.Header.Set("Cookie", "sid=s1")
	cases := []struct {
		on, key string
		ok      bool
	}{
		{"client-ip", "192.0.2.1", true}, {"path", "/a%2Fb", true},
		{"header:X-User", "u7", true}, {"header=x-user", "u7", true}, {"header:X-None", "", false},
		{"cookie:sid", "s1", true}, {"cookie:none", "", false},
		{"query:k", "v", true}, {"query:e", "", false}, {"query:none", "", false},
	}
	for _, c := range cases {
		key, err := ParseKey(c.on)
		require.NoError(t, err)
		got, ok := key(asked(r))
		assert.Equal(t, c.key, got, c.on)
		assert.Equal(t, c.ok, ok, c.on)
	}
	for _, on := range []string{"", "header", "header:", "client-ip:x", "colour"} {
		_, err := ParseKey(on)
		assert.ErrorContains(t, err, "accepted: client-ip", on)
	}
}

func TestKeyChoosesTheBackend(t *testing.T) {
	l := newLab(t, nil, status(200))
	l.Key, _ = ParseKey("header:X-User")
	q := l.query(asked(httptest.NewRequest("GET", "/", nil)))
	assert.False(t, q.HasKey)
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("X-User", "u7")
	q = l.query(asked(r))
	assert.True(t, q.HasKey)
	assert.NotZero(t, q.Hash)
}

func asked(r *http.Request) *Request {
	q := fromHTTP(r)
	return &q
}

func TestUnaskedSwitchOfProtocolsIsABrokenAnswer(t *testing.T) {
	l := newLab(t, func(b *scenario.Balancer) { b.Retries = 0 }, func(*http.Request) (*http.Response, error) {
		return response(101, ""), nil
	})
	r := l.do("GET", "/", "", "Connection", "Upgrade", "Upgrade", "websocket")
	assert.Equal(t, 502, r.StatusCode)
	assert.Equal(t, "a:broken", r.Header.Get("x-minilb-attempts"))
}
