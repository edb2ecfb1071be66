package page

import (
	"slices"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/scenario"
	"minilb/core/sim"
)

// A KeyView is where a hashing policy puts keys, now and after one backend has gone: the ring or the table as a person
// meets it. Nil means that the policy does not look at keys.
type KeyView struct {
	Policy  string
	Removed int // the backend that goes
	Cells   []KeyCell
	Note    string // how many of many keys move, and how many would have to
	words   Words
	shares  [2][]float64 // of many keys, by backend: now, and after
}

// A KeyCell is one key. Its owners are places in the scenario; -1 is nobody.
type KeyCell struct {
	Key        string
	Now, After int
	Hash       uint64
}

// Moves says whether the key changes its backend when the other one goes.
func (c KeyCell) Moves() bool { return c.Now != c.After }

const (
	shownKeys  = 96
	judgedKeys = 4096 // of which the share that moves is counted
)

// Keys asks the policy, over all backends and over all but the removed one, where the simulation's first keys belong.
func Keys(s scenario.Scenario, policy string, removed int, w Words) *KeyView {
	p, ok := pick.Find(policy)
	if !ok || !p.Hashes || len(s.Backends) == 0 {
		return nil
	}
	removed = min(max(removed, 0), len(s.Backends)-1)
	now, then := newKeeper(s, p, -1), newKeeper(s, p, removed)
	if now == nil || then == nil {
		return nil
	}
	v := &KeyView{Policy: policy, Removed: removed, words: w}
	v.shares = [2][]float64{make([]float64, len(s.Backends)), make([]float64, len(s.Backends))}
	moved, homeless := 0, 0
	for k := range judgedKeys {
		hash := hashOf(k)
		c := KeyCell{"", now.owner(hash), then.owner(hash), hash}
		if k < shownKeys {
			c.Key = w.Say("key {n}", counted("n", k))
			v.Cells = append(v.Cells, c)
		}
		v.count(c)
		if c.Moves() {
			moved++
		}
		if c.Now == removed {
			homeless++
		}
	}
	v.Note = w.Say("Without {backend} {moved} of {n} keys move; {own} were its own and must.", named("backend", s.Backends[removed].Name),
		w.figured("moved", Percent(float64(moved)/judgedKeys)), counted("n", judgedKeys), w.figured("own", Percent(float64(homeless)/judgedKeys)))
	return v
}

// count adds a key to its owners' shares.
func (v *KeyView) count(c KeyCell) {
	for i, owner := range []int{c.Now, c.After} {
		if owner >= 0 {
			v.shares[i][owner] += 1.0 / judgedKeys
		}
	}
}

// OfText is where a key that a person typed belongs, and why.
func (v *KeyView) OfText(s scenario.Scenario, key string) (KeyCell, []string) {
	p, _ := pick.Find(v.Policy)
	hash := pick.Hash(key)
	now := newKeeper(s, p, -1)
	c := KeyCell{key, now.owner(hash), newKeeper(s, p, v.Removed).owner(hash), hash}
	q := keyed(hash)
	return c, pick.Explain(now.picker, q, now.picker.Pick(q))
}

// Sentence says in words what becomes of a key.
func (v *KeyView) Sentence(s scenario.Scenario, c KeyCell) string {
	name := func(i int) string {
		if i < 0 {
			return v.words.T("nobody")
		}
		return MarkOf(i).Before(s.Backends[i].Name)
	}
	parts := []sim.Part{named("key", c.Key), named("backend", name(c.Now)), named("gone", s.Backends[v.Removed].Name), named("after", name(c.After))}
	switch {
	case !c.Moves():
		return v.words.Say("{key} goes to {backend}, and stays there without {gone}.", parts...)
	case c.Now == v.Removed:
		return v.words.Say("{key} goes to {backend}; without {gone} to {after}, because its backend is gone.", parts...)
	}
	return v.words.Say("{key} goes to {backend}; without {gone} to {after}, needlessly.", parts...)
}

// A keeper is a policy's picker and which places in the scenario its positions are.
type keeper struct {
	picker lb.Picker
	places []int
}

// newKeeper leaves one backend out; -1 leaves out none.
func newKeeper(s scenario.Scenario, p pick.Policy, without int) *keeper {
	config := s.PickConfig
	config.HashBalanceFactor = 0 // where keys belong, not where they overflow to
	pickers, err := p.Pickers(config)
	if err != nil {
		return nil
	}
	k := &keeper{}
	var backends []lb.Backend
	for i, b := range s.Backends {
		if i != without {
			backends, k.places = append(backends, b.LB()), append(k.places, i)
		}
	}
	k.picker = pickers(lb.NewSet(slices.Clip(backends), new(lb.Loads)))
	return k
}

func (k *keeper) owner(hash uint64) int {
	if at := k.picker.Pick(keyed(hash)); at >= 0 {
		return k.places[at]
	}
	return -1
}
