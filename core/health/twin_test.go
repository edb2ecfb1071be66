package health_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"minilb/core/health"
	"minilb/core/lb"
)

// A twin remembers every result and every instant, and works the answer out
// anew each time.
type twin struct {
	c       health.Config
	running bool
	results []bool
	added   lb.Time
	grid    lb.Time
	asked   lb.Time // up to here probes have started
}

func (w *twin) up() bool {
	up := !w.running && w.c.Initial != "down"
	history, from, entered := w.results, 0, !w.running
	if !w.running && w.c.Initial == "haproxy" {
		history = append(make([]bool, w.c.Fall-1), history...)
	}
	for i := range history {
		need := w.c.Rise
		switch {
		case up:
			need = w.c.Fall
		case !entered:
			need = 1
		}
		if i+1-from >= need && !slices.Contains(history[i+1-need:i+1], up) {
			up, from, entered = !up, i+1, true
		}
	}
	return up
}

// due says whether a start lies after the last question and not after now.
func (w *twin) due(now lb.Time) bool {
	if w.asked < w.added && w.added <= now {
		return true
	}
	for at := w.grid; at <= now; at = at.Add(w.c.CheckInterval) {
		if w.asked < at {
			return true
		}
	}
	return false
}

func TestAgreesWithATwinThatRemembersEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := health.Config{
			CheckInterval: time.Duration(rapid.IntRange(1, 20).Draw(t, "interval")),
			CheckJitter:   rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "jitter"),
			Rise:          rapid.IntRange(1, 4).Draw(t, "rise"),
			Fall:          rapid.IntRange(1, 4).Draw(t, "fall"),
			Initial:       rapid.SampledFrom([]string{"up", "down", "haproxy"}).Draw(t, "initial"),
		}
		k, twins, now := health.New(c, rapid.Uint64().Draw(t, "random")), [3]*twin{}, lb.Time(0)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				slot, running := rapid.IntRange(0, 2).Draw(t, "slot"), rapid.Bool().Draw(t, "running")
				w := &twin{c: c, running: running, added: now, grid: now.Add(k.Phase(slot)), asked: now - 1}
				twins[slot] = w
				assert.Equal(t, w.up(), k.Add(now, slot, running))
			},
			"remove": func(t *rapid.T) {
				slot := rapid.IntRange(0, 2).Draw(t, "slot")
				if twins[slot] == nil {
					t.Skip()
				}
				twins[slot] = nil
				k.Remove(slot)
			},
			"result": func(t *rapid.T) {
				slot, passed := rapid.IntRange(0, 2).Draw(t, "slot"), rapid.Bool().Draw(t, "passed")
				w := twins[slot]
				if w == nil {
					t.Skip()
				}
				was := w.up()
				w.results = append(w.results, passed)
				up, changed, reason := k.Record(now, slot, result(passed))
				assert.Equal(t, w.up(), up)
				assert.Equal(t, was != up, changed)
				assert.Equal(t, changed, reason != "")
			},
			"time": func(t *rapid.T) {
				now += lb.Time(rapid.IntRange(0, 50).Draw(t, "passes"))
				var want []int
				for slot, w := range twins {
					if w != nil && w.due(now) {
						want = append(want, slot)
					}
					if w != nil {
						w.asked = now
					}
				}
				assert.Equal(t, want, k.Due(now, nil))
			},
			"": func(t *rapid.T) {
				assert.False(t, k.Next() == lb.Never && twins != [3]*twin{}, "a backend is left without probes")
			},
		})
	})
}
