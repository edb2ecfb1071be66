package health_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/health"
	"minilb/core/lb"
)

var update = flag.Bool("update", false, "write the transcripts in testdata anew")

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// TestAgreesWithHAProxysRecordedScripts replays the answers that a real
// HAProxy was given and writes its log from our state: the fraction is its
// health counter, which goes down from fall while up and up to rise while down.
func TestAgreesWithHAProxysRecordedScripts(t *testing.T) {
	recorded, err := os.ReadFile("testdata/haproxy_recorded.txt")
	require.NoError(t, err)
	blocks := strings.Split(strings.TrimSpace(string(recorded)), "\n\n")[1:]
	require.Len(t, blocks, 2)
	for _, block := range blocks {
		head, logged, _ := strings.Cut(block, "\n")
		c := health.Config{CheckInterval: time.Second, Initial: "haproxy"}
		var script string
		_, err := fmt.Sscanf(head, "rise %d fall %d script %s", &c.Rise, &c.Fall, &script)
		require.NoError(t, err)
		assert.Equal(t, logged, asHAProxyLogs(c, script), script)
	}
}

func asHAProxyLogs(c health.Config, script string) string {
	k := health.New(c, 0)
	up := k.Add(0, 0, false)
	was := counter(c, k, up)
	var lines []string
	for i, answer := range script {
		up, _, _ = k.Record(lb.Time(i), 0, result(answer == 'S'))
		if is := counter(c, k, up); is != was {
			lines = append(lines, string(answer)+" "+is)
			was = is
		}
	}
	return strings.Join(lines, "\n")
}

func counter(c health.Config, k *health.Checker, up bool) string {
	if up {
		return fmt.Sprintf("%d/%d UP", c.Fall-k.Run(0), c.Fall)
	}
	return fmt.Sprintf("%d/%d DOWN", k.Run(0), c.Rise)
}

func result(passed bool) lb.ProbeResult {
	if passed {
		return lb.ProbeResult{Status: 200}
	}
	return lb.ProbeResult{Status: 500}
}

// TestAnOutageReadsAsProse drives a checker as a shell does: from Next to
// Next, asking the backends' scripts what each probe finds.
func TestAnOutageReadsAsProse(t *testing.T) {
	c := health.Config{CheckInterval: 2 * time.Second, CheckTimeout: time.Second, Rise: 2, Fall: 3}
	ok, broken := lb.ProbeResult{Status: 200}, lb.ProbeResult{Status: 500}
	slow, gone := lb.ProbeResult{Kind: lb.TimedOut}, lb.ProbeResult{Kind: lb.Refused}
	scripts := [][]lb.ProbeResult{
		{ok, broken, broken, ok, broken, broken, broken, broken, ok, broken, ok, ok, ok}, // flaps, then falls
		{ok, ok, slow, slow, slow, ok, ok},
		{}, // added at 5 s, see below
	}
	late := []lb.ProbeResult{gone, gone, ok, broken, broken, broken, ok, ok}

	var out strings.Builder
	k := health.New(c, 1)
	for slot, name := range []string{"a", "b"} {
		fmt.Fprintf(&out, "t=0.000 %s starts up=%v\n", name, k.Add(0, slot, false))
	}
	scripts[2] = late
	for added := false; k.Next() <= 24e9; {
		now := k.Next()
		if !added && now > 5e9 {
			added, now = true, 5e9
			fmt.Fprintf(&out, "t=5.000 c is added to the running pool, up=%v\n", k.Add(now, 2, true))
		}
		for _, slot := range k.Due(now, nil) {
			seen := ok
			if len(scripts[slot]) > 0 {
				seen, scripts[slot] = scripts[slot][0], scripts[slot][1:]
			}
			up, changed, reason := k.Record(now, slot, seen)
			fmt.Fprintf(&out, "t=%s %c %s", now, 'a'+rune(slot), words(seen))
			if changed {
				fmt.Fprintf(&out, " -> up=%v: %s", up, reason)
			}
			out.WriteByte('\n')
		}
	}
	golden(t, "testdata/outage.txt", out.String())
}

func words(r lb.ProbeResult) string { return lb.Outcome{Kind: r.Kind, Status: r.Status}.String() }
