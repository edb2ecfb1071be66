package scenario_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/param"
	"minilb/core/pick"
	"minilb/core/scenario"
)

// with is the default scenario with changes.
func with(change func(*scenario.Scenario)) scenario.Scenario {
	s := scenario.Default()
	change(&s)
	return s
}

func backends(n int) []scenario.Backend {
	list := make([]scenario.Backend, n)
	for i := range list {
		list[i] = scenario.Default().Backends[0]
		list[i].Name = fmt.Sprintf("backend-%d", i)
	}
	return list
}

// deflated wraps pairs as a long link, however long they are.
func deflated(pairs string) string {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression)
	_, _ = w.Write([]byte(pairs))
	_ = w.Close()
	return "#v1z." + base64.RawURLEncoding.EncodeToString(b.Bytes()) + ".0"
}

func TestALinkSaysOnlyWhatDiffersInSchemaOrder(t *testing.T) {
	cases := []struct {
		want   string
		change func(*scenario.Scenario)
	}{
		{"#v1", func(*scenario.Scenario) {}},
		{"#v1", func(s *scenario.Scenario) { s.Rate, s.Fall = 150, 3 }},
		{"#v1;rate=0.5;seed=7;fall=9", func(s *scenario.Scenario) { s.Fall, s.Seed, s.Rate = 9, 7, 0.5 }},
		{"#v1;algorithm=p2c;algorithm=maglev", func(s *scenario.Scenario) { s.Algorithms = []string{"p2c", "maglev"} }},
		{"#v1;backend=fast1:20;backend=slow:100,errors:0.25", func(s *scenario.Scenario) {
			s.Backends = []scenario.Backend{s.Backends[0], s.Backends[2]}
			s.Backends[1].Errors = 0.25
		}},
		{"#v1;check-path=_2Fhealthz_3Fa_3Db", func(s *scenario.Scenario) { s.CheckPath = "/healthz?a=b" }},
		{"#v1;hash-on=header:X-User", func(s *scenario.Scenario) { s.HashOn = "header:X-User" }},
		{"#v1;check-path=_0;retry-on=_0", func(s *scenario.Scenario) { s.CheckPath, s.RetryOn = "", nil }},
		{"#v1;seed=2;later=x:1", func(s *scenario.Scenario) {
			s.Seed, s.Unknown = 2, []scenario.Pair{{Key: "later", Value: "x:1"}}
		}},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, scenario.Encode(with(c.change)))
	}
}

func TestPeopleMayWriteALinkMoreFreely(t *testing.T) {
	want := "#v1;algorithm=p2c;algorithm=maglev;seed=2;backend=a:20,errors:0.1;check-interval=0.2;check-path=_2Fup"
	for _, text := range []string{
		want, want[1:], want + ";", " " + want + "\n", "https://example.org/play/" + want,
		"v1;check-path=/up;check-interval=200ms;backend=a=20,errors=0.10,weight=1;seed=2;algorithm=p2c,maglev",
		"v1;;algorithm=p2c;seed=2;check-path=_2fup;algorithm=maglev;backend=a:2e1,errors=.1;check-interval=200ms",
	} {
		s, err := scenario.Decode(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, scenario.Encode(s), text)
	}
	for _, text := range []string{"", "#", "v1", "#v1", "v1;"} {
		s, err := scenario.Decode(text)
		require.NoError(t, err)
		assert.Equal(t, scenario.Default(), s, text)
	}
}

func TestTheRestOfALinkWithFaultsIsReadAllTheSame(t *testing.T) {
	s, err := scenario.Decode("v1;seed=9;rate=fast;fall=4")
	require.Error(t, err)
	assert.Equal(t, with(func(s *scenario.Scenario) { s.Seed, s.Fall = 9, 4 }), s)
}

func TestEveryFaultIsReportedAtOnce(t *testing.T) {
	_, err := scenario.Decode("v1;rate=NaN;fall=0;backend=x:3,weight:0;oops;backend=y:4;backend=y:5;seed=1;seed=2;algorithm=p2d;r=12")
	want := []string{
		`"oops" is not a pair; accepted: key=value`,
		`algorithm=p2d: unknown; accepted: ` + strings.Join(pick.Names(), ", ") + `; did you mean p2c?`,
		"rate=NaN: not a number; accepted: 0.001 to 1000000 requests/s",
		"seed=1,2: given more than once; accepted: one value",
		"backend=x:3,weight:0: weight=0: outside 1 to 1000",
		"fall=0: outside 1 to 100 probes",
		"r=12: not a digest; accepted: one of 8 hexadecimal digits",
		"backend=y=5: a second backend of that name; accepted: a name of its own for each",
	}
	require.Error(t, err)
	assert.Equal(t, want, strings.Split(err.Error(), "\n"))

	var faults scenario.Faults
	require.ErrorAs(t, err, &faults)
	assert.Contains(t, faults.Flag(), "\n--backend x:3,weight:0: weight=0: outside 1 to 1000\n")
	assert.Contains(t, faults.Flag(), `"oops" is not a pair`)
	var first *param.Error
	require.ErrorAs(t, err, &first)
	assert.Equal(t, "algorithm", first.Name)
	assert.Len(t, faults.Unwrap(), len(want))
}

