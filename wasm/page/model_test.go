package page

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/scenario"
)

func TestAnAddressWithoutAScenarioOpensTheIncident(t *testing.T) {
	m := Open("")
	assert.Empty(t, m.Notice)
	preset, ok := scenario.FindPreset(firstSight)
	require.True(t, ok)
	assert.Equal(t, preset.Link, m.Link())
	assert.Equal(t, m.Link(), Open("#").Link())
}

func TestALinkOpensItsScenarioAndGivesItBack(t *testing.T) {
	for _, link := range []string{"#v1", "#v1;algorithm=p2c;rate=120;seed=42", "#v1;rate=99;later=yes"} {
		m := Open(link)
		assert.Equal(t, link, m.Link())
	}
}

func TestALinkThatAProgramHasPercentEncodedIsRead(t *testing.T) {
	assert.Equal(t, "#v1;rate=120;seed=42", Open("#v1%3Brate%3D120%3bseed=42").Link())
	assert.Contains(t, Open("#v1;rate=%zz").Notice, "cannot be read")
}

func TestABrokenLinkOpensTheDefaultAndSaysWhy(t *testing.T) {
	for _, c := range []struct{ link, want string }{
		{"#v99;rate=1", "this build knows v1"},
		{"#rate=1", "does not begin with a version"},
		{"#v1;rate=NaN", "rate=NaN"},
		{"#v1;rate=-1;requests=x", "requests=x"},
		{"#v1;algorithm=fastest", "unknown"},
		{"#v1;backend=<b>:20", "cannot be read"},
		{"#v1;table-size=100", "not a prime"},
		{"#v1;" + strings.Repeat("a", 100_000), "too long"},
		{"#" + strings.Repeat("%", 2<<20), "too long"},
	} {
		m := Open(c.link)
		assert.Contains(t, m.Notice, c.want, "%.40s", c.link)
		assert.Equal(t, "#v1", m.Link(), "%.40s", c.link)
	}
}

func TestAnUnknownSettingIsShownAndPassedOn(t *testing.T) {
	m := Open("#v1;later=yes")
	assert.Contains(t, m.Notice, "later=yes")
	require.NoError(t, m.Set("rate", "99"))
	assert.Equal(t, "#v1;rate=99;later=yes", m.Link())
}

func TestAnyTextIsALinkOrAMessageNeverAPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Open(rapid.OneOf(rapid.String(), rapid.StringMatching(`#v1(;[a-z-]+=[a-z0-9.:,%]*)*`)).Draw(t, "fragment"))
		again := Open(m.Link())
		assert.Equal(t, m.Link(), again.Link())
	})
}

func TestTheLinkIsThatOfTheScenarioWhateverWasDone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Open("")
		id := rapid.SampledFrom([]string{"rate", "seed", "algorithm", "b0.mean", "b1.errors", "nothing"})
		do := map[string]func(){
			"set": func() {
				_ = m.Set(id.Draw(t, "id"), rapid.SampledFrom([]string{"1", "20", "p2c", "x"}).Draw(t, "text"))
			},
			"slide":   func() { _ = m.Slide(id.Draw(t, "id"), rapid.IntRange(-1, 50).Draw(t, "position")) },
			"toggle":  func() { _ = m.Toggle("algorithm", "p2c", rapid.Bool().Draw(t, "on")) },
			"reset":   func() { _ = m.Reset(id.Draw(t, "id")) },
			"add":     func() { _ = m.AddBackend() },
			"remove":  func() { _ = m.RemoveBackend(rapid.IntRange(0, 3).Draw(t, "i")) },
			"rename":  func() { _ = m.Rename(0, rapid.SampledFrom([]string{"x", "y", "<"}).Draw(t, "name")) },
			"default": m.ResetAll,
			"load":    func() { m.Load("#v1;rate=77") },
			"file":    func() { m.LoadFile("s.txt", []byte("v1;rate=78")) },
			"apply":   func() { _ = m.Apply(Remedy{Sets: []Setting{{"consecutive-5xx", "5"}}}) },
		}
		for _, what := range rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(do))), 1, 8).Draw(t, "done") {
			do[what]()
			require.Equal(t, scenario.Encode(m.Scenario()), m.Link(), what)
		}
	})
}

func TestSettingAParameterChangesTheLinkAndResettingItChangesItBack(t *testing.T) {
	for _, c := range []struct{ id, text, want string }{
		{"rate", "99", "#v1;rate=99"},
		{"seed", " 7 ", "#v1;seed=7"},
		{"base-ejection", "500ms", "#v1;base-ejection=0.5"},
		{"always-eject-one-host", "true", "#v1;always-eject-one-host=true"},
		{"initial", "down", "#v1;initial=down"},
		{"b2.errors", "0.5", "#v1;backend=fast1:20;backend=fast2:20;backend=slow:100,errors:0.5"},
	} {
		m := Open("#v1")
		require.NoError(t, m.Set(c.id, c.text), c.id)
		assert.Equal(t, c.want, m.Link())
		k, ok := m.Control(c.id)
		require.True(t, ok)
		assert.True(t, k.Changed, c.id)
		require.NoError(t, m.Reset(c.id))
		assert.Equal(t, "#v1", m.Link(), c.id)
	}
}

