package page

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// every is all controls of a scenario, its backends' among them.
func every(m *Model) []Control {
	list := m.Controls()
	for _, c := range m.Cards() {
		list = append(list, c.Controls...)
	}
	return list
}

func TestEveryStopOfEverySliderIsAcceptedAndIsWhereTheSliderStays(t *testing.T) {
	m := Open("#v1")
	sliders := 0
	for _, k := range every(m) {
		if k.Look != Slider {
			continue
		}
		sliders++
		for position := range k.Stops {
			require.NoError(t, m.Slide(k.ID, position), k.ID)
			after, ok := m.Control(k.ID)
			require.True(t, ok)
			require.Equal(t, position, after.Position, "%s at %s", k.ID, after.Text)
		}
	}
	assert.Greater(t, sliders, 20)
}

func TestSlidersStopAtRoundNumbersThatRise(t *testing.T) {
	m := Open("#v1")
	for _, k := range every(m) {
		stops := m.ticks[k.ID]
		if k.Look != Slider || stops == nil {
			continue
		}
		assert.True(t, slices.IsSorted(stops), k.ID)
		assert.Len(t, slices.Compact(slices.Clone(stops)), len(stops), k.ID)
		assert.LessOrEqual(t, len(stops), maxTicks+2, k.ID)
		assert.Greater(t, len(stops), 1, k.ID)
	}
	assert.Contains(t, m.ticks["rate"], 150.0)
	assert.Contains(t, m.ticks["max-ejection-percent"], 34.0)
	assert.Contains(t, m.ticks["check-interval"], 0.3, "not 0.30000000000000004")
}

func TestAValueBetweenTheStopsShowsAtTheNearestOne(t *testing.T) {
	stops := []float64{1, 2, 5, 10}
	for _, c := range []struct {
		v    float64
		want int
	}{{0.1, 0}, {1, 0}, {1.4, 0}, {1.6, 1}, {4, 2}, {10, 3}, {1e9, 3}} {
		assert.Equal(t, c.want, nearestTick(stops, c.v), c.v)
	}
}

func TestASliderRefusesAPositionItDoesNotHave(t *testing.T) {
	m := Open("#v1")
	assert.Error(t, m.Slide("rate", -1))
	assert.Error(t, m.Slide("rate", 1_000_000))
	assert.Error(t, m.Slide("algorithm", 0))
	assert.Equal(t, "#v1", m.Link())
}
