package pick_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"minilb/core/lb"
	"minilb/core/pick"
)

// The xxHash project's own check values: prefixes of a generated buffer, with
// seed 0 and with seed 2654435761.
func TestHashSeedMatchesTheProjectsCheckValues(t *testing.T) {
	const prime32 = 2654435761
	buffer := make([]byte, 101)
	generator := uint32(prime32)
	for i := range buffer {
		buffer[i] = byte(generator >> 24)
		generator *= generator
	}
	cases := []struct {
		n                    int
		withZero, withPrimes uint64
	}{
		{0, 0xef46db3751d8e999, 0xac75fda2929b17ef},
		{1, 0x4fce394cc88952d8, 0x739840cb819fa723},
		{14, 0xcffa8db881bc3a3d, 0x5b9611585efcc9cb},
		{101, 0x0eab543384f878ad, 0xcaa65939306f1e21},
	}
	for _, c := range cases {
		assert.Equal(t, c.withZero, pick.HashSeed(buffer[:c.n], 0), "%d bytes", c.n)
		assert.Equal(t, c.withPrimes, pick.HashSeed(buffer[:c.n], prime32), "%d bytes", c.n)
	}
}

func TestHashSeedAgreesWithAnotherImplementation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "key")
		seed := rapid.Uint64().Draw(t, "seed")
		other := xxhash.NewWithSeed(seed)
		_, _ = other.Write(key)
		assert.Equal(t, other.Sum64(), pick.HashSeed(key, seed))
		assert.Equal(t, xxhash.Sum64(key), pick.HashSeed(key, 0))
		assert.Equal(t, xxhash.Sum64(key), pick.Hash(string(key)), "texts and bytes hash alike")
	})
}

func TestHashNumberIsTheHashOfItsEightBytes(t *testing.T) {
	assert.Equal(t, pick.HashSeed([]byte{0x15, 0xcd, 0x5b, 0x07, 0, 0, 0, 0}, 0), pick.HashNumber(123456789))
}

// 5 to 4 backends: a key stays with probability 1/5, for its hash has to leave
// the same rest by both.
func TestModuloHashMovesMostKeysAtARemoval(t *testing.T) {
	for _, n := range []int{3, 5, 10} {
		before, after := newRig(t, "modulo_hash", defaults(), ones(n)...), newRig(t, "modulo_hash", defaults(), ones(n-1)...)
		moved := 0
		for i := range 100_000 {
			if q := chance(i); before.Pick(q) != after.Pick(q) {
				moved++
			}
		}
		assert.InDelta(t, float64(n-1)/float64(n), float64(moved)/100_000, 0.005, "%d backends", n)
	}
}

func TestModuloHashWalksOnWhenItsBackendIsNotUsable(t *testing.T) {
	r := newRig(t, "modulo_hash", defaults(), 1, 1, 1)
	assert.Equal(t, 2, r.Pick(lb.Query{Hash: 5, HasKey: true}))
	assert.Equal(t, 0, r.Pick(lb.Query{Hash: 5, HasKey: true, Tried: tried(2)}))
}

func TestAnEmptyKeyFallsBackToTurns(t *testing.T) {
	hashing := 0
	for _, p := range pick.All {
		if p.Hashes {
			hashing++
			assert.Equal(t, "abcabc", newRig(t, p.Name, defaults(), 1, 1, 1).letters(6), p.Name)
		}
	}
	assert.Equal(t, 4, hashing)
}

// remap is what minilb remap measures: c of five backends leaves.
func remap(t *testing.T, policy string) (moved, needless, held float64) {
	five := backends(1, 1, 1, 1, 1)
	four := append(append([]lb.Backend{}, five[:2]...), five[3:]...)
	before := newLimitedRig(t, policy, defaults(), lb.Config{}, five)
	after := newLimitedRig(t, policy, defaults(), lb.Config{}, four)
	const keys = 20_000
	for i := range keys {
		q := keyed(fmt.Sprintf("user-%d", i))
		from, to := before.set.Backend(before.Pick(q)).Name, after.set.Backend(after.Pick(q)).Name
		switch {
		case from == "b2":
			held += 1.0 / keys
			moved += 1.0 / keys
		case from != to:
			needless += 1.0 / keys
			moved += 1.0 / keys
		}
	}
	return moved, needless, held
}

func TestWhatARemovalMoves(t *testing.T) {
	moved, needless, _ := remap(t, "modulo_hash")
	assert.InDelta(t, 0.8, moved, 0.01)
	assert.InDelta(t, 0.6, needless, 0.01)

	moved, needless, held := remap(t, "ring_hash")
	assert.InDelta(t, 0.2, held, 0.03)
	assert.Equal(t, held, moved)
	assert.Zero(t, needless)

	moved, needless, _ = remap(t, "maglev")
	assert.InDelta(t, 0.2, moved, 0.01)
	assert.Less(t, needless, 0.005)

	moved, needless, held = remap(t, "rendezvous")
	assert.InDelta(t, 0.2, moved, 0.01)
	assert.Equal(t, held, moved)
	assert.Zero(t, needless)
}

func TestRendezvousSharesAreExactlyTheWeights(t *testing.T) {
	for _, weights := range [][]int{{1, 1, 1, 1}, {5, 1, 1}, {1, 10, 100}} {
		counts := newRig(t, "rendezvous", defaults(), weights...).tally(300_000)
		assert.True(t, fits(counts, weights), "%v: %v", weights, counts)
	}
}

// Whoever is removed, whatever the weights: a key that it did not have stays.
func TestRendezvousNeverMovesAKeyNeedlessly(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		all := backends(1+random.IntN(9), 1+random.IntN(9), 1+random.IntN(9), 1+random.IntN(9))
		gone := random.IntN(4)
		before := newLimitedRig(t, "rendezvous", defaults(), lb.Config{}, all)
		after := newLimitedRig(t, "rendezvous", defaults(), lb.Config{}, append(append([]lb.Backend{}, all[:gone]...), all[gone+1:]...))
		for i := range 2000 {
			q := chance(i)
			if from := before.Pick(q); from != gone {
				assert.Equal(t, all[from], after.set.Backend(after.Pick(q)))
			}
		}
	}
}
