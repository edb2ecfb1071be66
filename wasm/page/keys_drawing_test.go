package page

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/pick"
	"minilb/core/scenario"
)

func ownerAt(arcs []KeyArc, at float64) int {
	for _, a := range arcs {
		if a.From <= at && at < a.To {
			return a.Owner
		}
	}
	return -2
}

func TestTheDrawnRingIsCoresRing(t *testing.T) {
	s := scenario.Default()
	d := Keys(s, "ring_hash", 1, Words{}).Drawing(s)
	require.NotNil(t, d)
	names, counts := make([]string, len(s.Backends)), make([]int, len(s.Backends))
	for i, b := range s.Backends {
		names[i], counts[i] = b.Name, s.RingPoints
	}
	ring := pick.NewRing(names, counts)
	for i := range ringPlaces {
		assert.Equal(t, ring.Owner(d.hash(i)), ownerAt(d.Now, (float64(i)+0.5)/ringPlaces), i)
	}
	assert.Equal(t, 0.0, d.Now[0].From)
	assert.Equal(t, 1.0, d.Now[len(d.Now)-1].To)
	for _, a := range d.After {
		assert.NotEqual(t, 1, a.Owner, "the backend that goes owns nothing afterwards")
	}
}

func TestTheDrawnTableIsMaglevs(t *testing.T) {
	s := scenario.Default()
	for _, size := range []int{101, 65537} {
		s.TableSize = size
		d := Keys(s, "maglev", 0, Words{}).Drawing(s)
		require.NotNil(t, d)
		assert.Equal(t, min(size, tablePlaces), d.Places)
		table := pick.NewMaglev([]string{s.Backends[0].Name, s.Backends[1].Name, s.Backends[2].Name}, []int{1, 1, 1}, size).Table()
		for i := range d.Places {
			entry := int(d.hash(i))
			assert.Equal(t, int(table[entry]), ownerAt(d.Now, (float64(i)+0.5)/float64(d.Places)), entry)
		}
	}
}

func TestAKeyLiesOnThePartOfItsBackend(t *testing.T) {
	s := scenario.Default()
	s.TableSize = 101
	for _, policy := range []string{"ring_hash", "maglev"} {
		v := Keys(s, policy, 2, Words{})
		d, near := v.Drawing(s), 0
		for _, c := range v.Cells {
			at := d.At(c.Hash)
			if ownerAt(d.Now, at) == c.Now && ownerAt(d.After, at) == c.After {
				near++
			}
		}
		assert.GreaterOrEqual(t, near, len(v.Cells)*97/100, "%s: all but those within a place of a border", policy)
	}
	assert.Nil(t, Keys(s, "rendezvous", 0, Words{}).Drawing(s), "has neither ring nor table")
}

func TestTheViewOfKeysIsATableToo(t *testing.T) {
	s := scenario.Default()
	heads, rows := Keys(s, "ring_hash", 0, Words{}).Table(s)
	assert.Equal(t, []string{"", "now", "without fast1"}, heads)
	require.Len(t, rows, len(s.Backends)+shownKeys)
	assert.Equal(t, "a fast1", rows[0][0])
	assert.Equal(t, "0.0%", rows[0][2])
	assert.Equal(t, "key 0", rows[3][0])
	assert.Contains(t, Keys(s, "ring_hash", 0, Words{}).Drawing(s).JSON(), `"kind":"ring"`)
}
