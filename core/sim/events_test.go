package sim

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"minilb/core/lb"
)

func TestTheHeapIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h heap
		var twin []event
		for range rapid.IntRange(1, 200).Draw(t, "operations") {
			if rapid.Bool().Draw(t, "push") {
				at, k := lb.Time(rapid.IntRange(0, 9).Draw(t, "at")), kind(rapid.IntRange(0, 5).Draw(t, "kind"))
				h.push(at, k, 7, 8)
				twin = append(twin, event{at, uint64(k)<<sequenceBits | h.sequence, 7, 8})
				continue
			}
			slices.SortFunc(twin, func(a, b event) int {
				if a.before(&b) {
					return -1
				}
				return 1
			})
			if len(twin) == 0 {
				require.Equal(t, lb.Never, h.next())
				continue
			}
			require.Equal(t, twin[0].at, h.next())
			require.Equal(t, twin[0], h.pop())
			twin = twin[1:]
		}
	})
}

func TestAtTheSameInstantAnswersComeBeforeTimeouts(t *testing.T) {
	var h heap
	for _, k := range []kind{budgetLate, probeLate, served, attemptLate, served} {
		h.push(5, k, 0, 0)
	}
	h.push(4, budgetLate, 0, 0)
	var order []kind
	for h.next() != lb.Never {
		order = append(order, h.pop().kind())
	}
	assert.Equal(t, []kind{budgetLate, served, served, attemptLate, probeLate, budgetLate}, order)
}

func TestARingIsAFIFO(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring
		var twin []int32
		for i := range rapid.IntRange(1, 300).Draw(t, "operations") {
			if len(twin) == 0 || rapid.IntRange(0, 4).Draw(t, "push") > 1 {
				r.push(int32(i))
				twin = append(twin, int32(i))
				continue
			}
			require.Equal(t, twin[0], r.pop())
			twin = twin[1:]
		}
		require.Equal(t, len(twin), r.n)
	})
}

func TestASlabNeverHandsOutATakenPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s slab[int]
		var taken []int32
		for range rapid.IntRange(1, 3*chunkSize).Draw(t, "operations") {
			if len(taken) > 0 && rapid.IntRange(0, 3).Draw(t, "give") == 0 {
				s.give(taken[0])
				taken = taken[1:]
				continue
			}
			i := s.take()
			*s.at(i) = int(i)
			taken = append(taken, i)
		}
		slices.Sort(taken)
		require.Len(t, slices.Compact(slices.Clone(taken)), s.len())
		for _, i := range taken {
			require.Equal(t, int(i), *s.at(i))
		}
	})
}
