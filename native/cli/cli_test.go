package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func run(args ...string) (code int, stdout, stderr string) {
	return runIn(context.Background(), args...)
}

func runIn(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, log bytes.Buffer
	code = Run(ctx, args, &out, &log)
	return code, out.String(), log.String()
}

func TestPickAnswersWithoutTraffic(t *testing.T) {
	cases := map[string]string{
		"pick --algorithm weighted_round_robin --backends a,b,c --weights a=5,b=1,c=1 --count 7": "a a b a c a a\n",
		"pick --algorithm least_conn --backends a,b,c --active a=4,b=1,c=2":                      "b\n",
		"pick --algorithm least_conn --backends a,b --weights a=2 --active a=2,b=2":              "a\n",
		"pick --backends a,b,c --count 4":                                                        "a b c a\n",
		"pick --algorithm first --backends x":                                                    "x\n",
	}
	for line, want := range cases {
		code, out, log := run(strings.Fields(line)...)
		assert.Zero(t, code, log)
		assert.Equal(t, want, out, line)
	}
}

func TestPickKeepsAKeyOnItsBackend(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(file, []byte("alice\nbob\nalice\n"), 0o600))
	code, out, log := run("pick", "--algorithm", "ring_hash", "--backends", "a,b,c", "--keys", file)
	require.Zero(t, code, log)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 3)
	assert.Equal(t, lines[0], lines[2])
	_, one, _ := run("pick", "--algorithm", "ring_hash", "--backends", "a,b,c", "--key", "alice")
	assert.Equal(t, lines[0], strings.TrimSpace(one)+"\talice")
	_, text, _ := run("pick", "--algorithm", "ring_hash", "--backends", "a,b,c", "--key", "alice", "--json")
	var got struct {
		Algorithm string
		Picks     []struct{ Key, Backend string }
	}
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	assert.Equal(t, strings.TrimSpace(one), got.Picks[0].Backend)
	code, _, log = run("pick", "--backends", "a", "--keys", file+".none")
	assert.Equal(t, 1, code)
	assert.Contains(t, log, "--keys: ")
}

