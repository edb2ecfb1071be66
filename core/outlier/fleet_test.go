package outlier_test

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
	"minilb/core/outlier"
)

var _ lb.Outlier = (*outlier.Detector)(nil)

var update = flag.Bool("update", false, "write the transcripts in testdata anew")

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func at(seconds float64) lb.Time { return lb.Time(seconds*1e9 + 0.5) }

var (
	ok      = lb.Outcome{Status: 200}
	broken  = lb.Outcome{Status: 500}
	gateway = lb.Outcome{Status: 503}
)

// A fleet drives a detector as the pool does, and keeps what the pool keeps.
type fleet struct {
	d       *outlier.Detector
	out     []bool // ejected
	leaving []bool // draining
	refused int
	log     []string
}

func newFleet(c outlier.Config, backends int) *fleet {
	f := &fleet{d: outlier.New(c), out: make([]bool, backends), leaving: make([]bool, backends)}
	for slot := range backends {
		f.d.Add(slot)
	}
	return f
}

// config is three errors in a row, base 10 s, max 35 s, and a cap that is no hindrance.
func config() outlier.Config {
	return outlier.Config{Consecutive5xx: 3, BaseEjection: 10 * time.Second, MaxEjection: 35 * time.Second, MaxEjectionPercent: 100}
}

func (f *fleet) counts(slot int) bool { return !f.leaving[slot] }

func (f *fleet) census() lb.Census {
	c := lb.Census{Counts: f.counts}
	for slot := range f.out {
		if f.counts(slot) {
			c.Members++
			if f.out[slot] {
				c.Ejected++
			}
		}
	}
	return c
}

func (f *fleet) apply(slot int, v lb.Verdict) {
	switch v.What {
	case lb.WasEjected:
		f.out[slot] = true
	case lb.Returned:
		f.out[slot] = false
	case lb.NotEjected:
		f.refused++
		if v.Quiet {
			return
		}
	case lb.Nothing:
		return
	}
	f.log = append(f.log, fmt.Sprintf("t=%s %c %s: %s", v.At, 'a'+rune(slot), v.What, v.Reason))
}

// respond has a backend answer times times at one instant.
func (f *fleet) respond(now lb.Time, slot, times int, o lb.Outcome) {
	for range times {
		if f.d.Note(slot, o) {
			f.advance(now)
			f.apply(slot, f.d.Judge(now, slot, f.census()))
		}
	}
}

func (f *fleet) advance(now lb.Time) {
	if now >= f.d.Next() {
		f.d.Advance(now, f.census(), f.apply)
	}
}

// ejected is who is out, as letters.
func (f *fleet) ejected() string {
	var out strings.Builder
	for slot, is := range f.out {
		if is {
			out.WriteByte('a' + byte(slot))
		}
	}
	return out.String()
}
