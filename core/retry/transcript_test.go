package retry_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
	"minilb/core/retry"
)

var update = flag.Bool("update", false, "write the transcripts in testdata anew")

var doNames = map[retry.Do]string{retry.Finish: "finish", retry.Try: "try", retry.Wait: "wait", retry.Queue: "queue"}

// story plays one request whose attempts have these outcomes, a timeout when the
// attempt is given up and any other after 5 ms, and tells what happened. A wait for room ends in vain.
func story(t *testing.T, title string, c retry.Config, method string, deadline lb.Time, outcomes ...lb.Outcome) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", title)
	k := begin(t, c, method, deadline)
	now, a := lb.Time(0), retry.Action{Do: retry.Try}
	for i := 0; a.Do != retry.Finish; i++ {
		lease, err := k.pool.Acquire(now, lb.Query{Tried: k.life.Tried})
		require.NoError(t, err)
		giveUp := k.life.Sent(now, lease)
		fmt.Fprintf(&out, "  t=%s %s to %s, given up at %s\n", now, method, lease.Name(), giveUp)
		now = min(now+5*ms, giveUp)
		if outcomes[i].Kind == lb.TimedOut {
			now = giveUp
		}
		k.pool.Release(now, lease, outcomes[i])
		a = k.life.After(now, outcomes[i], 1<<63)
		fmt.Fprintf(&out, "  t=%s %s: %s", now, outcomes[i], doNames[a.Do])
		if a.Do == retry.Queue || a.Do == retry.Wait {
			now = a.At
			fmt.Fprintf(&out, " until %s", now)
		}
		if a.Do == retry.Queue {
			a = k.life.Denied()
			fmt.Fprintf(&out, ", then %s", doNames[a.Do])
		}
		if a.Note != "" {
			fmt.Fprintf(&out, "; %s", a.Note)
		}
		out.WriteByte('\n')
	}
	k.life.End()
	assert.Zero(t, k.budget.Requests()+k.budget.Retries())
	return out.String()
}

func TestLivesReadAsProse(t *testing.T) {
	plain, slow, none := config(), config(), config()
	slow.Backoff, slow.PerTryTimeout = 40*time.Millisecond, 20*time.Millisecond
	slow.RetryOn = append(slow.RetryOn, "timeout")
	none.MinRetryConcurrency, none.BudgetWait = 0, 100*time.Millisecond
	got := strings.Join([]string{
		story(t, "the first backend is gone", plain, "POST", lb.Never, refused, status(201)),
		story(t, "the order may have been written", plain, "POST", 1000*ms, timedOut),
		story(t, "bad gateways until the attempts are used up", plain, "GET", lb.Never, status(502), status(503), status(504)),
		story(t, "a plain 500 is an answer", plain, "GET", lb.Never, status(500)),
		story(t, "back-off doubles", slow, "PUT", lb.Never, timedOut, status(503), ok),
		story(t, "the request's own time ends first", slow, "PUT", 80*ms, timedOut, status(503)),
		story(t, "no room in the budget", none, "GET", lb.Never, status(503)),
		story(t, "no room, and little time", none, "GET", 30*ms, status(503)),
	}, "\n")
	if *update {
		require.NoError(t, os.WriteFile("testdata/lives.txt", []byte(got), 0o644))
	}
	want, err := os.ReadFile("testdata/lives.txt")
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}
