package page

import (
	"errors"
	"strconv"
	"strings"

	"minilb/core/sim"
)

// errorf is an error of the page's own, in its language.
func (w Words) errorf(english string, parts ...sim.Part) error {
	return errors.New(w.Say(english, parts...))
}

// Error is an error in this language.
func (w Words) Error(err error) string {
	if err == nil {
		return ""
	}
	return w.Fault(err.Error())
}

// Fault is the message of an error of core's, one fault a line, in this language. Core writes its errors in English, with
// the value and the range inside; their forms stand in sentences and phrases, and one that does not is left as it is.
func (w Words) Fault(english string) string {
	if w.table == nil {
		return english
	}
	lines := strings.Split(english, "\n")
	for i, line := range lines {
		lines[i] = w.fault(line)
	}
	return strings.Join(lines, "\n")
}

// fault is one line: NAME=VALUE: PROBLEM; accepted: WHAT; did you mean NAME?
func (w Words) fault(line string) string {
	if text, ok := w.matched(sentences, line); ok {
		return text
	}
	if before, near, ok := strings.Cut(line, "; did you mean "); ok {
		return w.Say("{fault}; did you mean {near}?", named("fault", w.fault(before)), named("near", strings.TrimSuffix(near, "?")))
	}
	if before, accepted, ok := strings.Cut(line, "; accepted: "); ok {
		return w.Say("{fault}; accepted: {accepted}", named("fault", w.fault(before)), named("accepted", w.phrase(accepted)))
	}
	if name, problem, ok := strings.Cut(line, ": "); ok && strings.Contains(name, "=") {
		return w.Say("{name}: {fault}", named("name", name), named("fault", w.fault(problem)))
	}
	return w.phrase(line)
}

// phrase is a text that may be one of the forms.
func (w Words) phrase(text string) string {
	if said, ok := w.matched(phrases, text); ok {
		return said
	}
	return text
}

// matched finds the form of a text and says it with what stood in its places. Numbers stay as a field takes them.
func (w Words) matched(forms []string, text string) (string, bool) {
	for _, form := range forms {
		if parts, ok := match(form, text); ok {
			for i, p := range parts {
				switch p.Place {
				case "unit":
					parts[i].Name = w.T(p.Name)
				case "known":
					parts[i].Name = w.phrase(p.Name)
				case "why":
					parts[i].Name = w.Fault(p.Name)
				}
			}
			return w.Say(form, parts...), true
		}
	}
	return "", false
}

// match reads a text by a form: literals, and between them places that take as little as they can.
func match(form, text string) (parts []sim.Part, ok bool) {
	literal, rest, more := strings.Cut(form, "{")
	if !strings.HasPrefix(text, literal) {
		return nil, false
	}
	text = text[len(literal):]
	for more {
		var place string
		place, rest, _ = strings.Cut(rest, "}")
		literal, rest, more = strings.Cut(rest, "{")
		at := strings.Index(text, literal)
		if literal == "" && !more {
			at = len(text)
		}
		if at < 1 {
			return nil, false
		}
		parts, text = append(parts, named(place, text[:at])), text[at+len(literal):]
	}
	return parts, text == ""
}

// phrases are the forms of what core says of a value, and of what it would accept.
var phrases = []string{
	"outside {lo} to {hi} {unit}", "outside {lo} to {hi}", "not a number", "not a whole number", "not a duration", "unknown", "too large", "listed twice",
	"nothing to run", "a whole number", "{lo} to {hi} {unit}", "seconds, such as 0.2, 200ms or 1m30s", "{lo} to {hi}, such as 0.2, 200ms or 1m30s",
	"a second backend of that name", "a name of its own for each", "each policy once", "leaves nothing of the duration", "less than {what}", "at most {what}",
	"up to {n} requests at this rate", "{n} backends", "has {n} values", "exactly one", "the whole link", "v1 (v1;key=value;…, or v1z.… when deflated)",
	"drain_at {drain} is not after add_at {add}", "recover_at {end} comes before anything goes wrong at {begin}", "slow_until {end} is not after slow_after {begin}",
}

// sentences are the forms of whole lines.
var sentences = []string{
	"backend without a name; accepted: 1 to 32 letters, digits, - or _",
	"backend name {name}; accepted: 1 to 32 letters, digits, - or _, starting and ending with a letter or digit",
	"backend {name}: weight {weight} outside 1 to {most}",
	"version {version} of links: unknown, so it cannot be read safely; this build knows {known}",
	"{text} does not begin with a version; accepted: {known}", "{pair} is not a pair; accepted: key=value",
	"a link of {n} bytes: too long; accepted: at most {most}",
	"{policy} ended at t={t}, after {n} of {all} requests: {why}", "The simulator stopped: {why}",
}

func quoted(text string) string { return strconv.Quote(cut(text, 40)) }

// cut is no more of a text than fits a message.
func cut(text string, runes int) string {
	for at := range text {
		if runes--; runes < 0 {
			return text[:at]
		}
	}
	return text
}
