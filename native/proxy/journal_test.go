package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"minilb/core/lb"
)

func TestJournalKeepsTheLatestAndPrintsAll(t *testing.T) {
	out := &logBuffer{}
	j := newJournal(out)
	for i := range 500 {
		j.log(lb.Event{At: lb.Time(i) * lb.Time(time.Second), Backend: "b3", What: lb.WasEjected, Reason: "why"})
	}
	j.close()
	events := j.events()
	assert.Len(t, events, 200)
	assert.Equal(t, 300.0, events[0].At.Seconds())
	assert.Equal(t, 500, strings.Count(out.String(), "\n"))
	assert.Contains(t, out.String(), "[minilb] t=1.000 b3 ejected: why\n")
	j.log(lb.Event{}) // after the end, as a late probe may: kept, not printed
	assert.Len(t, j.events(), 200)
}
