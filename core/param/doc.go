// Package param turns tagged struct fields into parameters: flags, link keys, YAML keys, sliders and documentation all
// come from the same line, so they cannot disagree.
//
//	Fall int `param:"fall" unit:"probes" range:"1,100" default:"3" help:"consecutive failed probes that take a backend out"`
//
// The tags of a field:
//
//	param     the name: lower-case letters, digits and dashes. Fields without it are ignored.
//	help      one line of explanation
//	unit      what a number counts, for messages and labels
//	default   the scenario's default; the zero value when missing
//	serve     the proxy's default where it differs
//	range     "lo,hi", both allowed; for numbers and durations, and for each element of a list of them
//	choices   "a,b,c" for texts and lists of texts; or a method ParamChoices(name string) []string on the struct
//	group     the heading it is shown under; on an embedded struct, that of all its fields
//	advanced  "true" hides it until asked for
//	slider    "lo,hi", the span of a slider where narrower than range
//	step      the slider's step
//	scale     "log" for a slider that moves by factors
//
// Fields may be bool, int, int64, uint64, float64, string, [time.Duration], any type that is its own text
// ([encoding.TextMarshaler] and [encoding.TextUnmarshaler]), and slices of these. A list's default is split at commas
// when it has choices and at spaces otherwise.
package param
