package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
)

var update = flag.Bool("update", false, "write testdata/*.txt anew; read them before committing")

// simulations are command lines and the transcripts of what they print.
var simulations = map[string]string{
	"table":           "",
	"retries":         "--preset fails-fast --retries 2 --retry-on 5xx --requests 2000 --post-share 0.1",
	"faults":          "--backend a=20,queue=10 --backend b=20,crash_at=3 --backend c=20,hang_at=4 --client-timeout 1 --requests 2000 --explain",
	"overload":        "--rate 400 --max-inflight 8 --queue 20 --queue-timeout 0.1 --requests 2000",
	"preset":          "--preset fails-fast-ejected --explain --events",
	"cap":             "--preset cap-never-ejects --requests 500 --explain --events",
	"seeds":           "--preset fails-fast --seeds 5 --requests 1000",
	"seeds-many":      "--seeds 3 --requests 500 --algorithm round_robin,weighted_round_robin,least_conn,p2c,peak_ewma,ring_hash,maglev",
	"sweep":           "--sweep rate=50..200:50 --requests 1000 --preset fails-fast-ejected",
	"sweep-seeds":     "--sweep base-ejection=1..20 --seeds 3 --requests 1000 --preset fails-fast-ejected",
	"sweep-retries":   "--sweep retries=0..3 --preset fails-fast --retry-on 5xx --requests 1000",
	"csv":             "--csv --requests 200 --algorithm p2c --backend a=20",
	"csv-seeds":       "--csv --seeds 2 --requests 200 --algorithm p2c --backend a=20",
	"csv-sweep":       "--csv --sweep fall=1..3 --requests 200 --algorithm p2c --backend a=20",
	"trace":           "--trace testdata/trace.csv --algorithm round_robin --events",
	"scenario-file":   "--scenario testdata/link.txt --requests 300",
	"unknown-in-link": "--scenario v1;algorithm=p2c;requests=300;colour=blue;raet=300",
	"scenario-yaml":   "--scenario testdata/scenario.yaml",
	"lifetime":        "--layer l4 --keepalive-lifetime 2s --users 20 --algorithm round_robin --backend a=20 --backend late=20,add_at=10 --requests 3000",
}

// A transcript's lines are the proxy's, as long as they are.
var transcriptLine = regexp.MustCompile(`(?m)^t=.*`)

func TestSimulationTranscripts(t *testing.T) {
	for name, line := range simulations {
		t.Run(name, func(t *testing.T) {
			code, out, log := run(append([]string{"simulate"}, strings.Fields(line)...)...)
			require.Zero(t, code, log)
			text := strings.ReplaceAll(fmt.Sprintf("$ minilb simulate %s\n%s%s", line, log, out), "\r\n", "\n")
			path := filepath.Join("testdata", "simulate-"+name+".txt")
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, string(want), text)
			if !strings.Contains(line, "--csv") {
				page, _, _ := strings.Cut(out, "\nminilb simulate --scenario")
				requireNarrow(t, transcriptLine.ReplaceAllString(page, ""))
			}
		})
	}
}