func TestHostileLinksAreRefused(t *testing.T) {
	var many strings.Builder
	for i := range 65 {
		fmt.Fprintf(&many, ";backend=b%d:20", i)
	}
	long := scenario.Encode(with(func(s *scenario.Scenario) { s.Backends = backends(64) }))
	require.Contains(t, long, "#v1z.")
	cases := []struct{ name, text, want string }{
		{"100 kB", "v1;rate=" + strings.Repeat("1", 100_000), "a link of 100008 bytes: too long; accepted: at most 16384"},
		{"100 kB of nothing", strings.Repeat(";", 100_000), "too long"},
		{"NaN", "v1;rate=NaN", "rate=NaN: not a number; accepted: 0.001 to 1000000 requests/s"},
		{"infinite", "v1;rate=Inf", "rate=Inf: not a number"},
		{"infinite by overflow", "v1;rate=1e999", "rate=1e999: not a number"},
		{"script", "v1;backend=<script>alert(1)</script>:3", `backend name "<script>alert(1)</script>"; accepted: 1 to 32 letters`},
		{"script as a key", "v1;<script>=1", `<script>=1: not a key`},
		{"script in an unknown value", "v1;later=<script>", "later=<script>: an unknown key with characters that no link has"},
		{"weight 0", "v1;backend=x:3,weight:0", "backend=x:3,weight:0: weight=0: outside 1 to 1000"},
		{"weight -1", "v1;backend=x:3,weight:-1", "weight=-1: outside 1 to 1000"},
		{"percent over 100", "v1;max-ejection-percent=101", "max-ejection-percent=101: outside 0 to 100 %"},
		{"errors over 1", "v1;backend=x:3,errors:1.5", "errors=1.5: outside 0 to 1"},
		{"no mean", "v1;backend=x", "backend=x: x has no value; accepted: NAME=MEAN_MS and parts such as errors=0.1"},
		{"no name", "v1;backend=:3", "backend=:3: backend without a name; accepted: 1 to 32 letters, digits, - or _"},
		{"no backend", "v1;backend=", `backend="": an empty element`},
		{"half a backend", "v1;backend=a:3;backend=_0", "backend=_0: _0 has no value"},
		{"a part twice", "v1;backend=a:3,errors:0,errors:1", "errors is given twice"},
		{"a part that is none", "v1;backend=a:3,error:1", "error is not a part of a backend; accepted: capacity, weight, errors, service, cv, queue, order, health, error_ms, errors_after, slow_after, slow_factor, slow_until, crash_at, hang_at, stall_at, stall_for, recover_at, add_at, drain_at, drain_for, cold_for, cold_factor; did you mean errors?"},
		{"same name", "v1;backend=x:3;backend=x:4", "backend=x=4: a second backend of that name"},
		{"65 backends", "v1" + many.String(), "backend=b64:20: one of 65 values; accepted: at most 64 in a link"},
		{"same policy", "v1;algorithm=p2c;algorithm=p2c", "algorithm=p2c: listed twice"},
		{"policy list with a hole", "v1;algorithm=p2c,,maglev", `algorithm="": an empty element`},
		{"later version", "#v2;rate=3", `version "v2" of links: unknown, so it cannot be read safely; this build knows v1`},
		{"later deflated version", "#v2z.AAAA.0", `version "v2z.AAAA.0" of links: unknown`},
		{"no version", "rate=3;seed=2", `"rate=3" does not begin with a version; accepted: v1 (`},
		{"underscore", "v1;sticky-cookie=MY_COOKIE", "sticky-cookie=MY_COOKIE: '_' without two hexadecimal digits after it; accepted: _5F for '_' itself"},
		{"long value", "v1;check-path=" + strings.Repeat("x", 2000), "2000 characters long in a link; accepted: at most 1024"},
		{"long value once escaped", "v1;check-path=" + strings.Repeat("/", 400), "1200 characters long in a link; accepted: at most 1024"},
		{"long unknown", "v1" + strings.Repeat(";later="+strings.Repeat("x", 1000), 3), "3021 characters of unknown keys"},
		{"cut unknown", "v1;later=a,", "later=a,: an unknown key whose value seems to be cut short"},
		{"engine", "v1;e=0", "e=0: not an engine version"},
		{"digest", "v1;r=0123456g", "r=0123456g: not a digest; accepted: one of 8 hexadecimal digits"},
		{"cut deflated", long[:len(long)-2], "the link is cut short"},
		{"truncated base64", long[:len(long)-12] + ".0", "the link is damaged"},
		{"no base64", "#v1z.%%%.0", "the link is damaged"},
		{"no deflate", "#v1z._____w.0", "the link is damaged"},
		{"empty deflate", "#v1z..0", "the link is damaged"},
		{"bomb", deflated(strings.Repeat("a", 1<<20)), "inflates to more than 65536 bytes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := scenario.Decode(c.text)
			require.ErrorContains(t, err, c.want)
			assert.Less(t, len(err.Error()), 2000)
			assert.True(t, errors.As(err, &scenario.Faults{}))
		})
	}
}

