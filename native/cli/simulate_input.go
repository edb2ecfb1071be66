package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"minilb/core/param"
	"minilb/core/scenario"
	"minilb/core/sim"
)

// A presetName is the name of a scenario that comes with the program, or
// empty.
type presetName string

func (n *presetName) UnmarshalText(text []byte) error {
	*n = presetName(text)
	return nil
}

func (n presetName) MarshalText() ([]byte, error) { return []byte(n), nil }

func (simulateInput) ParamChoices(name string) []string {
	if name != "preset" {
		return nil
	}
	var names []string
	for _, p := range scenario.Presets {
		names = append(names, p.Name)
	}
	return names
}

// job reads the flags: from where the scenario starts, what they change of it,
// and what is to be done with it. Nothing has been played when it refuses.
func (o *simulateInput) job(in *inputs, stdin io.Reader) (*job, error) {
	in.apply(param.Of(o)) // for what to start from; faults come up below
	start, stamp, err := o.start()
	var world *os.PathError
	if errors.As(err, &world) {
		return nil, err
	}
	j := &job{scenario: start, sent: sent{stamp, scenario.Encode(start)}}
	faults := append([]error{err}, in.apply(param.Of(&j.scenario, o))...)
	faults = append(faults, o.empty(in)...)
	if err := refuse(faults...); err != nil {
		return nil, err
	}
	if o.Sweep != "" {
		if j.sweep, err = sim.ParseSweep(o.Sweep); err != nil {
			return nil, refuse(inFlag("sweep", err))
		}
	}
	j.simulateInput = *o
	if err := refuse(j.clashes(in)...); err != nil {
		return nil, err
	}
	if err := j.readTrace(stdin); err != nil {
		return nil, err
	}
	j.preset = untouched(o.Preset, j.scenario)
	return j, refuse(j.check())
}

// empty are the faults of flags that were given nothing. That is most often a
// variable of a shell that is not set, and what is played then, something else
// than was meant.
func (o *simulateInput) empty(in *inputs) []error {
	var faults []error
	for _, f := range [...]struct{ name, value, accepted string }{
		{"scenario", o.Link, scenarioForm}, {"preset", string(o.Preset), "the name of a preset"},
		{"trace", o.Trace, "the name of a file, or - for standard input"}, {"series", o.Series, "the name of a file"},
		{"sweep", o.Sweep, "PARAM=A..B, such as rate=50..500"},
	} {
		if in.has(f.name) && f.value == "" {
			faults = append(faults, fmt.Errorf("--%s '': empty; accepted: %s", f.name, f.accepted))
		}
	}
	return faults
}

// start is the scenario that flags then change.
func (o *simulateInput) start() (s scenario.Scenario, stamp scenario.Stamp, err error) {
	text, flag := o.Link, "--scenario"
	if p, ok := scenario.FindPreset(string(o.Preset)); ok && text == "" {
		text = p.Link
	} else if path, is := linkFile(text); is {
		if text, err = readLink(path); err != nil {
			return scenario.Default(), stamp, err
		}
		flag += " " + path
	} else if info, err := os.Stat(text); err == nil && info.IsDir() && !isLink(text) {
		return scenario.Default(), stamp, fmt.Errorf("--scenario %.60q: a directory; accepted: %s", text, scenarioForm)
	} else if text != "" && !isLink(text) {
		return scenario.Default(), stamp, fmt.Errorf("--scenario %.60q: not a link, and no file has that path; accepted: %s", text, scenarioForm)
	}
	if s, stamp, err = decode(text); err != nil {
		err = inText{err, flag}
	}
	return s, stamp, err
}

// decode reads a link, or a scenario as a file holds it, which no link is
// mistaken for: links have neither spaces nor lines nor braces.
func decode(text string) (scenario.Scenario, scenario.Stamp, error) {
	if !strings.ContainsAny(text, " \t\n{") {
		return scenario.DecodeStamped(text)
	}
	s, err := scenario.FromFile([]byte(text))
	return s, scenario.Stamp{}, err
}

