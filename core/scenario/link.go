package scenario

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Engine is raised by every commit that changes what a scenario's results are,
// so that a reader of an old link learns why the figures differ.
const Engine = 1

// The limits of a link. What comes in is bounded before it is looked at.
const (
	packedAbove = 1200     // characters; longer links are deflated
	maxLink     = 2000     // characters that chat programs reliably keep
	maxText     = 16 << 10 // bytes that Decode looks at
	maxInflated = 64 << 10 // bytes that a deflated link may become
	packed      = "v1z."   // begins the text of a deflated link
	packedEnd   = ".0"     // ends it in a digit, as links must
	version     = "v1"     // begins every other
	known       = "v1 (v1;key=value;…, or v1z.… when deflated)"
)

// A Stamp says which engine gave which result, for a reader to compare with
// what this build gives.
type Stamp struct {
	Engine int    // 0: the link does not say
	Digest string // the first 8 hexadecimal digits of the digest of results; "": the link does not say
}

// Encode writes the link of a scenario: #v1 and what differs from v1's
// defaults, in schema order, so that a scenario has one link. The link of a
// scenario that Decode would refuse (more than 64 backends; anything that
// Check refuses) is still a link, but may not read back.
func Encode(s Scenario) string { return EncodeStamped(s, Stamp{}) }

// EncodeStamped is Encode with the sender's engine version and digest at the
// end. Of a longer digest, the first 8 digits are used.
func EncodeStamped(s Scenario, stamp Stamp) string {
	pairs := changed(s)
	if stamp.Engine > 0 {
		pairs = append(pairs, "e="+strconv.Itoa(stamp.Engine))
	}
	if len(stamp.Digest) >= digestLength && hexadecimal(stamp.Digest[:digestLength]) {
		pairs = append(pairs, "r="+strings.ToLower(stamp.Digest[:digestLength]))
	}
	if len(pairs) == 0 {
		return "#" + version
	}
	text := strings.Join(pairs, ";")
	if link := "#" + version + ";" + text; len(link) <= packedAbove {
		return link
	}
	return "#" + packed + pack(text) + packedEnd
}

// changed is the pairs of everything that differs from the defaults, then
// those that this build does not know.
func changed(s Scenario) []string {
	var pairs []string
	for _, p := range s.Params().All() {
		if !p.Changed(column) {
			continue
		}
		texts := p.Texts()
		for _, text := range texts {
			pairs = append(pairs, p.Name+"="+linkValue(p, text))
		}
		if len(texts) == 0 {
			pairs = append(pairs, p.Name+"="+nothing)
		}
	}
	for _, u := range s.Unknown {
		pairs = append(pairs, legal(u.Key)+"="+legal(u.Value))
	}
	return pairs
}

// TooLong says that programs may cut the link, so that the scenario should
// travel as a file.
func TooLong(link string) bool { return len(link) > maxLink }

// Command is the command line that runs the scenario, its link quoted for a
// POSIX shell, which would read ';' and '#' otherwise.
func (s Scenario) Command() string { return s.CommandStamped(Stamp{}) }

// CommandStamped is Command with the sender's engine version and digest, so
// that whoever runs it learns whether the result is the sender's.
func (s Scenario) CommandStamped(stamp Stamp) string {
	link := strings.TrimPrefix(EncodeStamped(s, stamp), "#")
	return "minilb simulate --scenario '" + link + "'"
}

// Decode reads a link, with or without its '#' or the address before it. The
// error is Faults: everything that is wrong, at once; the scenario then holds
// what could be read, and defaults for the rest. What no single value can say
// wrong is left to Check. An empty text is the default scenario.
func Decode(text string) (Scenario, error) {
	s, _, err := DecodeStamped(text)
	return s, err
}

// DecodeStamped is Decode for a reader who also wants to know what result the
// sender saw.
func DecodeStamped(text string) (Scenario, Stamp, error) {
	pairs, err := open(text)
	if err != nil {
		return Default(), Stamp{}, Faults{err}
	}
	return decodePairs(pairs)
}

// open takes a link's wrapping off and returns its pairs.
func open(text string) (string, error) {
	if len(text) > maxText {
		return "", fmt.Errorf("a link of %d bytes: too long; accepted: at most %d", len(text), maxText)
	}
	text = afterHash(strings.TrimSpace(text))
	head, pairs, _ := strings.Cut(text, ";")
	switch {
	case head == version, text == "":
		return pairs, nil
	case strings.HasPrefix(text, packed):
		return unpack(strings.TrimPrefix(text, packed))
	case isVersion(head):
		return "", fmt.Errorf("version %.20q of links: unknown, so it cannot be read safely; this build knows %s", head, known)
	}
	return "", fmt.Errorf("%.40q does not begin with a version; accepted: %s", head, known)
}

// afterHash drops an address such as https://example.org/play/ and the '#'.
func afterHash(text string) string {
	before, after, found := strings.Cut(text, "#")
	if found && (before == "" || strings.Contains(before, "://")) {
		return after
	}
	return text
}

func isVersion(head string) bool {
	return len(head) >= 2 && head[0] == 'v' && '0' <= head[1] && head[1] <= '9'
}

// pack deflates the pairs without their version. Equal pairs give equal
// characters for one version of Go; any version reads them.
func pack(pairs string) string {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err == nil {
		_, err = io.WriteString(w, pairs)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("scenario: " + err.Error()) // a bytes.Buffer takes everything
	}
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

var (
	errCut     = errors.New("the link is cut short: " + packed + " and no " + packedEnd + " at its end; accepted: the whole link")
	errDamaged = errors.New("the link is damaged: what follows " + packed + " does not inflate; accepted: the link as it was made")
)

// unpack reads what pack wrote, and no more than it may become.
func unpack(text string) (string, error) {
	text, whole := strings.CutSuffix(text, packedEnd)
	if !whole {
		return "", errCut
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return "", errDamaged
	}
	source := bytes.NewReader(raw)
	pairs, err := io.ReadAll(io.LimitReader(flate.NewReader(source), maxInflated+1))
	switch {
	case len(pairs) > maxInflated:
		return "", fmt.Errorf("the link inflates to more than %d bytes: refused; accepted: at most that", maxInflated)
	case err != nil || source.Len() > 0:
		return "", errDamaged
	}
	return string(pairs), nil
}
