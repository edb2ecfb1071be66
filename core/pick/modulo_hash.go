package pick

import "minilb/core/lb"

// moduloHash is the key's hash modulo the number of backends: an even spread,
// and a removal that moves (n-1)/n of all keys.
type moduloHash struct{ set *lb.Set }

func (p moduloHash) Pick(q lb.Query) int {
	if !q.HasKey {
		return turn(p.set, &q)
	}
	return p.set.UsableFrom(int(q.Hash%uint64(p.set.Len())), &q)
}