// scenarioForm is what a scenario looks like, for messages.
const scenarioForm = "a link such as 'v1;algorithm=p2c;rate=200', or a file that holds one, or a scenario as JSON or YAML"

// untouched is the preset that a scenario still is.
func untouched(name presetName, s scenario.Scenario) scenario.Preset {
	p, ok := scenario.FindPreset(string(name))
	if !ok {
		return scenario.Preset{}
	}
	if original, err := scenario.Decode(p.Link); err != nil || scenario.Encode(original) != scenario.Encode(s) {
		return scenario.Preset{}
	}
	return p
}

// linkFile says whether a text means a file that holds a link, and which: @
// and a path always do, and so does a path that exists, unless it reads as a
// link.
func linkFile(text string) (path string, is bool) {
	if path, is := strings.CutPrefix(text, "@"); is {
		return path, true
	}
	if text == "" || isLink(text) {
		return "", false
	}
	info, err := os.Stat(text)
	return text, err == nil && !info.IsDir()
}

// isLink says whether a text is meant as a link, right or wrong: it has a '#',
// or begins with a version and what follows one.
func isLink(text string) bool {
	head, _, found := strings.Cut(text, ";")
	return strings.Contains(text, "#") || found && strings.HasPrefix(head, "v") ||
		head == "v1" || strings.HasPrefix(text, "v1z.")
}

// maxLinkFile is well above what a link may be, so that too long a one is
// refused in the words for links.
const maxLinkFile = 1 << 20

func readLink(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("--scenario: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxLinkFile))
	if err != nil {
		return "", fmt.Errorf("--scenario: %w", err)
	}
	link := strings.TrimSpace(string(text))
	if link == "" {
		return "", fmt.Errorf("--scenario %s: the file is empty; accepted: %s", path, scenarioForm)
	}
	return link, nil
}

// inText says of each fault where it is: in a link, in a file, in another
// flag's value. Its notation stays that of links.
type inText struct {
	error
	flag string
}

func (e inText) Flag() string {
	return e.flag + ": " + strings.ReplaceAll(e.Error(), "\n", "\n"+e.flag+": ")
}

// inFlag says of a fault in which flag it is, unless it says so itself.
func inFlag(flag string, err error) error {
	var fault *param.Error
	if errors.As(err, &fault) && fault.Name != flag {
		return inText{err, "--" + flag}
	}
	return err
}

// maxTraceFile is more than two million requests need.
const maxTraceFile = 256 << 20

// readTrace puts the trace into the scenario.
func (j *job) readTrace(stdin io.Reader) error {
	if j.Trace == "" {
		return nil
	}
	in := stdin
	if j.Trace != "-" {
		f, err := j.openTrace()
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxTraceFile+1))
	switch {
	case err != nil:
		return fmt.Errorf("--trace: %w", err)
	case len(text) > maxTraceFile:
		return refuse(fmt.Errorf("--trace %s: longer than %d MB; accepted: at most that", j.Trace, maxTraceFile>>20))
	}
	rows, err := scenario.ParseTrace(string(text))
	if err != nil {
		return refuse(fmt.Errorf("--trace %s: %s", j.Trace, strings.TrimLeft(strings.TrimPrefix(err.Error(), "trace"), ",: ")))
	}
	j.scenario.Arrivals, j.scenario.Trace = "trace", rows
	return nil
}

// openTrace refuses a file that the series would overwrite.
func (j *job) openTrace() (*os.File, error) {
	f, err := os.Open(j.Trace)
	if err != nil {
		return nil, fmt.Errorf("--trace: %w", err)
	}
	info, err := f.Stat()
	switch series, wrong := os.Stat(j.Series); {
	case err != nil:
		err = fmt.Errorf("--trace: %w", err)
	case info.IsDir():
		err = refuse(fmt.Errorf("--trace %s: a directory; accepted: the name of a file, or - for standard input", j.Trace))
	case wrong == nil && os.SameFile(info, series):
		err = refuse(fmt.Errorf("--series %s: the trace itself, which it would overwrite; accepted: another file", j.Series))
	default:
		return f, nil
	}
	_ = f.Close() // nothing was read
	return nil, err
}

