package pick

import (
	"encoding/binary"
	"math/bits"
)

// The primes of xxHash64.
const (
	prime1 = 11400714785074694791
	prime2 = 14029467366897019727
	prime3 = 1609587929392839161
	prime4 = 9650029242287828579
	prime5 = 2870177450012600261
)

// Hash returns the xxHash64 of a key with seed 0, the hash of every hashing
// policy (and of Envoy's ring and Maglev balancers).
func Hash(key string) uint64 { return HashSeed(key, 0) }

// HashSeed returns the xxHash64 of a key with a seed, after the algorithm's
// description (doc/xxhash_spec.md of the xxHash project).
func HashSeed[K string | []byte](key K, seed uint64) uint64 {
	n := len(key)
	var h uint64
	at := 0
	if n >= 32 {
		a, b, c, d := seed+prime1, seed, seed, seed
		a += prime2
		b += prime2
		d -= prime1
		for ; at+32 <= n; at += 32 {
			a = round(a, word64(key, at))
			b = round(b, word64(key, at+8))
			c = round(c, word64(key, at+16))
			d = round(d, word64(key, at+24))
		}
		h = bits.RotateLeft64(a, 1) + bits.RotateLeft64(b, 7) + bits.RotateLeft64(c, 12) + bits.RotateLeft64(d, 18)
		h = merge(merge(merge(merge(h, a), b), c), d)
	} else {
		h = seed + prime5
	}
	return finish(h+uint64(n), key, at)
}

// finish takes the last 0 to 31 bytes in and mixes.
func finish[K string | []byte](h uint64, key K, at int) uint64 {
	for ; at+8 <= len(key); at += 8 {
		h ^= round(0, word64(key, at))
		h = bits.RotateLeft64(h, 27)*prime1 + prime4
	}
	if at+4 <= len(key) {
		h ^= uint64(word32(key, at)) * prime1
		h = bits.RotateLeft64(h, 23)*prime2 + prime3
		at += 4
	}
	for ; at < len(key); at++ {
		h ^= uint64(key[at]) * prime5
		h = bits.RotateLeft64(h, 11) * prime1
	}
	h ^= h >> 33
	h *= prime2
	h ^= h >> 29
	h *= prime3
	return h ^ h>>32
}

func round(acc, input uint64) uint64 {
	return bits.RotateLeft64(acc+input*prime2, 31) * prime1
}

func merge(h, acc uint64) uint64 {
	return (h^round(0, acc))*prime1 + prime4
}

// word64 reads eight bytes, little-endian. The compiler makes one load of it.
func word64[K string | []byte](k K, at int) uint64 {
	b := k[at : at+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

func word32[K string | []byte](k K, at int) uint32 {
	b := k[at : at+4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// HashNumber returns the hash of a number's eight little-endian bytes, for
// simulated keys.
func HashNumber(n uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	return HashSeed(b[:], 0)
}
