package page

import (
	"encoding/json"
	"math"

	"minilb/core/lb"
	"minilb/core/pick"
	"minilb/core/scenario"
)

// A KeyDrawing is a ring or a table as it is drawn: who owns which part of it now, and without the backend that goes.
// It is asked of core's own pickers, place by place, so that it cannot show anything else than what they do.
type KeyDrawing struct {
	Kind    string     `json:"kind"` // ring or table
	Now     []KeyArc   `json:"now"`
	After   []KeyArc   `json:"after"`
	Places  int        `json:"places"` // that were asked for
	Size    int        `json:"size"`   // entries of the table; 0 for a ring
	Gone    string     `json:"gone"`   // the backend that goes
	Backend []KeyOwner `json:"backends"`
}

// A KeyArc is a run of places with one owner, from and to as shares of the whole.
type KeyArc struct {
	Owner    int
	From, To float64
}

// MarshalJSON writes an arc short: there are hundreds.
func (a KeyArc) MarshalJSON() ([]byte, error) { return json.Marshal([]any{a.Owner, a.From, a.To}) }

// A KeyOwner is a backend and how it looks.
type KeyOwner struct {
	Letter  string `json:"letter"`
	Name    string `json:"name"`
	Place   int    `json:"place"`
	Hatched bool   `json:"hatched"`
}

// A ring is asked at ringPlaces angles: at the size of the drawing that is a tenth of a pixel. Of a table more than
// tablePlaces wide every n-th entry is shown.
const (
	ringPlaces  = 8640
	tablePlaces = 360
)

// Drawing is nil for a policy that has neither ring nor table.
func (v *KeyView) Drawing(s scenario.Scenario) *KeyDrawing {
	d := &KeyDrawing{Kind: "ring", Places: ringPlaces, Gone: s.Backends[v.Removed].Name}
	switch v.Policy {
	case "ring_hash":
	case "maglev":
		d.Kind, d.Size = "table", s.TableSize
		d.Places = min(d.Size, tablePlaces)
	default:
		return nil
	}
	p, _ := pick.Find(v.Policy)
	d.Now, d.After = d.arcs(newKeeper(s, p, -1)), d.arcs(newKeeper(s, p, v.Removed))
	for i, b := range s.Backends {
		k := MarkOf(i)
		d.Backend = append(d.Backend, KeyOwner{k.Letter, k.Before(b.Name), k.Place, k.Hatched})
	}
	return d
}

// arcs joins neighbours with one owner.
func (d *KeyDrawing) arcs(k *keeper) []KeyArc {
	list := []KeyArc{}
	for i := range d.Places {
		from, to := float64(i)/float64(d.Places), float64(i+1)/float64(d.Places)
		owner := k.owner(d.hash(i))
		if last := len(list) - 1; last >= 0 && list[last].Owner == owner {
			list[last].To = to
			continue
		}
		list = append(list, KeyArc{owner, from, to})
	}
	return list
}

// hash is one that falls on a place: the middle of a piece of the ring, or an entry of the table.
func (d *KeyDrawing) hash(place int) uint64 {
	if d.Size > 0 {
		return uint64(place) * uint64(d.Size) / uint64(d.Places)
	}
	return uint64((float64(place) + 0.5) / float64(d.Places) * math.MaxUint64)
}

// At is where on the drawing a key lies, as a share of the whole.
func (d *KeyDrawing) At(hash uint64) float64 {
	if d.Size > 0 {
		return (float64(hash%uint64(d.Size)) + 0.5) / float64(d.Size)
	}
	return float64(hash) / math.MaxUint64
}

// JSON is the drawing for the script that draws it.
func (d *KeyDrawing) JSON() string {
	text, err := json.Marshal(d)
	if err != nil {
		panic("page: " + err.Error()) // names and numbers
	}
	return string(text)
}

// Table is the view in words: each backend's share of the keys now and after, and then key by key.
func (v *KeyView) Table(s scenario.Scenario) (heads []string, rows [][]string) {
	w := v.words
	name := func(i int) string {
		if i < 0 {
			return w.T("nobody")
		}
		return MarkOf(i).Before(s.Backends[i].Name)
	}
	heads = []string{"", w.T("now"), w.Say("without {backend}", named("backend", s.Backends[v.Removed].Name))}
	for i := range s.Backends {
		rows = append(rows, []string{name(i), w.Figure(Percent(v.shares[0][i])), w.Figure(Percent(v.shares[1][i]))})
	}
	for _, c := range v.Cells {
		rows = append(rows, []string{c.Key, name(c.Now), name(c.After)})
	}
	return heads, rows
}

// hashOf is what the policies make of one of the simulation's keys, and of a text.
func hashOf(k int) uint64 { return pick.HashNumber(uint64(k)) }

// A keeper's query is for a key alone.
func keyed(hash uint64) lb.Query { return lb.Query{Hash: hash, HasKey: true} }
