package lb_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"minilb/core/lb"
)

// The twin of a line is a slice.
func TestALineKeepsItsOrderWhoeverLeaves(t *testing.T) {
	type person struct {
		spot lb.Spot[person]
		name int
	}
	rapid.Check(t, func(t *rapid.T) {
		var line lb.Line[person]
		var twin []*person
		people := make([]person, 5)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			i := rapid.IntRange(0, len(people)-1).Draw(t, "who")
			p := &people[i]
			p.name = i
			if !p.spot.Waits() {
				line.Join(&p.spot, p)
				twin = append(twin, p)
			} else {
				line.Leave(&p.spot)
				twin = without(twin, p)
			}
			var all []*person
			for p := line.First(); p != nil; p = p.spot.After() {
				assert.True(t, p.spot.Waits())
				all = append(all, p)
			}
			assert.Equal(t, twin, all)
		}
	})
}

func without[T comparable](all []T, one T) (rest []T) {
	for _, x := range all {
		if x != one {
			rest = append(rest, x)
		}
	}
	return rest
}
