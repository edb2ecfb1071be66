package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"minilb/core/param"
)

// column is the defaults that links leave out.
const column = param.Scenario

// The limits of what a link holds. Together they keep the link of whatever
// Decode accepts short enough for Decode.
const (
	maxList      = 64   // elements of a list, backends among them
	maxValue     = 1024 // characters of one value
	maxUnknown   = 2048 // characters of all the pairs that this build does not know
	digestLength = 8    // hexadecimal digits of r=
)

// decodePairs reads key=value;key=value… on top of the defaults.
func decodePairs(text string) (Scenario, Stamp, error) {
	s := Default()
	stamp := Stamp{}
	var faults Faults
	pairs := splitPairs(text, &faults)
	set := s.Params()
	for _, p := range set.All() {
		faults.setAll(p, pairs.take(p.Name))
	}
	faults.readStamp(pairs, &stamp)
	s.Unknown = faults.readUnknown(pairs)
	faults.add(s.checkLists())
	return s, stamp, faults.err()
}

// pairList is the pairs of a link: each key's values in their order, and the
// keys in the order of their first appearance.
type pairList struct {
	all    []Pair
	values map[string][]string
}

func splitPairs(text string, faults *Faults) *pairList {
	l := &pairList{values: map[string][]string{}}
	for _, pair := range strings.Split(text, ";") {
		key, value, found := strings.Cut(pair, "=")
		switch {
		case pair == "": // a ';' too many
		case !found || key == "":
			*faults = append(*faults, fmt.Errorf("%.60q is not a pair; accepted: key=value", pair))
		case len(value) > maxValue:
			faults.tooLong(key, value, len(value))
		default:
			l.all = append(l.all, Pair{key, value})
			l.values[key] = append(l.values[key], value)
		}
	}
	return l
}

// take returns the values of a key and leaves only what nobody has taken.
func (l *pairList) take(key string) []string {
	values := l.values[key]
	delete(l.values, key)
	return values
}

// setAll sets a parameter to the values that its key has in the link.
func (f *Faults) setAll(p *param.Param, values []string) {
	switch {
	case len(values) == 0:
	case p.List:
		f.setList(p, values)
	case len(values) > 1:
		f.say(p.Name, strings.Join(values, ","), "given more than once", "one value")
	default:
		f.set(p, values[0])
	}
}

func (f *Faults) setList(p *param.Param, values []string) {
	if p.Choices != nil {
		values = strings.Split(strings.Join(values, ","), ",")
	}
	if len(values) == 1 && (values[0] == nothing || values[0] == "" && p.Choices != nil) {
		f.add(p.SetTexts(nil))
		return
	}
	if len(values) > maxList {
		f.say(p.Name, values[maxList], fmt.Sprintf("one of %d values", len(values)), fmt.Sprintf("at most %d in a link", maxList))
		return
	}
	for _, value := range values {
		f.set(p, value)
	}
}

// set adds one value to a list, or sets what is not a list.
func (f *Faults) set(p *param.Param, value string) {
	switch {
	case freeText(p):
		f.setText(p, value)
	case p.List && value == "": // Set would take it for an empty list
		f.say(p.Name, value, "an empty element", p.Help)
	default:
		f.add(p.Set(value))
	}
}

// setText sets a text that a link escapes. What a person typed unescaped may
// be too long only once it is escaped.
func (f *Faults) setText(p *param.Param, value string) {
	text, ok := unescape(value)
	switch n := len(escape(text)); {
	case !ok:
		f.say(p.Name, value, "'_' without two hexadecimal digits after it", "_5F for '_' itself, _2F for '/' and so on")
	case n > maxValue:
		f.tooLong(p.Name, value, n)
	default:
		f.add(p.Set(text))
	}
}

func (f *Faults) tooLong(key, value string, n int) {
	f.say(key, value, fmt.Sprintf("%d characters long in a link", n), fmt.Sprintf("at most %d", maxValue))
}

// readStamp reads e= and r=.
func (f *Faults) readStamp(pairs *pairList, stamp *Stamp) {
	for i, e := range pairs.take("e") {
		n, err := strconv.ParseUint(e, 10, 31)
		if err != nil || n < 1 || i > 0 {
			f.say("e", e, "not an engine version", "one whole number from 1 on")
			continue
		}
		stamp.Engine = int(n)
	}
	for i, r := range pairs.take("r") {
		if len(r) != digestLength || !hexadecimal(r) || i > 0 {
			f.say("r", r, "not a digest", fmt.Sprintf("one of %d hexadecimal digits", digestLength))
			continue
		}
		stamp.Digest = strings.ToLower(r)
	}
}

// readUnknown returns the pairs that nobody took, in their order. They come
// from a later build, whose links keep to the same characters.
func (f *Faults) readUnknown(pairs *pairList) []Pair {
	var unknown []Pair
	size := 0
	for _, p := range pairs.all {
		if pairs.values[p.Key] == nil {
			continue
		}
		size += len(p.Key) + len(p.Value) + len("=;")
		switch {
		case !goodKey(p.Key):
			f.say(p.Key, p.Value, "not a key", "lower-case letters, digits and dashes")
		case !goodChars(p.Value):
			f.say(p.Key, p.Value, "an unknown key with characters that no link has", "letters, digits and "+inValue)
		case !goodEnd(p.Value):
			f.say(p.Key, p.Value, "an unknown key whose value seems to be cut short", "one that ends in a letter or digit")
		default:
			unknown = append(unknown, p)
		}
	}
	if size > maxUnknown {
		*f = append(*f, fmt.Errorf("%d characters of unknown keys, %.40q the first; accepted: at most %d", size, unknownKey(pairs), maxUnknown))
		return nil
	}
	return unknown
}

// unknownKey is the first key that nobody took.
func unknownKey(pairs *pairList) string {
	i := slices.IndexFunc(pairs.all, func(p Pair) bool { return pairs.values[p.Key] != nil })
	return pairs.all[i].Key
}

func goodKey(key string) bool {
	return strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && goodEnd(key)
}