func TestAThousandFaultsDoNotFloodATerminal(t *testing.T) {
	_, err := scenario.Decode("v1" + strings.Repeat(";x", 5000))
	require.ErrorContains(t, err, "and 4980 more")
	assert.Less(t, len(err.Error()), 4000)
}

func TestALongLinkIsDeflatedAndReadsBack(t *testing.T) {
	s := with(func(s *scenario.Scenario) { s.Backends = backends(60) })
	link := scenario.Encode(s)
	assert.Regexp(t, `^#v1z\.[A-Za-z0-9_-]+\.0$`, link)
	assert.Less(t, len(link), 700)
	assert.False(t, scenario.TooLong(link))
	assert.Equal(t, link, scenario.Encode(s), "the same scenario has the same link")
	back, err := scenario.Decode(link)
	require.NoError(t, err)
	assert.Equal(t, s, back)
}

func TestUpTo1200CharactersALinkStaysReadable(t *testing.T) {
	padded := func(n int) string {
		return scenario.Encode(with(func(s *scenario.Scenario) { s.StickyCookie = strings.Repeat("x", n) }))
	}
	n := 1200 - len("#v1;sticky-cookie=")
	assert.Len(t, padded(n), 1200)
	assert.Contains(t, padded(n), "#v1;")
	assert.Contains(t, padded(n+1), "#v1z.")
}

func TestMoreThan2000CharactersAreForAFile(t *testing.T) {
	assert.False(t, scenario.TooLong(strings.Repeat("x", 2000)))
	assert.True(t, scenario.TooLong(strings.Repeat("x", 2001)))
}

func TestAStampSaysWhatTheSenderSaw(t *testing.T) {
	s := with(func(s *scenario.Scenario) { s.Seed, s.Unknown = 3, []scenario.Pair{{Key: "later", Value: "1"}} })
	link := scenario.EncodeStamped(s, scenario.Stamp{Engine: scenario.Engine, Digest: "0123ABCDEF"})
	assert.Equal(t, "#v1;seed=3;later=1;e=1;r=0123abcd", link)
	back, stamp, err := scenario.DecodeStamped(link)
	require.NoError(t, err)
	assert.Equal(t, s, back)
	assert.Equal(t, scenario.Stamp{Engine: 1, Digest: "0123abcd"}, stamp)

	_, stamp, err = scenario.DecodeStamped("v1;seed=3")
	require.NoError(t, err)
	assert.Zero(t, stamp)
	assert.Equal(t, "#v1", scenario.EncodeStamped(scenario.Default(), scenario.Stamp{Digest: "none"}))
}

func TestUnknownPairsArePassedOn(t *testing.T) {
	s, err := scenario.Decode("v1;later=x:1,y=_2F;seed=4;later=z;other=0;e=2")
	require.NoError(t, err)
	assert.Equal(t, []scenario.Pair{{Key: "later", Value: "x:1,y=_2F"}, {Key: "later", Value: "z"}, {Key: "other", Value: "0"}}, s.Unknown)
	assert.Equal(t, "#v1;seed=4;later=x:1,y=_2F;later=z;other=0", scenario.Encode(s))
}

func TestACommandSurvivesAShell(t *testing.T) {
	assert.Equal(t, "minilb simulate --scenario 'v1'", scenario.Default().Command())
	s := with(func(s *scenario.Scenario) { s.CheckPath, s.Seed = "/a'b$(c) d;#", 8 })
	assert.Regexp(t, `^minilb simulate --scenario 'v1;[A-Za-z0-9.,:;=_-]+'$`, s.Command())
	if runtime.GOOS == "js" {
		return // no shell there
	}
	out, err := exec.Command("sh", "-c", "minilb() { printf %s \"$3\"; }; "+s.Command()).Output()
	require.NoError(t, err)
	back, err := scenario.Decode(string(out))
	require.NoError(t, err)
	assert.Equal(t, s, back)
}