func TestRemapMovesOnlyWhatItMust(t *testing.T) {
	code, out, log := run("remap", "--backends", "a,b,c,d,e", "--remove", "c", "--keys", "20000", "--json")
	require.Zero(t, code, log)
	var got struct {
		Results []struct {
			Scheme          string
			Moved           float64
			MovedFromStayed float64 `json:"moved_from_stayed"`
			Share           map[string]float64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Len(t, got.Results, 4)
	modulo, ring, maglev, rendezvous := got.Results[0], got.Results[1], got.Results[2], got.Results[3]
	assert.InDelta(t, 0.8, modulo.Moved, 0.02)
	assert.InDelta(t, 0.6, modulo.MovedFromStayed, 0.02)
	assert.Zero(t, ring.MovedFromStayed)
	assert.Zero(t, rendezvous.MovedFromStayed)
	assert.Less(t, maglev.MovedFromStayed, 0.01)
	assert.Len(t, ring.Share, 4)
	_, table, _ := run("remap", "--backends", "a,b,c,d,e", "--remove", "c")
	assert.Regexp(t, `(?m)^ +moved from a backend\nscheme +moved +that stayed  share after$`, table)
	assert.Regexp(t, `(?m)^ring_hash +\d\d\.\d% +0\.0%  a=\d\d\.\d% b=`, table)
	requireNarrow(t, table)
	code, table, log = run("remap", "--backends", "a,b,c,d,e,f,g,h,i,j", "--add", "k", "--weights", "k=2", "--keys", "1000")
	assert.Zero(t, code, log)
	assert.Regexp(t, `(?m)^share after +modulo_hash +ring_hash +maglev +rendezvous$`, table)
	requireNarrow(t, table)
}

func TestSimulatePrintsTheTable(t *testing.T) {
	code, out, log := run("simulate")
	require.Zero(t, code, log)
	assert.Regexp(t, `^algorithm +p50 +p95 +p99 +max +errors  share fast1/fast2/slow\n`+
		`round_robin +\d+ms +\d+\.\d\ds +\d+\.\d\ds +\d+\.\d\ds +0  33%/33%/33%\n`+
		`least_conn +\d+ms +\d+ms +\d+ms +\d+(ms|\.\d\ds) +0  \d\d%/\d\d%/1\d%\n`, out)
	assert.Regexp(t, `\n\nminilb simulate --scenario 'v1;e=\d+;r=[0-9a-f]{8}'\n$`, out)
	requireNarrow(t, out)
}

func TestSimulateReportsRefusedEjections(t *testing.T) {
	code, out, log := run("simulate", "--algorithm", "least_conn", "--backend", "a=20", "--backend", "b=20",
		"--backend", "broken=2,errors=1", "--consecutive-5xx", "5", "--max-ejection-percent", "10", "--requests", "500")
	require.Zero(t, code, log)
	assert.Regexp(t, `\nejections refused by the cap: least_conn \d+\n`, out)
	assert.Contains(t, out, "'v1;algorithm=least_conn;requests=500;backend=a:20;backend=b:20;backend=broken:2,errors:1;consecutive-5xx=5;max-ejection-percent=10;e=1;r=")
}

func TestLinkComesFirstAndFlagsOverrideIt(t *testing.T) {
	code, out, log := run("simulate", "--seed", "7", "--requests", "50", "--scenario", "#v1;algorithm=p2c;rate=200;seed=3", "--json")
	require.Zero(t, code, log)
	var got struct {
		Seed    int
		Link    string
		Results []struct{ Algorithm string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	assert.Equal(t, 7, got.Seed)
	assert.Equal(t, "#v1;algorithm=p2c;rate=200;requests=50;seed=7", got.Link)
	require.Len(t, got.Results, 1)
	again, _, _ := run("simulate", "--scenario", got.Link)
	assert.Zero(t, again)
}

func TestManyBackendsStayWithinTheTerminal(t *testing.T) {
	args := []string{"simulate", "--requests", "200", "--algorithm", "round_robin,least_conn,p2c"}
	for _, name := range strings.Fields("alpha bravo charlie delta echo foxtrot golf hotel india juliet") {
		args = append(args, "--backend", name+"=20")
	}
	code, out, log := run(args...)
	require.Zero(t, code, log)
	assert.Regexp(t, `(?m)^share +round_robin +least_conn +p2c$`, out)
	assert.Regexp(t, `(?m)^juliet +10\.0% `, out)
	table, _, _ := strings.Cut(out, "\nminilb simulate --scenario")
	requireNarrow(t, table)
}

func TestInterruptedSimulationPrintsWhatThereIs(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	code, out, log := runIn(ctx, "simulate", "--algorithm", "p2c", "--requests", "10000000")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "p2c")
	assert.Contains(t, log, "stopped before the end")
}

func TestBadInputIsRefusedBeforeAnythingStarts(t *testing.T) {
	b := "--backend b1=127.0.0.1:1 "
	cases := map[string][]string{
		"serv":                    {`unknown command "serv"; did you mean serve?`},
		"colour":                  {`unknown command "colour"; accepted: `, "simulate"},
		"serve":                   {"--backend: none given; accepted: NAME=HOST:PORT"},
		"serve " + b + "--fal 3":  {"--fal: unknown flag; did you mean --fall?"},
		"serve " + b + "extra":    {`"extra" is not a flag`},
		"serve " + b + "--fall":   {"flag needs an argument: --fall"},
		"serve " + b + "--fall 0": {"--fall 0: outside 1 to 100 probes"},
		"serve " + b + b:          {"--backend b1=127.0.0.1:1: the name is taken"},
		"serve " + b + "--algorithm p3c --max-ejection-percent 101 --check-interval NaN": {
			"--algorithm p3c: unknown; accepted: round_robin", "did you mean p2c?",
			"--max-ejection-percent 101: outside 0 to 100", "--check-interval NaN: not a duration"},
		"serve --backend b1=127.0.0.1":                           {"--backend b1=127.0.0.1: address \"127.0.0.1\": without a port"},
		"serve --backend =127.0.0.1:1":                           {"backend without a name"},
		"serve --backend b1=127.0.0.1:1,weight=0":                {"weight 0 outside 1 to 1000"},
		"serve " + b + "--listen 8080":                           {`--listen "8080": without a port`},
		"simulate --rate NaN --seed -1":                          {"--rate NaN: not a number; accepted: 0.001 to 1000000 requests/s", "--seed -1: not a whole number"},
		"simulate --rate Inf":                                    {"--rate Inf: not a number"},
		"simulate --rate 1e9":                                    {"--rate 1e9: outside 0.001 to 1000000 requests/s"},
		"simulate --algorithm p2c,p3c":                           {"--algorithm p3c: unknown"},
		"simulate --backend a=20 --backend a=30":                 {"--backend a=30: a second backend of that name"},
		"simulate --backend a=20,weight=-1":                      {"weight=-1: outside 1 to 1000"},
		"simulate --scenario v9;rate=1":                          {`version "v9" of links: unknown`, "v1"},
		"simulate --scenario v1;rate=0;fall=x":                   {"--scenario: rate=0: outside", "--scenario: fall=x: not a whole number"},
		"simulate --json=maybe":                                  {"--json maybe: not a yes or no"},
		"simulate --scenario v1;" + strings.Repeat("a", 100_000): {"a link of 100003 bytes: too long"},
		"pick":                                       {"--backends: none given"},
		"pick --backends a,a":                        {"a is there twice"},
		"pick --backends a,b --weights c=1,a=0":      {`"c" is not one of the backends; accepted: a, b`},
		"pick --backends a,b --weights a=0":          {`accepted: NAME=1 to NAME=1000`},
		"pick --backends a --count 0":                {"--count 0: outside 1 to 1000000 picks"},
		"pick --backends a --table-size 12":          {"table-size 12: not a prime"},
		"remap --backends a,b":                       {"--remove: nothing changes"},
		"remap --backends a,b --remove c":            {"--remove c: not one of the backends; accepted: a, b"},
		"remap --backends a,b --remove a,b":          {"nobody stays"},
		"remap --backends a,b --add a":               {"--add a: there already"},
		"remap --remove c --scheme p2c":              {"--scheme p2c: unknown; accepted: modulo_hash"},
		"backend":                                    {`--name "": `, "--port: none given"},
		"backend --name b1 --port 70000":             {"--port 70000: outside 0 to 65535"},
		"backend --name b1 --port 0 --delay forever": {"--delay forever: not a duration"},
		"demo --first-port 0":                        {"--first-port 0: outside"},

		"serve " + b + "--check-expect 99":                    {"--check-expect 99: not a status; accepted: 100 to 599, or 0 for any 2xx or 3xx"},
		"simulate --check-expect 1":                           {"--check-expect 1: not a status"},
		"colour --help":                                       {`unknown command "colour"`},
		"help colour":                                         {`unknown command "colour"; accepted: `, "simulate"},
		"serve --backend=":                                    {"--backend: none given"},
		"serve --backend b1=127.0.0.1:1,weight=2,weight=3":    {"weight is given twice"},
		"serve --listen 127.0.0.1:7 --backend b1=127.0.0.1:7": {"that is where minilb itself listens (--listen 127.0.0.1:7)"},
		"serve --listen :7 --backend b1=localhost:7":          {"that is where minilb itself listens (--listen :7)"},
		"backend --name b1 --port 0 --listen-host=":           {`--listen-host "": none; accepted: an address such as 127.0.0.1`},
		"pick --backends a,b --weights a=1,a=2":               {"--weights a=1,a=2: a is there twice"},
		"pick --backends a --keys /dev/null":                  {"--keys /dev/null: no key in it; accepted: one key a line"},
		"pick --backends a --keys /dev/zero":                  {"--keys: line 1 is longer than 65536 bytes"},
		"pick --backends a --key x --keys /dev/null":          {"--key and --keys: each says what to pick for"},
		"remap --remove c --scheme=":                          {"--scheme: none given; accepted: one or more of modulo_hash"},
		"remap --remove c --scheme maglev,maglev":             {"--scheme maglev: listed twice"},
		"simulate --scenario v1" + strings.Repeat(";x", 4000): {`"x" is not a pair`, "and 3980 more"},
		"simulate --seed -1":                                  {"accepted: a whole number from 0 to 18446744073709551615"},
	}
	for line, says := range cases {
		code, out, log := run(strings.Fields(line)...)
		shown := line[:min(len(line), 80)]
		assert.Equal(t, 2, code, shown)
		assert.Empty(t, out, shown)
		for _, text := range says {
			assert.Contains(t, log, text, shown)
		}
		assert.Less(t, len(log), 2000, shown)
		assert.NotContains(t, log, "Usage:", "%s: the fault is the news", shown)
	}
}

func TestThousandsOfFaultsAreCounted(t *testing.T) {
	args := []string{"serve"}
	for range 1000 {
		args = append(args, "--backend", "b")
	}
	code, _, log := run(args...)
	assert.Equal(t, 2, code)
	assert.Equal(t, maxFaults+2, strings.Count(log, "\n"))
	assert.Contains(t, log, "minilb serve: and 975 more\nSee minilb serve --help.\n")
}

func TestOneFaultIsNotToldAsTwo(t *testing.T) {
	cases := map[string]string{
		"remap --backends a,b --remove a,a":                                "minilb remap: --remove a,a: a is there twice; accepted: names used once\nSee minilb remap --help.\n",
		"serve --policy " + t.TempDir() + "/none --backend b1=127.0.0.1:1": "",
	}
	for line, want := range cases {
		code, _, log := run(strings.Fields(line)...)
		if want != "" {
			assert.Equal(t, want, log, line)
			continue
		}
		assert.Equal(t, 1, code, "a file that is not there is the world's fault")
		assert.Equal(t, 1, strings.Count(log, "\n"), log)
		assert.Contains(t, log, "--policy: ")
		assert.Contains(t, log, "no such file or directory")
	}
}

func TestHelpOfACommandHasTwoSpellings(t *testing.T) {
	for _, name := range []string{"serve", "pick", "demo"} {
		_, flag, _ := run(name, "--help")
		code, word, log := run("help", name)
		assert.Zero(t, code, log)
		assert.Equal(t, flag, word)
	}
	_, whole, _ := run("--help")
	_, word, _ := run("help")
	assert.Equal(t, whole, word)
}

func TestKeysTimesCountIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("k\n", 11)), 0o600))
	code, out, log := run("pick", "--backends", "a", "--keys", file, "--count", "1000000")
	assert.Equal(t, 2, code)
	assert.Empty(t, out)
	assert.Contains(t, log, "--count 1000000: for each of 11 keys; accepted: at most 10000000 picks together")
}