// What is printed can be sent: whoever plays it learns whether the results are the same.
func TestAReaderLearnsWhetherTheResultIsTheSenders(t *testing.T) {
	_, out, _ := run("simulate", "--algorithm", "p2c", "--requests", "300")
	link := regexp.MustCompile(`'(v1;[^']*)'`).FindStringSubmatch(out)[1]
	require.Regexp(t, `;e=1;r=[0-9a-f]{8}$`, link)
	bare, digest, _ := strings.Cut(link, ";e=1;r=")
	cases := map[string]string{
		link:                          "same result as the sender\n",
		link + " --json":              "same result as the sender\n",
		link + " --algorithm p2c":     "same result as the sender\n",
		bare:                          "",
		bare + ";e=1":                 "",
		link + " --rate 99":           "",
		link + " --seeds 2":           "",
		link + " --sweep fall=1..2":   "",
		bare + ";e=9":                 "the engine has changed since the sender saw a result: it was version 9, this is 1\n",
		bare + ";e=9;r=" + digest:     "same result as the sender\n",
		bare + ";e=9;r=00000000":      "the engine has changed since the sender saw a result: it was version 9, this is 1\n",
		bare + ";e=1;r=00000000":      "not the sender's result: that was 00000000, this is " + digest + "; the link was changed by hand, or the engine has changed since\n",
		bare + ";r=00000000 --json":   "not the sender's result: that was 00000000",
		bare + ";rate=99;r=" + digest: "not the sender's result: ",
	}
	for line, says := range cases {
		code, out, log := run(append([]string{"simulate", "--scenario"}, strings.Fields(line)...)...)
		assert.Zero(t, code, log)
		if says == "" {
			assert.Empty(t, log, line)
			continue
		}
		assert.Contains(t, log, "minilb simulate: "+says, line)
		assert.NotContains(t, out, "sender", "the results stay what they are")
	}
	_, out, _ = run("simulate", "--seeds", "2", "--requests", "50")
	assert.NotContains(t, out, ";r=", "a study's figures are no run's")
}

// A shell cuts an unquoted link at its first semicolon, and what is left is a link too.
func TestALinkOfAVersionAloneMayHaveBeenCut(t *testing.T) {
	for _, link := range []string{"v1", "#v1", "https://example.org/play/#v1"} {
		code, _, log := run("simulate", "--requests", "50", "--scenario", link)
		assert.Zero(t, code)
		assert.Contains(t, log, "--scenario "+link+": nothing after the version, so the default scenario; if the link was longer, quote it")
	}
	_, _, log := run("simulate", "--requests", "50", "--scenario", "v1;seed=1")
	assert.Empty(t, log)
}

// A century of virtual time is the limit that is reached soonest.
func TestASimulationThatALimitEndsPrintsWhatThereIs(t *testing.T) {
	endless := "--algorithm first --backend a=1 --arrivals closed --clients 1 --think 1h --requests 10000000"
	why := "first ended at t="
	for line, says := range map[string]string{
		"":                     "first  ",
		" --json":              `"truncated": "first ended at t=`,
		" --csv":               "\nfirst,",
		" --sweep peak=2..3:1": "no results\n",
		" --seeds 2":           "no results\n",
	} {
		code, out, log := run(append([]string{"simulate"}, strings.Fields(endless+line)...)...)
		assert.Equal(t, 1, code, line)
		assert.Contains(t, "\n"+out, says, line)
		assert.Contains(t, log, why, line)
		assert.Contains(t, log, " of 10000000 requests: longer than 36500 days; raise the rate or send fewer requests\n", line)
		assert.Contains(t, log, "minilb simulate: "+ownLimit+"\n", line)
		assert.NotContains(t, out, ";r=", "what was cut short has no digest")
	}
}

func TestAScenarioIsAlsoReadFromJSONAndYAML(t *testing.T) {
	s := scenario.Default()
	s.Rate, s.Requests, s.Algorithms = 99, 60, []string{"p2c"}
	for name, text := range map[string][]byte{"json": scenario.ToJSON(s), "yaml": scenario.ToYAML(s), "link": []byte(scenario.Encode(s) + "\n")} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, text, 0o600))
		code, out, log := run("simulate", "--json", "--scenario", path)
		require.Zero(t, code, log)
		assert.Contains(t, out, `"link": "`+scenario.Encode(s)+`"`, name)
	}
}

func TestAWordTooLongForTheWidthStillStandsInOneTable(t *testing.T) {
	long := strings.Repeat("b", 32)
	_, out, log := run("simulate", "--requests", "50", "--seeds", "2", "--backend", long+"1=20", "--backend", "c=20")
	assert.Contains(t, log, "32")
	assert.Empty(t, out)
	code, out, log := run("simulate", "--requests", "50", "--seeds", "2", "--backend", long+"=20", "--backend", "c=20")
	require.Zero(t, code, log)
	page, _, _ := strings.Cut(out, "\nminilb simulate --scenario")
	requireNarrow(t, page)
}