// Whatever one link may hold must fit in the link that Encode makes of it.
func TestTheFullestLinkReadsBack(t *testing.T) {
	for n := range uint64(3) {
		s := fullest(rand.New(rand.NewPCG(n, 1)))
		link := scenario.Encode(s)
		require.True(t, scenario.TooLong(link))
		back, err := scenario.Decode(link)
		require.NoError(t, err, "%d characters", len(link))
		require.Equal(t, s, back)
	}
}

// fullest is as much as a link may hold, of letters that do not compress.
func fullest(chance *rand.Rand) scenario.Scenario {
	letters := func(n int) string {
		const all = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		b := make([]byte, n)
		for i := range b {
			b[i] = all[chance.IntN(len(all))]
		}
		return string(b)
	}
	s := with(func(s *scenario.Scenario) { s.Algorithms, s.Backends = pick.Names(), backends(64) })
	for i := range s.Backends {
		b := &s.Backends[i]
		b.Name = letters(29) + fmt.Sprintf("-%02d", i)
		b.Mean, b.Errors = 1+chance.Float64(), 1e-9*(1+chance.Float64())
		b.Capacity, b.Weight = 10000+chance.IntN(90000), 100+chance.IntN(900)
	}
	s.CheckPath, s.HashOn, s.StickyCookie = letters(1000), letters(1000), letters(1000)
	s.Unknown = []scenario.Pair{{Key: "later", Value: letters(1000)}, {Key: "later", Value: letters(1000)}}
	return s
}

var linkForm = regexp.MustCompile(`^#v1([A-Za-z0-9.,:;=_-]*[A-Za-z0-9])?$`)

// drawn is any scenario that a link can hold.
func drawn(t *rapid.T) scenario.Scenario {
	s := scenario.Default()
	for _, p := range s.Params().All() {
		if !p.List && p.Ranged && rapid.Bool().Draw(t, p.Name) {
			_ = p.SetFloat(rapid.Float64Range(p.Lo, p.Hi).Draw(t, p.Name))
		}
	}
	text := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) })
	s.CheckPath, s.HashOn, s.StickyCookie = text.Draw(t, "path"), text.Draw(t, "hash on"), text.Draw(t, "cookie")
	s.Seed = rapid.Uint64().Draw(t, "seed")
	s.DrainSticky = rapid.Bool().Draw(t, "drain-sticky")
	s.Algorithms = rapid.Permutation(pick.Names()).Draw(t, "algorithms")[:rapid.IntRange(0, 11).Draw(t, "n")]
	s.Backends = backends(rapid.IntRange(0, 64).Draw(t, "backends"))
	for i := range s.Backends {
		s.Backends[i].Mean = rapid.Float64Range(0.001, 3600000).Draw(t, "mean")
		s.Backends[i].Weight = rapid.IntRange(1, 1000).Draw(t, "weight")
	}
	return s
}

func TestEveryScenarioReadsBackFromItsLink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawn(t)
		link := scenario.Encode(s)
		require.Regexp(t, linkForm, link)
		back, err := scenario.Decode(link)
		require.NoError(t, err, link)
		require.Equal(t, s, back)
	})
}

func TestTheLinkOfAnyStructIsALink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scenario.Scenario{Algorithms: []string{rapid.String().Draw(t, "algorithm")}}
		s.Rate, s.Requests = math.NaN(), -1
		s.Backends = []scenario.Backend{{Name: rapid.String().Draw(t, "name")}}
		s.Unknown = []scenario.Pair{{Key: rapid.String().Draw(t, "key"), Value: rapid.String().Draw(t, "value")}}
		require.Regexp(t, linkForm, scenario.Encode(s))
	})
}

func FuzzDecode(f *testing.F) {
	for _, p := range scenario.Presets {
		f.Add(p.Link)
	}
	for _, text := range []string{
		"", "v2;x", "v1;rate=NaN;fall=0", "v1;algorithm=p2c,maglev;backend=a=3,errors=1;later=x;e=1;r=01234567",
		"v1;check-path=_0;retry-on=_0;hash-on=header:X;sticky-cookie=_5F_00", "#v1z.AAAA.0", "https://x/#v1;seed=3",
		deflated("seed=3;backend=a:3"), deflated(strings.Repeat("retry-on=5xx;", 60)), "v1;retry-on=5xx,5xx;rate=-0",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, stamp, err := scenario.DecodeStamped(text)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		link := scenario.EncodeStamped(s, stamp)
		require.Regexp(t, linkForm, link)
		back, again, err := scenario.DecodeStamped(link)
		require.NoError(t, err, link)
		require.Equal(t, s, back)
		require.Equal(t, stamp, again)
		require.Equal(t, link, scenario.EncodeStamped(back, again))
		_ = s.Check()
	})
}