func TestDemoPrintsAddressesThatWork(t *testing.T) {
	first := freePorts(t)
	d := start("demo", "--listen", "0.0.0.0:0", "--first-port", strconv.Itoa(first))
	d.said(t, "Ctrl-C stops everything")
	at := regexp.MustCompile(`proxy +(http://127\.0\.0\.1:[1-9]\d+/)`).FindStringSubmatch(d.out.String())
	if assert.NotNil(t, at, d.out.String()) {
		status, _ := get(t, at[1])
		assert.Equal(t, 200, status)
	}
	d.cancel()
	assert.Zero(t, <-d.done)
}

func TestHelpIsReadableAt80Columns(t *testing.T) {
	for _, line := range []string{"--help", "serve --help", "serve --help --all", "simulate --help", "simulate --help --all",
		"pick --help", "remap --help", "backend --help", "demo --help"} {
		code, out, log := run(strings.Fields(line)...)
		require.Zero(t, code, log)
		requireNarrow(t, out)
	}
	_, out, _ := run("serve", "--help")
	assert.Contains(t, out, "\nChecks:\n  --check-interval  (0s to 1h, default 2s)\n")
	assert.Contains(t, out, "--fall  (1 to 100 probes, default 3)\n")
	assert.NotContains(t, out, "--drain-sticky")
	for _, heading := range regexp.MustCompile(`(?m)^[A-Z].*:$`).FindAllString(out, -1) {
		assert.Equal(t, 1, strings.Count(out, "\n"+heading+"\n"), heading)
	}
	_, out, _ = run("serve", "--help", "--all")
	assert.Contains(t, out, "--drain-sticky")
}

