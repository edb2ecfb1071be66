package lb

import (
	"fmt"
)

// A Backend is one server that can take a request, as its owner describes it.
type Backend struct {
	Name    string // 1 to 32 letters, digits, '-' or '_'
	Address string // what the shell dials; core never looks at it
	Weight  int    // share of the traffic relative to the others, 1 to MaxWeight
}

// ValidName says whether a name may stand in a link, a cookie and a metric: 1
// to 32 letters, digits, '-' or '_', starting and ending with a letter or digit.
func ValidName(name string) bool {
	if len(name) < 1 || len(name) > 32 {
		return false
	}
	for i := range len(name) {
		inner := 0 < i && i < len(name)-1
		if !alphanumeric(name[i]) && !(inner && (name[i] == '-' || name[i] == '_')) {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// Check reports what is wrong with the description of a backend.
func (b Backend) Check() error {
	switch {
	case b.Name == "":
		return fmt.Errorf("backend without a name; accepted: 1 to 32 letters, digits, - or _")
	case !ValidName(b.Name):
		return fmt.Errorf("backend name %.40q; accepted: 1 to 32 letters, digits, - or _, starting and ending with a letter or digit", b.Name)
	case !(1 <= b.Weight && b.Weight <= MaxWeight):
		return fmt.Errorf("backend %s: weight %d outside 1 to %d", b.Name, b.Weight, MaxWeight)
	}
	return nil
}

// Hold is a reason to keep new requests from a backend. The reasons are
// separate bits, combined with AND: a backend is eligible when none is set.
type Hold uint8

// The holds.
const (
	Down     Hold = 1 << iota // active checks say so
	Ejected                   // its real responses say so
	Draining                  // its owner says so
)

// A place is a member and its description at the moment of a snapshot: what a
// lease leads to.
type place struct {
	*member
	Backend
	slot int
}

// member is a backend in a pool: its description, its place in the dense
// arrays, and what has happened to it.
type member struct {
	Backend
	slot     int
	hold     Hold
	joined   Time   // when it was added
	since    Time   // when its state last changed
	reason   string // why
	warmFrom Time   // start of its slow start; Never: not warming
	deadline Time   // of its drain
	until    Time   // of its ejection
	removed  bool   // no longer in the pool, still held by leases

	ejections int // since it was added

	attempts Uint64
	failures Uint64
}

func (m *member) eligible() bool { return m.hold == 0 }
