package sim

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
)

func TestTheJSONOfAReportHasItsFieldsInOrder(t *testing.T) {
	r := Report{Scenario: scenario.Default(), Results: []Result{{
		Algorithm: "p2c", Requests: 3, Completed: 2, Errors: 1, Dropped: 1, Attempts: 4,
		Latency: Latency{Mean: 1.5, P50: 1, P95: 2, P99: 2, Max: 2},
		Share:   Shares{{"zeta", 0.75}, {"alpha", 0.25}}, Ejections: 5, EjectionsRefused: 6,
		Kinds: Kinds{ServerError: 1, QueueFull: 1}, Retries: 1, Amplification: 1.25,
		Backends: []BackendResult{{Backend: "zeta", Attempts: 3, InFlightMax: 2, Restoration: seconds(1500 * time.Millisecond)}},
	}}}
	want := `{
  "seed": 1,
  "link": "#v1",
  "results": [
    {
      "algorithm": "p2c",
      "requests": 3,
      "completed": 2,
      "errors": 1,
      "dropped": 1,
      "attempts": 4,
      "latency_ms": {
        "mean": 1.5,
        "p50": 1,
        "p95": 2,
        "p99": 2,
        "max": 2
      },
      "share": {
        "zeta": 0.75,
        "alpha": 0.25
      },
      "ejections": 5,
      "ejections_refused": 6,
      "errors_by_kind": {
        "5xx": 1,
        "timeout": 0,
        "refused": 0,
        "broken": 0,
        "no_backend": 0,
        "queue_full": 1
      },
      "retries": 1,
      "retries_skipped": {
        "budget": 0,
        "no_other_backend": 0,
        "not_idempotent": 0
      },
      "client_retries": 0,
      "amplification": 1.25,
      "duplicates": 0,
      "away_from_home": 0,
      "cut_by_drain": 0,
      "unanswered": 0,
      "backends": [
        {
          "backend": "zeta",
          "attempts": 3,
          "latency_ms": {
            "mean": 0,
            "p50": 0,
            "p95": 0,
            "p99": 0,
            "max": 0
          },
          "in_flight_max": 2,
          "queue_max": 0,
          "detection_s": null,
          "restoration_s": 1.5
        }
      ]
    }
  ]
}
`
	assert.Equal(t, want, string(r.JSON()))
}

func TestTheLinkInAReportRunsTheSameScenario(t *testing.T) {
	s := guarded(t, 500)
	text, err := RunJSON(s)
	require.NoError(t, err)
	var out struct{ Link string }
	require.NoError(t, json.Unmarshal(text, &out))
	again, err := scenario.Decode(out.Link)
	require.NoError(t, err)
	same, err := RunJSON(again)
	require.NoError(t, err)
	assert.Equal(t, string(text), string(same))
}

func TestAReportWithoutResultsIsStillAList(t *testing.T) {
	text := string(Report{}.JSON())
	assert.Contains(t, text, `"results": []`)
	assert.True(t, strings.HasSuffix(text, "}\n"))
}
