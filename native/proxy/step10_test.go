package proxy

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// step10 are the settings of the walk-through: fast checks, an ejection of a
// second, one of three backends at most.
func step10(c *Config) {
	c.CheckInterval, c.CheckJitter, c.Rise, c.Fall = 200*time.Millisecond, 0, 2, 3
	c.Consecutive5xx, c.BaseEjection, c.MaxEjectionPercent = 3, time.Second, 34
	c.Retries, c.StickyCookie = 0, "MINILB"
}

// TestFailingBackendIsEjectedThenCheckedOutThenBack is the whole walk-through:
// passive detection takes b3 out after three errors that clients see, checks
// confirm it and keep it out after its ejection has ended, and bring it back.
func TestFailingBackendIsEjectedThenCheckedOutThenBack(t *testing.T) {
	s := newStack(t, step10, 0, 5*time.Millisecond, 0)

	counts := map[string]int{}
	for range 9 {
		name, status := s.served()
		require.Equal(t, 200, status)
		counts[name]++
	}
	assert.Equal(t, map[string]int{"b1": 3, "b2": 3, "b3": 3}, counts)

	s.mode(2, "status=500")
	errors := 0
	for range 12 { // well within the 0.6 s that the checks need
		name, status := s.served()
		if status == 500 {
			assert.Equal(t, "b3", name)
			errors++
		}
	}
	assert.Equal(t, 3, errors, "the streak and no more; the last requests find b3 ejected")

	s.until("b3", "unhealthy")
	require.Eventually(t, func() bool {
		_, status := s.served()
		require.Equal(t, 200, status, "b3 gets nothing, also after its ejection has ended")
		return len(s.happened("b3")) == 3
	}, 10*time.Second, 5*time.Millisecond)
	assert.Equal(t, []string{
		"ejected: 3 consecutive 5xx; ejected for 1s (ejection 1)",
		"down: 3 consecutive failed checks (last: HTTP 500)",
	}, s.happened("b3")[:2])
	assert.Contains(t, s.happened("b3")[2], "returned: ")

	s.mode(2, "status=200")
	s.until("b3", "healthy")
	assert.Equal(t, "up: 2 consecutive passed checks", s.happened("b3")[3])
	names := map[string]bool{}
	for range 3 {
		name, _ := s.served()
		names[name] = true
	}
	assert.True(t, names["b3"], "it gets traffic again")
	require.Eventually(t, func() bool {
		return regexp.MustCompile(`(?m)^\[minilb\] t=\d+\.\d{3} b3 up: 2 consecutive passed checks$`).MatchString(s.log.String())
	}, 5*time.Second, time.Millisecond, "events are printed as lines")
}

func TestCheckThatLiesLeavesTheBackendToEjection(t *testing.T) {
	s := newStack(t, step10, 0, 0)
	s.mode(1, "status=500&health=200")
	require.Eventually(t, func() bool {
		s.served()
		return s.status().Refused > 0
	}, 10*time.Second, time.Millisecond, "34%% of two is none: the cap refuses")
	assert.Equal(t, "healthy", s.until("b2", "healthy").State)
	assert.Contains(t, s.happened("b2")[0], "not ejected: ")
}

func TestDownBackendComesBackWithoutTrafficToIt(t *testing.T) {
	s := newStack(t, step10, 0, 0)
	s.mode(0, "health=503")
	b := s.until("b1", "unhealthy")
	assert.Equal(t, "down: 3 consecutive failed checks (last: HTTP 503)", b.Reason)
	assert.Equal(t, "503", b.LastProbe.Result)
	assert.False(t, b.LastProbe.Passed)
	for range 4 {
		name, _ := s.served()
		assert.Equal(t, "b2", name)
	}
	s.mode(0, "status=200")
	s.until("b1", "healthy")
}
