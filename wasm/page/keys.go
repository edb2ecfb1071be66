package page

import (
	"fmt"
	"slices"
	"strconv"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/scenario"
)

// A KeyView is where a hashing policy puts keys, now and after one backend has gone: the ring or the table as a person
// meets it. Nil means that the policy does not look at keys.
type KeyView struct {
	Policy  string
	Removed int // the backend that goes
	Cells   []KeyCell
	Note    string // how many of many keys move, and how many would have to
}

// A KeyCell is one key. Its owners are places in the scenario; -1 is nobody.
type KeyCell struct {
	Key        string
	Now, After int
}

// Moves says whether the key changes its backend when the other one goes.
func (c KeyCell) Moves() bool { return c.Now != c.After }

const (
	shownKeys  = 96
	judgedKeys = 4096 // of which the share that moves is counted
)

// Keys asks the policy, over all backends and over all but the removed one, where the simulation's first keys belong.
func Keys(s scenario.Scenario, policy string, removed int) *KeyView {
	p, ok := pick.Find(policy)
	if !ok || !p.Hashes || len(s.Backends) == 0 {
		return nil
	}
	removed = min(max(removed, 0), len(s.Backends)-1)
	now, then := newKeeper(s, p, -1), newKeeper(s, p, removed)
	if now == nil || then == nil {
		return nil
	}
	v := &KeyView{Policy: policy, Removed: removed}
	moved, homeless := 0, 0
	for k := range judgedKeys {
		hash := pick.HashNumber(uint64(k))
		c := KeyCell{"key " + strconv.Itoa(k), now.owner(hash), then.owner(hash)}
		if k < shownKeys {
			v.Cells = append(v.Cells, c)
		}
		if c.Moves() {
			moved++
		}
		if c.Now == removed {
			homeless++
		}
	}
	v.Note = fmt.Sprintf("Without %s %s of %d keys move; %s were its own and must.", s.Backends[removed].Name,
		Percent(float64(moved)/judgedKeys), judgedKeys, Percent(float64(homeless)/judgedKeys))
	return v
}

// OfText is where a key that a person typed belongs, and why.
func (v *KeyView) OfText(s scenario.Scenario, key string) (KeyCell, []string) {
	p, _ := pick.Find(v.Policy)
	hash := pick.Hash(key)
	now := newKeeper(s, p, -1)
	c := KeyCell{key, now.owner(hash), newKeeper(s, p, v.Removed).owner(hash)}
	q := lb.Query{Hash: hash, HasKey: true}
	return c, pick.Explain(now.picker, q, now.picker.Pick(q))
}

// Sentence says in words what becomes of a key.
func (v *KeyView) Sentence(s scenario.Scenario, c KeyCell) string {
	name := func(i int) string {
		if i < 0 {
			return "nobody"
		}
		return MarkOf(i).Before(s.Backends[i].Name)
	}
	if !c.Moves() {
		return fmt.Sprintf("%s goes to %s, and stays there without %s.", c.Key, name(c.Now), s.Backends[v.Removed].Name)
	}
	why := "needlessly"
	if c.Now == v.Removed {
		why = "because its backend is gone"
	}
	return fmt.Sprintf("%s goes to %s; without %s to %s, %s.", c.Key, name(c.Now), s.Backends[v.Removed].Name, name(c.After), why)
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
	if at := k.picker.Pick(lb.Query{Hash: hash, HasKey: true}); at >= 0 {
		return k.places[at]
	}
	return -1
}
