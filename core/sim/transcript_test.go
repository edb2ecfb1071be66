package sim

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
)

var update = flag.Bool("update", false, "write testdata/*.txt anew; read them before committing")

// Each transcript is the link of a scenario and what it leads to.
var transcripts = map[string]string{
	"ejection":  "#v1;algorithm=round_robin;backend=a:20;backend=b:20;backend=broken:2,errors:1;consecutive-5xx=5;max-ejection-percent=34",
	"refused":   "#v1;algorithm=least_conn;backend=a:20;backend=b:20;backend=broken:2,errors:1;consecutive-5xx=5;max-ejection-percent=33",
	"overload":  "#v1;algorithm=round_robin;rate=30;requests=600;backend=a:20;backend=slow:100,capacity:1;check-interval=0.5;check-timeout=0.3",
	"cascade":   "#v1;algorithm=p2c;rate=220;requests=2000;backend=a:20,capacity:2;backend=b:20,capacity:2;backend=c:20,capacity:2,errors:1;check-interval=0.5;check-timeout=0.2",
	"two-holds": "#v1;algorithm=p2c;requests=1500;backend=a:20;backend=b:20;backend=flaky:20,errors:0.7;check-interval=0.3;consecutive-5xx=3;base-ejection=0.5;retries=1;retry-on=5xx",
}

func TestTranscripts(t *testing.T) {
	for name, link := range transcripts {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Decode(link)
			require.NoError(t, err)
			report, err := Run(s, Options{Events: true})
			require.NoError(t, err)
			text := transcript(link, report.Results[0])
			path := filepath.Join("testdata", name+".txt")
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, string(want), text)
		})
	}
}

func transcript(link string, r Result) string {
	var b strings.Builder
	fmt.Fprintln(&b, link)
	for _, v := range r.Events {
		fmt.Fprintln(&b, v)
	}
	fmt.Fprintf(&b, "%d requests: %d completed, %d errors, %d dropped; %d attempts", r.Requests, r.Completed, r.Errors, r.Dropped, r.Attempts)
	for _, share := range r.Share {
		fmt.Fprintf(&b, ", %s %.1f%%", share.Backend, 100*share.Fraction)
	}
	fmt.Fprintf(&b, "\nejections %d, refused %d; p50 %.3f ms, p99 %.3f ms, max %.6f ms\n",
		r.Ejections, r.EjectionsRefused, r.Latency.P50, r.Latency.P99, r.Latency.Max)
	return b.String()
}
