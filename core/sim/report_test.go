package sim

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
)

func TestTheJSONOfAReportHasItsFieldsInOrder(t *testing.T) {
	r := Report{Scenario: scenario.Default(), Results: []Result{{
		Algorithm: "p2c", Requests: 3, Completed: 2, Errors: 1, Dropped: 1, Attempts: 4,
		Latency: Latency{Mean: 1.5, P50: 1, P95: 2, P99: 2, Max: 2},
		Share:   Shares{{"zeta", 0.75}, {"alpha", 0.25}}, Ejections: 5, EjectionsRefused: 6,
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
      "ejections_refused": 6
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
