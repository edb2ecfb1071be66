package outlier_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"minilb/core/lb"
	"minilb/core/outlier"
)

// A twin keeps every outcome since a backend's last return in a list, every
// ejection in another, and counts from the end each time.
type twin struct {
	c        outlier.Config
	outcomes [][]lb.Outcome
	since    []int // where the present interval begins in outcomes
	lengths  [][]time.Duration
	until    []lb.Time
	out      []bool
	leaving  []bool
	refused  int
	look     lb.Time
}

func newTwin(c outlier.Config, n int) *twin {
	return &twin{c: c, outcomes: make([][]lb.Outcome, n), since: make([]int, n), lengths: make([][]time.Duration, n),
		until: make([]lb.Time, n), out: make([]bool, n), leaving: make([]bool, n), look: lb.Time(c.OutlierInterval)}
}

func (w *twin) streak(slot int, counts func(lb.Outcome) bool) int {
	n := 0
	for i := len(w.outcomes[slot]) - 1; i >= 0 && counts(w.outcomes[slot][i]); i-- {
		n++
	}
	return n
}

func (w *twin) complete(slot int) bool {
	errors, gateway := w.streak(slot, lb.Outcome.Failed), w.streak(slot, lb.Outcome.Gateway)
	return w.c.Consecutive5xx > 0 && errors >= w.c.Consecutive5xx ||
		w.c.ConsecutiveGateway > 0 && gateway >= w.c.ConsecutiveGateway
}

func (w *twin) respond(now lb.Time, slot int, o lb.Outcome) {
	w.outcomes[slot] = append(w.outcomes[slot], o)
	if w.complete(slot) && !w.out[slot] && o.Failed() {
		w.eject(now, slot)
	}
}

func (w *twin) eject(now lb.Time, slot int) {
	if w.leaving[slot] {
		return
	}
	members, out := 0, 1
	for s := range w.out {
		if !w.leaving[s] {
			members++
			if w.out[s] {
				out++
			}
		}
	}
	if 100*out > members*int(w.c.MaxEjectionPercent) && !(w.c.AlwaysEjectOneHost && out == 1) {
		w.refused++
		return
	}
	length := time.Duration(0)
	for range len(w.lengths[slot]) + 1 {
		length += w.c.BaseEjection
	}
	length = min(length, max(w.c.BaseEjection, w.c.MaxEjection))
	w.lengths[slot] = append(w.lengths[slot], length)
	w.until[slot], w.out[slot] = now.Add(length), true
	// The streak is spent; the interval's counts are not.
	w.outcomes[slot] = append(w.outcomes[slot], ok)
}

func (w *twin) comeBack(slot int) {
	w.out[slot], w.outcomes[slot], w.since[slot] = false, nil, 0
}

// pass lets time go by, one nanosecond after the other.
func (w *twin) pass(from, to lb.Time) {
	for now := from + 1; now <= to; now++ {
		looks := w.c.OutlierInterval > 0 && now == w.look
		for slot := range w.out {
			if w.out[slot] && w.until[slot] <= now && (looks || w.c.OutlierInterval == 0) {
				w.comeBack(slot)
			}
		}
		if looks {
			w.look = now.Add(w.c.OutlierInterval)
			for slot := range w.since {
				w.since[slot] = len(w.outcomes[slot])
			}
		}
	}
}

func drawConfig(t *rapid.T) outlier.Config {
	return outlier.Config{
		Consecutive5xx:     rapid.IntRange(0, 4).Draw(t, "5xx"),
		ConsecutiveGateway: rapid.IntRange(0, 3).Draw(t, "gateway"),
		OutlierInterval:    rapid.SampledFrom([]time.Duration{0, 5, 8}).Draw(t, "interval"),
		BaseEjection:       time.Duration(rapid.IntRange(1, 9).Draw(t, "base")),
		MaxEjection:        time.Duration(rapid.IntRange(1, 30).Draw(t, "max")),
		MaxEjectionPercent: float64(rapid.IntRange(0, 100).Draw(t, "percent")),
		AlwaysEjectOneHost: rapid.Bool().Draw(t, "always"),
		UnejectOnCheck:     rapid.Bool().Draw(t, "uneject"),
	}
}

