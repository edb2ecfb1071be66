package pick_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"minilb/core/pick"
)

// From Envoy's maglev_lb_test.cc.
func TestMaglevHasEnvoysTables(t *testing.T) {
	cases := []struct {
		names   []string
		weights []int
		size    int
		want    []uint16
	}{
		{envoyNames(), ones(6), 7, []uint16{2, 4, 0, 1, 5, 0, 3}},
		{[]string{"90", "91", "92", "93", "94", "95"}, ones(6), 7, []uint16{2, 5, 0, 3, 4, 1, 0}},
		{envoyNames()[:2], []int{1, 2}, 17, []uint16{1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 1}},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, pick.NewMaglev(c.names, c.weights, c.size).Table())
	}
}

func TestMaglevEntriesAreEvenToWithinOnePerUnitOfWeight(t *testing.T) {
	for _, weights := range [][]int{ones(3), ones(5), ones(100), {5, 1, 1}, {1, 2, 3, 4}, {1000, 1}} {
		for _, size := range []int{1009, 65537} {
			sum := 0
			for _, w := range weights {
				sum += w
			}
			counts := make([]int, len(weights))
			for _, owner := range pick.NewMaglev(names(len(weights)), weights, size).Table() {
				counts[owner]++
			}
			for i, w := range weights {
				assert.InDelta(t, float64(size)*float64(w)/float64(sum), counts[i], float64(w), "%v in %d", weights, size)
			}
		}
	}
}

func TestMaglevOwnerIsTheTablesEntry(t *testing.T) {
	m := pick.NewMaglev(names(5), ones(5), 1009)
	for i := range uint64(3000) {
		assert.Equal(t, int(m.Table()[i%1009]), m.Owner(i))
	}
}

func TestMaglevDoesNotDependOnTheOrderOfTheList(t *testing.T) {
	forward := names(9)
	backward := slices.Clone(forward)
	slices.Reverse(backward)
	a, b := pick.NewMaglev(forward, ones(9), 1009), pick.NewMaglev(backward, ones(9), 1009)
	for i := range uint64(1009) {
		assert.Equal(t, forward[a.Owner(i)], backward[b.Owner(i)])
	}
}

// needless is the share of the surviving backends' entries that changed hands
// when one of n backends left.
func needless(set, n int) float64 {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("set%d-backend%d", set, i)
	}
	gone := set % n
	left := slices.Delete(slices.Clone(all), gone, gone+1)
	before, after := pick.NewMaglev(all, ones(n), 65537).Table(), pick.NewMaglev(left, ones(n-1), 65537).Table()
	stayed, moved := 0, 0
	for at, owner := range before {
		if int(owner) == gone {
			continue
		}
		stayed++
		if all[owner] != left[after[at]] {
			moved++
		}
	}
	return float64(moved) / float64(stayed)
}

// In percent, the mean over 40 name sets must lie where single sets have been
// seen; Envoy's tables have these values because they are the same tables.
func TestMaglevMovesFewKeysNeedlessly(t *testing.T) {
	for _, c := range []struct {
		n              int
		mean, low, top float64
	}{{3, .04, .01, .19}, {5, .12, .05, .37}, {10, .27, .18, .52}, {100, .55, .50, .59}} {
		sum := 0.0
		for set := range 40 {
			sum += 100 * needless(set, c.n)
		}
		mean := sum / 40
		t.Logf("%d backends: %.3f%%, expected about %.2f%%", c.n, mean, c.mean)
		assert.LessOrEqual(t, c.low, mean, "%d backends", c.n)
		assert.LessOrEqual(t, mean, c.top, "%d backends", c.n)
	}
}

func TestMaglevRetryWalksToTheNextEntryOfAnotherBackend(t *testing.T) {
	r := newRig(t, "maglev", defaults(), ones(5)...)
	table := pick.NewMaglev(names(5), ones(5), 65537).Table()
	for i := range 500 {
		q := chance(i)
		home := r.Pick(q)
		at := int(q.Hash % 65537)
		assert.Equal(t, int(table[at]), home)
		for int(table[at]) == home {
			at = (at + 1) % 65537
		}
		q.Tried = tried(home)
		assert.Equal(t, int(table[at]), r.Pick(q))
	}
}

func TestMaglevTableSizeMustBePrime(t *testing.T) {
	for size, accepted := range map[int]string{65536: "65537", 4: "5", 1: "2", 0: "2", 65535: "65537", 9: "11"} {
		c := defaults()
		c.TableSize = size
		maglev, _ := pick.Find("maglev")
		_, err := maglev.Pickers(c)
		assert.EqualError(t, err, fmt.Sprintf("table-size=%d: not a prime; accepted: a prime such as %s", size, accepted))
	}
	for _, size := range []int{2, 3, 7, 65537, 5_000_011} {
		c := defaults()
		c.TableSize = size
		assert.NoError(t, c.Check(), size)
	}
	assert.PanicsWithValue(t, "pick: maglev table size is not a prime", func() { pick.NewMaglev(names(2), ones(2), 100) })
}

func TestMaglevWithMoreBackendsThanEntriesStillFills(t *testing.T) {
	for _, owner := range pick.NewMaglev(names(20), ones(20), 7).Table() {
		assert.Less(t, int(owner), 20)
	}
	assert.Len(t, pick.NewMaglev(names(2), ones(2), 2).Table(), 2)
}