func TestARefusedTextLeavesTheScenarioAlone(t *testing.T) {
	m := Open("#v1")
	for _, c := range []struct{ id, text, want string }{
		{"rate", "NaN", "not a number"},
		{"rate", "-5", "outside"},
		{"max-ejection-percent", "101", "outside"},
		{"b0.weight", "0", "outside"},
		{"b9.weight", "1", "no backend"},
		{"b0.colour", "red", "no"},
		{"nothing", "1", "no parameter"},
	} {
		assert.ErrorContains(t, m.Set(c.id, c.text), c.want, c.id)
		assert.Equal(t, "#v1", m.Link(), c.id)
	}
}

func TestPoliciesKeepTheOrderOfTheMenuAndTheLastOneStays(t *testing.T) {
	m := Open("#v1;algorithm=p2c")
	require.NoError(t, m.Toggle("algorithm", "round_robin", true))
	assert.Equal(t, []string{"round_robin", "p2c"}, m.Scenario().Algorithms)
	require.NoError(t, m.Toggle("algorithm", "p2c", false))
	assert.Error(t, m.Toggle("algorithm", "round_robin", false))
	assert.Error(t, m.Toggle("algorithm", "fastest", true))
	assert.Equal(t, []string{"round_robin"}, m.Scenario().Algorithms)
}

func TestBackendsComeAndGoBetweenOneAndTwelve(t *testing.T) {
	m := Open("#v1")
	for m.CanAdd() {
		require.NoError(t, m.AddBackend())
	}
	assert.Len(t, m.Cards(), MaxBackends)
	assert.Error(t, m.AddBackend())
	assert.Empty(t, Open(m.Link()).Notice, "twelve backends are a link")
	for m.CanRemove() {
		require.NoError(t, m.RemoveBackend(0))
	}
	assert.Error(t, m.RemoveBackend(0))
	assert.Len(t, m.Cards(), 1)
}

func TestANewBackendIsLikeTheLastOneUnderAFreeName(t *testing.T) {
	m := Open("#v1;backend=b1:20;backend=b3:50,capacity:8")
	require.NoError(t, m.AddBackend())
	assert.Equal(t, "#v1;backend=b1:20;backend=b3:50,capacity:8;backend=b2:50,capacity:8", m.Link())
}

func TestABackendIsRenamedOnlyToAFreeGoodName(t *testing.T) {
	m := Open("#v1")
	require.NoError(t, m.Rename(2, "sluggish"))
	for _, bad := range []string{"fast1", "", "a b", "<script>", "-x", strings.Repeat("a", 33)} {
		assert.Error(t, m.Rename(2, bad), bad)
	}
	assert.Equal(t, "sluggish", m.Cards()[2].Name)
}

func TestACopyOfTheScenarioDoesNotFollowLaterChanges(t *testing.T) {
	m := Open("#v1")
	asked := m.Ask()
	require.NoError(t, m.Set("b0.mean", "77"))
	require.NoError(t, m.RemoveBackend(1))
	require.NoError(t, m.Toggle("algorithm", "p2c", false))
	assert.Equal(t, asked.Link, scenario.Encode(asked.Scenario))
	assert.Equal(t, "#v1", asked.Link)
}

func TestEveryParameterHasAControlInItsGroupWithALabelAndHelp(t *testing.T) {
	m := Open("#v1")
	seen := map[string]bool{}
	for _, g := range m.Groups() {
		for _, k := range append(g.Main, g.More...) {
			assert.Equal(t, g.Name, k.Group)
			seen[k.ID] = true
		}
	}
	for _, k := range m.Controls() {
		assert.True(t, seen[k.ID], k.ID)
		assert.NotEmpty(t, k.Label, k.ID)
		assert.NotEmpty(t, k.Help, k.ID)
	}
	for _, id := range []string{"algorithm", "rate", "requests", "consecutive-5xx", "max-ejection-percent", "base-ejection"} {
		assert.True(t, seen[id], id)
	}
}

func TestASectionSaysHowMuchInItIsChanged(t *testing.T) {
	m := Open("#v1;rate=99;keys=5;backend=a:20")
	badges := map[string]string{}
	for _, b := range m.Badges() {
		badges[b.Section] = b.Text
	}
	assert.Equal(t, "2 changed", badges["traffic"])
	assert.Equal(t, "1 changed", badges["traffic more"])
	assert.Equal(t, "1 changed", badges["backends"])
	assert.Equal(t, "", badges["checks"])
}

func TestIncidentsAreThePresetsAndTheOneOnThePageIsMarked(t *testing.T) {
	m := Open("")
	active := 0
	for _, i := range m.Incidents() {
		if i.Active {
			active++
			assert.Equal(t, firstSight, i.Name)
		}
		assert.Empty(t, Open(i.Link).Notice, i.Name)
	}
	assert.Equal(t, 1, active)
}

func TestTheCommandRunsTheScenarioOfThePage(t *testing.T) {
	assert.Equal(t, "minilb simulate --scenario 'v1;rate=99'", Open("#v1;rate=99").Command())
}

func TestTwelveBackendsLookDifferent(t *testing.T) {
	seen := map[Mark]bool{}
	for i := range MaxBackends {
		seen[MarkOf(i)] = true
	}
	assert.Len(t, seen, MaxBackends)
	assert.False(t, MarkOf(0).Hatched)
	assert.True(t, MarkOf(6).Hatched)
	assert.Equal(t, MarkOf(0).Colour, MarkOf(6).Colour)
}