func TestBadSimulationsAreRefusedBeforeTheyAreStarted(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	word, empty, wrong := file("word", "hello\n"), file("empty", "\n"), file("wrong", "v1;rate=0;fall=x\n")
	yaml, cut := file("yaml", "# a scenario\nversion: v1\nrate: much\n"), file("cut", `{"rate": 5,`)
	huge, noTrace, trace := file("huge", "v1;"+strings.Repeat("a", 20_000)), file("trace", "0.1\n0.2,k,GET,fast\n"), file("good", "0.1\n0.2\n")
	cases := map[string][]string{
		"--seeds 0":                               {"--seeds 0: outside 1 to 10000 seeds"},
		"--seeds many":                            {"--seeds many: not a whole number"},
		"--sweep rate":                            {"--sweep rate: no parameter and its span; accepted: PARAM=A..B"},
		"--sweep rate=50":                         {"--sweep rate=50: 50 is not a span"},
		"--sweep rat=1..5":                        {"unknown parameter rat", "did you mean rate?"},
		"--sweep algorithm=a..b":                  {"algorithm is not a number or a duration"},
		"--sweep rate=5..1":                       {"upside down: 5 is more than 1"},
		"--sweep rate=0..5":                       {"--sweep: rate=0: outside 0.001 to 1000000 requests/s"},
		"--sweep rate=1..5:0":                     {"the step 0 is not a positive"},
		"--sweep rate=1..100000:1":                {"accepted: at most 200"},
		"--sweep warmup=1..9:4 --duration 4":      {"--sweep: at warmup=5: --warmup 5: leaves nothing of the duration"},
		"--preset failsfast":                      {"--preset failsfast: unknown; accepted: ", "tail-latency, fails-fast", "did you mean fails-fast?"},
		"--scenario nowhere.txt":                  {`--scenario "nowhere.txt": not a link, and no file has that path; accepted: a link such as 'v1;`},
		"--scenario " + dir:                       {": a directory; accepted: a link such as"},
		"--scenario " + word:                      {"--scenario " + word + `: "hello" does not begin with a version`},
		"--scenario @" + empty:                    {"--scenario " + empty + ": the file is empty; accepted: a link"},
		"--scenario @" + wrong:                    {"--scenario " + wrong + ": rate=0: outside", "--scenario " + wrong + ": fall=x: not a whole number"},
		"--scenario=":                             {"--scenario '': empty; accepted: a link such as", "as JSON or YAML"},
		"--scenario= --trace= --rate=0":           {"--scenario '': ", "--trace '': ", "--rate 0: outside"},
		"--trace " + dir:                          {"--trace " + dir + ": a directory; accepted: the name of a file, or -"},
		"--series " + trace + " --trace " + trace: {"the trace itself, which it would overwrite"},
		"--sweep=":                                {"--sweep '': empty; accepted: PARAM=A..B"},
		"--series=":                               {"--series '': empty; accepted: the name of a file"},
		"--preset=":                               {"--preset"},
		"--scenario " + yaml:                      {"--scenario " + yaml + ": rate=much: not a number"},
		"--scenario " + cut:                       {"--scenario " + cut + ": not JSON"},
		"--scenario " + huge:                      {"too long; accepted: at most"},
		"--trace " + noTrace:                      {"--trace " + noTrace + `: line 2: service time "fast"`},
		"--trace " + empty:                        {"--trace " + empty + ": no requests; accepted: one a line"},
		"--arrivals trace":                        {"--arrivals trace: without a trace, which a link does not hold; accepted: --trace FILE"},
		"--series -":                              {"--series -: a series is not printed; accepted: the name of a file"},
		"--scenario v1 --preset fails-fast":       {"--scenario and --preset: each says"},
		"--csv --json":                            {"--csv and --json: two forms"},
		"--explain --csv":                         {"--explain and --csv: it stands under the table"},
		"--explain --json --events":               {"--explain and --json: ", "--events and --json: "},
		"--explain --seeds 2":                     {"--explain and --seeds: it is of a single run"},
		"--events --sweep rate=1..2":              {"--events and --sweep: it is of a single run"},
		"--series x.csv --seeds 2":                {"--series and --seeds: it is of a single run"},
		"--series x.csv --sweep fall=1..2":        {"--series and --sweep: "},
		"--rate 5 --sweep rate=1..2":              {"--rate and --sweep rate: the sweep sets it"},
		"--scenario v1;duration=5 --requests 7":   {"--duration and --requests: a run is as long as"},
		"--duration 5 --requests 7":               {"--duration and --requests: "},
		"--duration 5 --sweep requests=7..9":      {"--duration and --sweep requests: "},
		"--arrivals poisson --trace " + trace:     {"--trace and --arrivals: the trace says"},
		"--sweep rate=1..2 --trace " + trace:      {"--trace and --sweep rate: the trace says"},
		"--rate 1 --requests 2 --trace /never":    {"--trace and --rate: ", "--trace and --requests: "},
	}
	for line, says := range cases {
		code, out, log := run(append([]string{"simulate"}, strings.Fields(line)...)...)
		assert.Equal(t, 2, code, line)
		assert.Empty(t, out, line)
		for _, text := range says {
			assert.Contains(t, log, text, line)
		}
		assert.Less(t, len(log), 2000, line)
		assert.True(t, strings.HasSuffix(log, "See minilb simulate --help.\n"), log)
	}
	assert.NoFileExists(t, "x.csv")
}

