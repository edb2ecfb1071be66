package page

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/param"
	"minilb/core/scenario"
	"minilb/core/sim"
)

// restless has something for every mechanism to work on: errors, a slow backend, a fault with an end, keys, POSTs.
const restless = "#v1;algorithm=round_robin;algorithm=least_conn;algorithm=p2c;algorithm=ring_hash;algorithm=maglev;algorithm=peak_ewma;requests=250;rate=220;table-size=251;post-share=0.2;" +
	"backend=a:20;backend=b:30,capacity:2,errors:0.4;backend=c:60,slow_factor:4,slow_after:0.5,recover_at:1.5,stall_at:1,stall_for:0.3"

// TestADimmedParameterHasNoEffect is the table's proof: whatever a dimmed parameter is set to, the results are the same to
// the last bit.
func TestADimmedParameterHasNoEffect(t *testing.T) {
	dimmed := 0
	for _, link := range []string{restless, restless + ";consecutive-5xx=3;check-interval=0.2", restless + ";retries=1;client-timeout=0.3;client-retries=1",
		"#v1;requests=300;algorithm=p2c;arrivals=step;max-inflight=3;dependency-down=0.5..1", "#v1;requests=300;duration=2;arrivals=closed;layer=l4;backend=a:20,drain_at:1;backend=b:20"} {
		m := Open(link)
		before := digestOf(t, m.Scenario())
		for _, e := range m.Effects() {
			if e.Why == "" {
				continue
			}
			for _, text := range others(t, m, e.ID) {
				changed := Open(link)
				if changed.Set(e.ID, text) != nil || changed.scenario.Check() != nil {
					continue
				}
				dimmed++
				assert.Equal(t, before, digestOf(t, changed.Scenario()), "%s=%s in %s: %s", e.ID, text, link, e.Why)
			}
		}
	}
	assert.Greater(t, dimmed, 150)
}

// digestOf leaves the parameter itself out: it is of the results.
func digestOf(t *testing.T, s scenario.Scenario) string {
	t.Helper()
	r, err := sim.Run(s, sim.Options{})
	require.NoError(t, err)
	return r.Digest()
}

// others are values that a control could have instead: its slider's ends, its choices.
func others(t *testing.T, m *Model, id string) (texts []string) {
	t.Helper()
	require.NoError(t, m.with(id, func(key string, p *param.Param) error {
		stops := m.ticks.of(key, p)
		switch {
		case p.Name == "table-size":
			texts = []string{"7", "1009"}
		case p.Choices != nil:
			texts = p.Choices
		case p.Kind == param.Bool:
			texts = []string{"true", "false"}
		case stops != nil:
			texts = []string{param.FormatFloat(stops[len(stops)/3]), param.FormatFloat(stops[len(stops)-1])}
		default:
			texts = []string{"429", "1"}
		}
		return nil
	}))
	return texts
}

func TestWhyAParameterIsDimmedFollowsTheScenario(t *testing.T) {
	m := Open("#v1")
	why := func(id string) string {
		k, ok := m.Control(id)
		require.True(t, ok, id)
		return k.Idle
	}
	assert.Equal(t, "no effect now: only with --algorithm ring_hash", why("ring-points"))
	assert.Equal(t, "no effect now: only with --check-interval above 0", why("fall"))
	assert.Equal(t, "no effect now: only with --consecutive-5xx, --consecutive-gateway, --success-rate-stdev or --failure-percentage above 0", why("base-ejection"))
	assert.Equal(t, "no effect now: only with slow_factor other than 1", why("b1.slow-until"))
	assert.Empty(t, why("rate"))
	require.NoError(t, m.Set("b1.slow-factor", "2"))
	assert.Empty(t, why("b1.slow-until"))
	assert.NotEmpty(t, why("b0.slow-until"), "another backend's is its own")
	require.NoError(t, m.Toggle("algorithm", "ring_hash", true))
	assert.Empty(t, why("ring-points"))
	assert.NotEmpty(t, why("drain-sticky"))
	require.NoError(t, m.Set("sticky-share", "0.5"))
	assert.Contains(t, why("drain-sticky"), "drain_at above 0", "it needs both")
	require.NoError(t, m.Set("b2.drain-at", "3"))
	assert.Empty(t, why("drain-sticky"))
	for _, c := range m.Cards() {
		for _, k := range append(c.Controls, c.More...) {
			assert.Equal(t, why(k.ID), k.Idle, k.ID)
		}
	}
	m.Speak(wordsOf(t, "fr"))
	assert.Equal(t, "sans effet pour l'instant : seulement avec --check-interval supérieur à 0", strings.ReplaceAll(why("fall"), " ", " "))
}

func TestTheTableOfNeedsNamesParametersThatExist(t *testing.T) {
	m := Open("#v1")
	known := func(name string) {
		id := name
		if part, ok := strings.CutPrefix(name, "backend."); ok {
			id = partID(0, part)
		}
		_, ok := m.Control(id)
		assert.True(t, ok, name)
	}
	for _, n := range needs {
		for _, name := range n.names {
			known(name)
		}
		for _, w := range n.any {
			known(w.name)
		}
	}
}
