package retry

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Give returns room first and serves whoever waits then. A retry that comes in
// between finds the room and must leave it to them.
func TestRoomThatIsOnItsWayToSomebodyIsNotTaken(t *testing.T) {
	b := NewBudget(Config{MinRetryConcurrency: 1})
	woken := 0
	first := &Slot{Wake: func() { woken++ }}
	assert.True(t, b.Take())
	b.Enqueue(first)
	assert.Zero(t, woken)

	b.retries.Add(-1) // the first half of Give
	assert.True(t, b.take() && b.retries.Add(-1) == 0, "there is room")
	assert.False(t, b.Take(), "which somebody waits for")
	b.serve() // the other half
	assert.Equal(t, 1, woken)
	assert.Equal(t, 1, b.Retries())
	assert.True(t, b.Abandon(first), "it was granted")
}