// check asks whether the scenario can be played, at every value of a sweep.
func (j *job) check() error {
	if j.Sweep == "" {
		return j.scenario.Check()
	}
	s := j.scenario
	for _, text := range j.sweep.Texts {
		if err := s.Params().Lookup(j.sweep.Param).Set(text); err != nil {
			return err
		}
		if err := s.Check(); err != nil {
			return swept{err, j.sweep.Param + "=" + text}
		}
	}
	return nil
}

// swept says of faults at which value of a sweep they come up.
type swept struct {
	error
	at string
}

func (e swept) Flag() string {
	text := e.Error()
	var flag interface{ Flag() string }
	if errors.As(e.error, &flag) {
		text = flag.Flag()
	}
	return "--sweep: at " + e.at + ": " + strings.ReplaceAll(text, "\n", "\n--sweep: at "+e.at+": ")
}

// A clash is two flags that cannot be together.
type clash struct{ a, b, why string }

// Why two flags clash.
const (
	twoStarts   = "each says where the scenario starts; accepted: one of them"
	twoForms    = "two forms of one output; accepted: one of them"
	underTable  = "it stands under the table, which is not printed then; accepted: one of them"
	ofOneRun    = "it is of a single run; accepted: one of them"
	traceSays   = "the trace says which requests come, and when; accepted: one of them"
	lastsAsLong = "a run is as long as the one or as the other says; accepted: --duration 0, or no --requests"
)

var clashes = []clash{
	{"scenario", "preset", twoStarts},
	{"csv", "json", twoForms},
	{"explain", "csv", underTable}, {"explain", "json", underTable},
	{"events", "csv", underTable}, {"events", "json", underTable},
	{"explain", "seeds", ofOneRun}, {"explain", "sweep", ofOneRun},
	{"events", "seeds", ofOneRun}, {"events", "sweep", ofOneRun},
	{"series", "seeds", ofOneRun}, {"series", "sweep", ofOneRun},
	{"trace", "arrivals", traceSays}, {"trace", "rate", traceSays},
	{"trace", "requests", traceSays}, {"trace", "clients", traceSays},
	{"duration", "requests", lastsAsLong},
}

// clashes are the faults of flags that cannot be together.
func (j *job) clashes(in *inputs) []error {
	var faults []error
	for _, c := range clashes {
		if j.asks(in, c.a) && j.asks(in, c.b) {
			faults = append(faults, fmt.Errorf("%s and %s: %s", j.flag(c.a), j.flag(c.b), c.why))
		}
	}
	if name := j.sweep.Param; name != "" && in.has(name) {
		faults = append(faults, fmt.Errorf("--%s and --sweep %s: the sweep sets it; accepted: one of them", name, name))
	}
	if j.Series == "-" {
		faults = append(faults, errors.New("--series -: a series is not printed; accepted: the name of a file"))
	}
	return faults
}

// asks says whether a flag was given, itself or as what is swept, and to some
// effect. A duration may be the scenario's own.
func (j *job) asks(in *inputs, name string) bool {
	switch name {
	case j.sweep.Param:
		return true
	case "csv":
		return j.CSV
	case "json":
		return j.JSON
	case "explain":
		return j.Explain
	case "events":
		return j.Events
	case "seeds":
		return j.Seeds > 1
	case "arrivals":
		return in.has(name) && j.scenario.Arrivals != "trace"
	case "duration":
		return j.scenario.Duration > 0
	}
	return in.has(name)
}

func (j *job) flag(name string) string {
	if name == j.sweep.Param {
		return "--sweep " + name
	}
	return "--" + name
}