func TestFilesThatCannotBeUsedAreFaultsOfTheWorld(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "no", "where")
	for _, flag := range []string{"--trace=", "--series=", "--scenario=@"} {
		code, out, log := run("simulate", flag+nowhere)
		assert.Equal(t, 1, code, flag)
		assert.Empty(t, out, flag)
		assert.Contains(t, log, "minilb simulate: "+strings.TrimRight(flag, "=@")+": ", flag)
		assert.Contains(t, log, nowhere+": no such file or directory", flag)
	}
}

func TestALinkIsALinkAlsoWhereAFileHasItsName(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("v1", []byte("#v1;algorithm=first;requests=50"), 0o600))
	for value, policy := range map[string]string{"@v1": "first", "./v1": "first", "v1;requests=50": "least_conn"} {
		code, out, log := run("simulate", "--scenario", value)
		require.Zero(t, code, log)
		assert.Contains(t, out, "\n"+policy+" ", value)
	}
}

func TestTraceComesFromStandardInput(t *testing.T) {
	var out, log bytes.Buffer
	c := newRoot()
	c.SetArgs([]string{"simulate", "--trace", "-", "--json", "--algorithm", "p2c"})
	c.SetIn(strings.NewReader("time\n0.1\n0.2\n0.3\n"))
	c.SetOut(&out)
	c.SetErr(&log)
	require.NoError(t, c.ExecuteContext(context.Background()), log.String())
	assert.Contains(t, out.String(), `"requests": 3,`)
	assert.Contains(t, out.String(), `"link": "#v1;algorithm=p2c;arrivals=trace"`)
}

func TestSeriesIsWrittenBesideTheTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "series.csv")
	code, out, log := run("simulate", "--requests", "300", "--series", path, "--resolution", "0.5")
	require.Zero(t, code, log)
	_, plain, _ := run("simulate", "--requests", "300", "--resolution", "0.5")
	assert.Equal(t, plain, out, "the table is the same with a series")
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, []string{"algorithm", "start_s"}, rows[0][:2])
	assert.Equal(t, []string{"round_robin", "0.5"}, rows[2][:2])
	assert.Equal(t, "p2c", rows[len(rows)-1][0])
}

func TestStudiesHaveJSON(t *testing.T) {
	for line, key := range map[string]string{"--seeds 2": "results", "--sweep fall=1..2": "points", "--sweep fall=1..2 --seeds 2": "points"} {
		code, out, log := run(append([]string{"simulate", "--json", "--requests", "50"}, strings.Fields(line)...)...)
		require.Zero(t, code, log)
		var got map[string]any
		require.NoError(t, json.Unmarshal([]byte(out), &got), line)
		assert.Contains(t, got, key, line)
	}
}

