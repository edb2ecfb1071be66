package outlier_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"minilb/core/lb"
	"minilb/core/outlier"
)

// A shell is a fleet behind a mutex, as the pool has it: Note outside, the rest
// inside.
type shell struct {
	mu sync.Mutex
	*fleet
	ejections []int
}

func (s *shell) respond(now lb.Time, slot int, o lb.Outcome) {
	if !s.d.Note(slot, o) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.d.Judge(now, slot, s.census())
	s.apply(slot, v)
	if v.What == lb.WasEjected {
		s.ejections[slot]++
	}
}

func inParallel(n int, do func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

func TestOneStreakEjectsOnceHoweverManyReportIt(t *testing.T) {
	for range 50 {
		s := &shell{fleet: newFleet(config(), 3), ejections: make([]int, 3)}
		inParallel(8, func(i int) {
			for range 20 {
				s.respond(0, i%3, broken)
			}
		})
		assert.Equal(t, []int{1, 1, 1}, s.ejections)
	}
}

func TestTheCapHoldsHoweverManyReport(t *testing.T) {
	c := config()
	c.MaxEjectionPercent = 50
	for range 50 {
		s := &shell{fleet: newFleet(c, 7), ejections: make([]int, 7)}
		inParallel(8, func(i int) {
			for n := range 70 {
				s.respond(0, (i+n)%7, broken)
			}
		})
		assert.Len(t, s.ejected(), 3)
		assert.Positive(t, s.refused)
	}
}

// Each ejection must be paid for by a whole streak of errors since the return.
func TestEveryEjectionNeedsAWholeStreak(t *testing.T) {
	c := config()
	c.BaseEjection, c.MaxEjection = 1, 1
	s := &shell{fleet: newFleet(c, 1), ejections: make([]int, 1)}
	const reporters, errors = 6, 200
	inParallel(reporters+1, func(i int) {
		for n := range errors {
			if i < reporters {
				s.respond(lb.Time(n), 0, broken)
				continue
			}
			s.mu.Lock()
			s.advance(lb.Time(n * 2))
			s.mu.Unlock()
		}
	})
	assert.LessOrEqual(t, 3*s.ejections[0], reporters*errors)
	assert.Positive(t, s.ejections[0])
}

func TestALookSeesNoMoreFailuresThanRequests(t *testing.T) {
	c := outlier.Config{FailurePercentage: 53, OutlierInterval: 1, BaseEjection: time.Hour, MaxEjectionPercent: 100}
	s := &shell{fleet: newFleet(c, 5), ejections: make([]int, 5)}
	inParallel(6, func(i int) {
		for n := range 2000 {
			if i < 5 {
				s.respond(0, i, broken)
				s.respond(0, i, ok)
				continue
			}
			s.mu.Lock()
			s.advance(lb.Time(n))
			s.mu.Unlock()
		}
	})
	assert.Empty(t, s.ejected(), "every other request failed: 26 of an interval's 50 at most")
}

func TestNoteAllocatesNothing(t *testing.T) {
	c := config()
	c.FailurePercentage, c.OutlierInterval = 85, time.Second
	d := outlier.New(c)
	d.Add(0)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		d.Note(0, ok)
		d.Note(0, broken)
	}))
}
