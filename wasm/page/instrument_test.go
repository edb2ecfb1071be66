package page

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/lb"
	"minilb/core/scenario"
	"minilb/core/sim"
)

func TestTheFirstSightIsCheckoutFailingFastBehindAGoodHealthCheck(t *testing.T) {
	m := Open("")
	o, _ := simulated(t, m.Link())
	assert.Equal(t, "least_conn", m.Showing(o))
	assert.Contains(t, o.Sentence("least_conn"), "of requests to checkout3, which answers all of them with errors from 5 s on")
	assert.Contains(t, o.Sentence("least_conn"), "The health check of checkout3 tests its process")
	r := FindRemedy(o, "least_conn")
	assert.Equal(t, "Turn on ejection", r.Label)
	require.NoError(t, m.Apply(r))
	after, _ := simulated(t, m.Link())
	assert.Contains(t, after.Sentence("least_conn"), "checkout3 is ejected")
}

func TestSpansAreWhatHoldsABackendBackAndEndWithIt(t *testing.T) {
	s, err := scenario.Decode("#v1;backend=a:20;backend=b:20;backend=late:20,add_at:9")
	require.NoError(t, err)
	at := func(sec float64, name string, what lb.What, reason string) lb.Event {
		return lb.Event{At: lb.Time(sec * 1e9), Backend: name, What: what, Reason: reason}
	}
	spans := Spans(s, []lb.Event{
		at(1, "a", lb.WasEjected, "5 (balancer 1)"),
		at(2, "a", lb.WasEjected, "5 (balancer 2)"),
		at(3, "a", lb.WentDown, "3 (balancer 1)"),
		at(4, "a", lb.Returned, "over (balancer 1)"),
		at(5, "a", lb.CameUp, "2 (balancer 1)"),
		at(6, "a", lb.Returned, "over (balancer 2)"),
		at(7, "b", lb.DrainBegan, "x"),
		at(8, "b", lb.WasRemoved, "drained"),
		at(9, "late", lb.WasAdded, "x"),
		at(9, "", lb.PanicBegan, "x"),
	})
	assert.Equal(t, []Span{
		{2, 0, 9, absent}, {0, 1, 3, ejected}, {0, 3, 5, down}, {0, 5, 6, ejected}, {1, 7, 8, draining}, {1, 8, 0, absent},
	}, spans)
}

func TestTheScenariosFaultsAreLinesOnTheCharts(t *testing.T) {
	s, err := scenario.Decode("#v1;arrivals=step;backend=a:20,slow_factor:5,slow_after:3,slow_until:6;backend=b:20,crash_at:4,recover_at:8,drain_at:12;dependency-down=1..2")
	require.NoError(t, err)
	var labels []string
	for _, m := range (Transcript{}).Moments(s, Words{}) {
		labels = append(labels, m.Label)
	}
	assert.Equal(t, []string{"dependency down", "dependency back", "a slow ×5", "b crashed", "a recovers", "b recovers", "rate ×3", "b drains", "step over"}, labels)
}

func TestAHashedKeyMovesOnlyWhenItsBackendGoes(t *testing.T) {
	s := scenario.Default()
	for _, policy := range []string{"ring_hash", "rendezvous"} {
		v := Keys(s, policy, 1, Words{})
		require.NotNil(t, v)
		require.Len(t, v.Cells, shownKeys)
		for _, c := range v.Cells {
			assert.Equal(t, c.Now == 1, c.Moves(), c.Key)
		}
	}
	v := Keys(s, "modulo_hash", 0, Words{})
	needless := 0
	for _, c := range v.Cells {
		if c.Moves() && c.Now != 0 {
			needless++
			assert.Contains(t, v.Sentence(s, c), "needlessly")
		}
	}
	assert.Positive(t, needless)
	assert.Contains(t, v.Note, "Without fast1 ")
	assert.Nil(t, Keys(s, "p2c", 0, Words{}), "does not look at keys")
	cell, why := Keys(s, "ring_hash", 0, Words{}).OfText(s, "user-42")
	assert.Equal(t, "user-42", cell.Key)
	assert.Contains(t, why[0], "hash of the key")
}