func requireNarrow(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
	}
}

func TestPrintConfigStartsNothing(t *testing.T) {
	code, out, log := run("serve", "--backend", "b1=127.0.0.1:1", "--fall", "7", "--listen", "192.0.2.1:1", "--print-config")
	require.Zero(t, code, log)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	assert.Equal(t, 7.0, got["fall"])
	assert.Equal(t, 2.0, got["check-interval"])
}

// A running command is one that goes on until it is stopped.
type running struct {
	cancel   context.CancelFunc
	done     chan int
	out, log *safeBuffer
}

type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func start(args ...string) *running {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{cancel: cancel, done: make(chan int, 1), out: &safeBuffer{}, log: &safeBuffer{}}
	go func() { r.done <- Run(ctx, args, r.out, r.log) }()
	return r
}

// said waits for words in what the command prints and returns their match.
func (r *running) said(t *testing.T, pattern string) []string {
	t.Helper()
	var found []string
	require.Eventually(t, func() bool {
		found = regexp.MustCompile(pattern).FindStringSubmatch(r.out.String() + r.log.String())
		return found != nil
	}, 10*time.Second, time.Millisecond, pattern)
	return found
}

func get(t *testing.T, url string) (status int, header http.Header) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	r, err := client.Get(url)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	return r.StatusCode, r.Header
}