func TestEveryInterruptedSimulationPrintsWhatThereIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "series.csv")
	for line, says := range map[string]string{
		"--seeds 3":                   "no results\n",
		"--sweep fall=1..3":           "no results\n",
		"--sweep fall=1..3 --csv":     "",
		"--explain --events":          "The run was stopped before its end.",
		"--json":                      `"algorithm": "p2c"`,
		"--series " + path:            "p2c ",
		"--sweep fall=1..3 --json":    `"cancelled": true`,
		"--sweep fall=1..3 --seeds 2": "no results\n",
	} {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		args := append([]string{"simulate", "--algorithm", "p2c", "--requests", "10000000"}, strings.Fields(line)...)
		code, out, log := runIn(ctx, args...)
		assert.Equal(t, 1, code, line)
		assert.Contains(t, out, says, line)
		assert.Equal(t, "minilb simulate: "+errStopped.Error()+"\n", log, line)
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(text), "\np2c,0,")
}

func TestEveryPresetPlaysAndSaysWhatToLookAt(t *testing.T) {
	for _, p := range scenario.Presets {
		code, out, log := run("simulate", "--preset", p.Name)
		require.Zero(t, code, log)
		assert.True(t, strings.HasPrefix(strings.ReplaceAll(out, "\n", " "), p.Title+": "+p.Sentence), out)
		assert.NotContains(t, out, "--preset", "a link outlives a preset")
		_, out, _ = run("simulate", "--preset", p.Name, "--seed", "77")
		assert.NotContains(t, out, p.Title, "a scenario that was changed may show something else")
	}
}

func TestTheLastLinePlaysTheSameAgain(t *testing.T) {
	for _, line := range []string{"--preset fails-fast --requests 300", "--seeds 3 --requests 90", "--sweep rate=10..30:10 --seeds 2 --requests 90"} {
		_, first, _ := run(append([]string{"simulate"}, strings.Fields(line)...)...)
		lines := strings.Split(strings.TrimSpace(first), "\n")
		again := strings.Fields(strings.ReplaceAll(lines[len(lines)-1], "'", ""))
		code, second, log := run(again[1:]...)
		require.Zero(t, code, log)
		assert.Equal(t, first, second, line)
		if strings.HasPrefix(line, "--preset") {
			assert.Equal(t, "minilb simulate: same result as the sender\n", log)
		}
	}
}

func TestABarIsALine(t *testing.T) {
	for _, done := range []float64{-1, 0, 0.5, 1, 2} {
		line := barLine(done)
		assert.Less(t, len(line), width, line)
		assert.Contains(t, line, "Ctrl-C")
	}
	assert.Contains(t, barLine(0.5), "["+strings.Repeat("#", 20)+strings.Repeat(".", 20)+"]  50%")
}

func TestHelpHasThePartsOfABackendWhenAskedForAll(t *testing.T) {
	_, out, _ := run("simulate", "--help", "--all")
	assert.Contains(t, out, "\nParts of --backend, as in --backend slow=100,capacity=2,crash_at=10:\n  capacity  (1 to 100000 workers, default 4)\n")
	assert.Regexp(t, `(?m)^  --preset\n +a scenario to start from, by name; flags override it \(`, out)
	_, out, _ = run("simulate", "--help")
	assert.Regexp(t, `\n\d+ more flags and the parts of --backend: minilb simulate --help --all\n$`, out)
	assert.NotContains(t, out, "crash_at")
	_, out, _ = run("serve", "--help", "--all")
	assert.NotContains(t, out, "Parts of --backend")
}

func TestQuotedWordsAreForAShell(t *testing.T) {
	for text, want := range map[string]string{"": "''", "rate=1..2": "rate=1..2", "a b": "'a b'", "it's": `'it'\''s'`, "-": "-"} {
		assert.Equal(t, want, quoted(text))
	}
}