func TestTheOnlyBackendsKeysGoToNobody(t *testing.T) {
	s, err := scenario.Decode("#v1;backend=a:20")
	require.NoError(t, err)
	v := Keys(s, "maglev", 0, Words{})
	assert.Contains(t, v.Sentence(s, v.Cells[0]), "to nobody")
}

func TestTheCalculatorsShowTheirSums(t *testing.T) {
	o, _ := simulated(t, "#v1;algorithm=random;check-interval=2;backend=a:20;backend=b:20,crash_at:5")
	list := o.Calculators("random", DefaultDraws)
	require.Len(t, list, 3)
	assert.Equal(t, "2 s × 3 = 6.00 s", list[0].Sum)
	assert.Contains(t, list[0].Measured, "b out after ")
	assert.Equal(t, "37.5% × 2/1 = 75.0%", list[1].Sum)
	assert.Equal(t, "8 draws on 2 backends: 2/256 = 0.8%", list[2].Sum)
	assert.InDelta(t, 2.0/256, float64(drawSamples(1, 2, 8, 100_000))/100_000, 0.001)
	assert.InDelta(t, 765.0/6561, missing(3, 8), 1e-12)
	assert.Nil(t, o.Calculators("p2c", 8))
}

func TestAKeptRunIsComparedWithTheNextInWords(t *testing.T) {
	m := Open(monday)
	before, _ := simulated(t, monday)
	require.NoError(t, m.Keep(before, "least_conn"))
	after, _ := simulated(t, mended)
	v := m.Variants()[0]
	assert.Equal(t, "consecutive-5xx 0 → 5, max-ejection-percent 50 → 34", v.Changes(after, "least_conn"))
	table := m.VariantTable(after, "least_conn")
	assert.Equal(t, []string{"A least_conn", "now least_conn"}, table.Policies)
	assert.Contains(t, table.Lines[len(table.Lines)-1].Cells[1].Text, "fewer")
	other, _ := simulated(t, "#v1;rate=99;backend=a:25;backend=new:5")
	assert.Contains(t, v.Changes(other, "p2c"), "least_conn → p2c, rate 150 → 99, a mean 20 → 25, with new, without b, without broken")
	assert.Contains(t, v.Changes(other, "p2c"), "other arrivals")
	for range MaxVariants - 1 {
		require.NoError(t, m.Keep(before, "least_conn"))
	}
	assert.Error(t, m.Keep(before, "least_conn"))
	m.Drop("B")
	require.NoError(t, m.Keep(before, "round_robin"))
	assert.Equal(t, "B", m.Variants()[2].Letter)
}

func TestAStudySaysWhichDifferencesAreMoreThanChance(t *testing.T) {
	s, err := scenario.Decode(monday + ";requests=500")
	require.NoError(t, err)
	study, err := sim.Seeds(s, 5, sim.Options{})
	require.NoError(t, err)
	read, err := ReadStudy(study.JSON())
	require.NoError(t, err)
	table := read.Table()
	assert.Equal(t, []string{"round_robin", "least_conn"}, table.Policies)
	assert.Contains(t, table.Lines[0].Cells[0].Text, " to ")
	assert.Contains(t, read.Summary(), "least_conn has a higher number of errors than round_robin.")
	assert.Contains(t, read.Summary(), "5 seeds")
}

func TestWhatASimulationIgnoresIsNotAmongTheControls(t *testing.T) {
	m := Open("#v1")
	seen := map[string]bool{}
	for _, k := range m.Controls() {
		seen[k.ID] = true
	}
	for _, name := range unused {
		assert.False(t, seen[name], name)
		assert.NotNil(t, m.params.Lookup(name), name)
	}
	assert.Greater(t, len(seen), 40)
	assert.Greater(t, len(m.Cards()[0].More), 15)
}

func TestTheSearchFindsParametersByNameUnitAndHelp(t *testing.T) {
	k, _ := Open("#v1").Control("consecutive-5xx")
	assert.True(t, k.Matches("5xx"))
	assert.True(t, k.Matches("EJECT row"))
	assert.True(t, k.Matches(""))
	assert.False(t, k.Matches("ring"))
}
