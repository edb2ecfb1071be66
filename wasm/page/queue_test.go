package page

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestTheFirstChangeRunsAtOnce(t *testing.T) {
	var q Queue
	id, s := q.Submit(0)
	assert.Equal(t, Step{Start: id}, s)
	assert.False(t, q.Idle())
	assert.Equal(t, Step{}, q.Finished(id, 10))
	assert.True(t, q.Idle())
}

func TestAShortRunFinishesAndTheNewestChangeIsNext(t *testing.T) {
	var q Queue
	first, _ := q.Submit(0)
	_, s := q.Submit(10)
	assert.Equal(t, Step{Wake: patience - 10}, s)
	newest, _ := q.Submit(20)
	assert.True(t, q.Fresh(first))
	assert.Equal(t, Step{Start: newest}, q.Finished(first, 30))
	assert.False(t, q.Fresh(first), "a result that arrives late is not shown")
}

func TestALongRunIsCancelledForANewerChange(t *testing.T) {
	var q Queue
	first, _ := q.Submit(0)
	newest, s := q.Submit(1000)
	assert.Equal(t, Step{Cancel: first, Wake: stuckAfter}, s)
	_, s = q.Submit(1001)
	assert.Zero(t, s.Cancel, "once is enough")
	assert.Equal(t, Step{Start: newest + 1}, q.Finished(first, 1005))
}

func TestARunThatOutlivesItsPatienceIsCancelledByTheClock(t *testing.T) {
	var q Queue
	first, _ := q.Submit(0)
	_, s := q.Submit(10)
	assert.Equal(t, first, q.Tick(10+s.Wake).Cancel)
}

func TestAWorkerThatDoesNotListenIsReplaced(t *testing.T) {
	var q Queue
	first, _ := q.Submit(0)
	newest, s := q.Submit(1000)
	assert.Equal(t, first, s.Cancel)
	assert.Equal(t, Step{Start: newest, Replace: true}, q.Tick(1000+s.Wake))
	assert.False(t, q.Fresh(first))
	assert.True(t, q.Fresh(newest))
}

func TestStopEndsTheRunAndWhatWaits(t *testing.T) {
	var q Queue
	first, _ := q.Submit(0)
	q.Submit(1)
	assert.Equal(t, first, q.Stop(2).Cancel)
	assert.Equal(t, Step{}, q.Finished(first, 3))
	assert.True(t, q.Idle())
	assert.Equal(t, Step{}, q.Stop(4), "nothing to stop")
}

// Whatever happens in whatever order, the last change made is the last run started, once the worker has answered.
func TestTheNewestChangeAlwaysWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		now, started, last := 0.0, 0, 0
		follow := func(s Step) {
			if s.Start > 0 {
				assert.Greater(t, s.Start, started, "runs start in order")
				started = s.Start
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += rapid.Float64Range(0, 100).Draw(t, "pause")
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				id, s := q.Submit(now)
				last = id
				follow(s)
			case 1:
				follow(q.Finished(rapid.IntRange(0, last+1).Draw(t, "run"), now))
			case 2:
				follow(q.Tick(now))
			}
		}
		for range 3 {
			now++
			follow(q.Finished(q.Running(), now))
		}
		assert.Equal(t, last, started)
		assert.True(t, q.Idle())
	})
}

func TestTheAddressIsWrittenAtMostOnceInAWhile(t *testing.T) {
	throttle := Throttle{Every: 250}
	writes := 0
	for now := 0.0; now < 30_000; now += 16 {
		if throttle.Wait(now) == 0 {
			throttle.Wrote(now)
			writes++
		}
	}
	assert.Less(t, writes, 150, "Chromium allows 200 in 30 seconds")
	assert.Greater(t, writes, 100)
}