func TestAgreesWithATwinThatRemembersEverything(t *testing.T) {
	kinds := []lb.Outcome{ok, broken, gateway, {Status: 404}, {Kind: lb.Refused}, {Kind: lb.TimedOut}, {Kind: lb.Cancelled}}
	rapid.Check(t, func(t *rapid.T) {
		c, n := drawConfig(t), rapid.IntRange(1, 6).Draw(t, "backends")
		f, w, now := newFleet(c, n), newTwin(c, n), lb.Time(0)
		slot := func(t *rapid.T) int { return rapid.IntRange(0, n-1).Draw(t, "slot") }
		t.Repeat(map[string]func(*rapid.T){
			"respond": func(t *rapid.T) {
				s, o := slot(t), rapid.SampledFrom(kinds).Draw(t, "outcome")
				f.respond(now, s, 1, o)
				if o.Kind != lb.Cancelled {
					w.respond(now, s, o)
				}
			},
			"errors": func(t *rapid.T) {
				s := slot(t)
				for range rapid.IntRange(1, 5).Draw(t, "times") {
					f.respond(now, s, 1, broken)
					w.respond(now, s, broken)
				}
			},
			"time": func(t *rapid.T) {
				passes := lb.Time(rapid.IntRange(0, 12).Draw(t, "passes"))
				for range passes { // looks must not be late here: a late one is another look
					w.pass(now, now+1)
					now++
					f.advance(now)
				}
			},
			"drain or undrain": func(t *rapid.T) {
				s := slot(t)
				f.leaving[s] = !f.leaving[s]
				w.leaving[s] = !w.leaving[s]
			},
			"check": func(t *rapid.T) {
				s := slot(t)
				returned, _ := f.d.Passed(now, s)
				assert.Equal(t, w.out[s] && c.UnejectOnCheck, returned)
				if returned {
					f.out[s] = false
					w.comeBack(s)
				}
			},
			"": func(t *rapid.T) {
				assert.Equal(t, w.out, f.out)
				assert.Equal(t, w.refused, f.refused)
			},
		})
	})
}

// With looks, any late shell: what must hold is that nobody returns early, that
// the cap holds when somebody is ejected, and that lengths grow as written.
func TestCapAndLengthsHoldHoweverLateTheShell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, n := drawConfig(t), rapid.IntRange(1, 8).Draw(t, "backends")
		c.Consecutive5xx = max(c.Consecutive5xx, 1)
		f, now := newFleet(c, n), lb.Time(0)
		times, until := make([]int, n), make([]lb.Time, n)
		apply := func(slot int, v lb.Verdict) {
			f.apply(slot, v)
			switch v.What {
			case lb.WasEjected:
				times[slot]++
				until[slot] = v.Until
				out := f.census()
				assert.True(t, float64(100*out.Ejected) <= c.MaxEjectionPercent*float64(out.Members) || c.AlwaysEjectOneHost && out.Ejected == 1)
				length := min(c.BaseEjection*time.Duration(times[slot]), max(c.BaseEjection, c.MaxEjection))
				assert.Equal(t, v.At.Add(length), v.Until)
			case lb.Returned:
				assert.LessOrEqual(t, until[slot], v.At)
				assert.LessOrEqual(t, v.At, now)
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += lb.Time(rapid.IntRange(0, 20).Draw(t, "passes"))
			f.d.Advance(now, f.census(), apply)
			assert.Greater(t, f.d.Next(), now)
			slot := rapid.IntRange(0, n-1).Draw(t, "slot")
			if f.d.Note(slot, broken) {
				apply(slot, f.d.Judge(now, slot, f.census()))
			}
		}
	})
}