func TestServeInFrontOfABackend(t *testing.T) {
	b := start("backend", "--name", "b1", "--port", "0")
	address := b.said(t, `backend b1 listening on (\S+)`)[1]
	s := start("serve", "--listen", "127.0.0.1:0", "--backend", "b1="+address, "--check-interval", "0", "--consecutive-5xx", "0")
	proxy := s.said(t, `\[minilb\] listening on ([^:]+:\d+): round_robin over 1 backend;`)[1]
	s.said(t, `\[minilb\] warning: active checks and ejection are both off`)
	status, header := get(t, "http://"+proxy+"/")
	assert.Equal(t, 200, status)
	assert.Equal(t, "b1", header.Get("x-minilb-backend"))

	code, _, log := run("serve", "--listen", proxy, "--backend", "b1="+address)
	assert.Equal(t, 1, code)
	assert.Equal(t, "minilb serve: cannot listen on "+proxy+": address already in use\n", log)
	code, _, log = run("backend", "--name", "b2", "--port", address[strings.LastIndex(address, ":")+1:])
	assert.Equal(t, 1, code)
	assert.Contains(t, log, "cannot listen on "+address)

	s.cancel()
	assert.Zero(t, <-s.done)
	assert.Contains(t, s.log.String(), "[minilb] stopped: 0 requests cut off")
	b.cancel()
	assert.Zero(t, <-b.done)
}

// freePorts finds three ports in a row where nobody listens.
func freePorts(t *testing.T) int {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		first := l.Addr().(*net.TCPAddr).Port
		require.NoError(t, l.Close())
		if first+2 <= 65535 && free(first) && free(first+1) && free(first+2) {
			return first
		}
	}
	t.Fatal("no three free ports in a row")
	return 0
}

func free(port int) bool {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func TestDemoStartsAndStopsEverything(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listen := l.Addr().String()
	require.NoError(t, l.Close())
	first := freePorts(t)
	args := []string{"demo", "--listen", listen, "--first-port", strconv.Itoa(first)}
	d := start(args...)
	d.said(t, "Ctrl-C stops everything")
	requireNarrow(t, d.out.String())
	assert.Equal(t, 3, strings.Count(d.out.String(), "\n  curl "), "three commands to try")
	seen := map[string]bool{}
	for range 3 {
		status, header := get(t, "http://"+listen+"/")
		assert.Equal(t, 200, status)
		seen[header.Get("x-minilb-backend")] = true
	}
	assert.Len(t, seen, 3)
	status, header := get(t, "http://"+listen+"/_minilb/play/")
	assert.Equal(t, 200, status)
	assert.Contains(t, header.Get("Content-Type"), "text/html")

	code, out, log := run(args...)
	assert.Equal(t, 1, code)
	assert.Empty(t, out)
	assert.Equal(t, 4, strings.Count(log, "address already in use"), "all that are taken: %s", log)
	assert.Contains(t, log, "minilb demo: cannot listen on "+listen)

	d.cancel()
	assert.Zero(t, <-d.done)
	assert.True(t, free(first) && free(first+1) && free(first+2))
}

func TestDemoLeavesNothingWhenAPortIsTaken(t *testing.T) {
	first := freePorts(t)
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(first+1))
	require.NoError(t, err)
	defer l.Close()
	code, _, log := run("demo", "--listen", "127.0.0.1:0", "--first-port", strconv.Itoa(first))
	assert.Equal(t, 1, code)
	assert.Equal(t, "minilb demo: cannot listen on 127.0.0.1:"+strconv.Itoa(first+1)+": address already in use\n"+
		"minilb demo: other addresses: --listen HOST:PORT for the proxy, --first-port N for the backends\n", log)
	assert.True(t, free(first) && free(first+2))
}

func TestPickExplainsEachChoice(t *testing.T) {
	code, out, errs := run("pick", "--algorithm", "least_conn", "--backends", "a,b,c", "--active", "a=4,b=1,c=2", "--explain")
	assert.Zero(t, code, errs)
	assert.Equal(t, "b\n  loads: a (4 in flight), b (1 in flight), c (2 in flight)\n  fewest per unit of weight: b\n", out)
}
