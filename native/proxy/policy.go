package proxy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"minilb/core/param"
	"minilb/native/policyfile"
)

// A Flag is one parameter given on the command line. It wins over the policy
// file, now and whenever that is read again.
type Flag struct{ Name, Value string }

// LoadPolicy is the configuration that a policy file and the flags make
// together: defaults, then the file, then the flags. It returns every fault,
// those of the file with line and column.
func LoadPolicy(path string, flags []Flag) (Config, []error) {
	text, err := readPolicy(path)
	if err != nil {
		return Config{}, []error{err}
	}
	return parsePolicy(path, text, flags)
}

// readPolicy reads a file that is no longer than a policy can be.
func readPolicy(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--policy: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, policyfile.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("--policy: %w", err)
	}
	return text, nil
}

func parsePolicy(path string, text []byte, flags []Flag) (Config, []error) {
	c := Default()
	set := c.Params()
	file, err := policyfile.Decode(path, text, set, "policy", "admin-token")
	var faults []error
	var inFile policyfile.Faults
	if errors.As(err, &inFile) {
		for _, fault := range inFile {
			faults = append(faults, fault)
		}
	}
	for _, f := range flags {
		if p := set.Lookup(f.Name); p != nil {
			if err := p.Set(f.Value); err != nil {
				faults = append(faults, err)
			}
		}
	}
	if faults == nil { // or one fault would be reported twice, in other words
		for _, fault := range c.Faults() {
			faults = append(faults, located(file, fault, flags))
		}
	}
	c.Policy = path
	return c, faults
}

// located puts a fault of the whole configuration where the file gives the
// parameter that it begins with. A flag's fault stays one.
func located(file *policyfile.File, fault error, flags []Flag) error {
	name, rest := "", fault.Error()
	if after, is := strings.CutPrefix(rest, "--"); is {
		end := strings.IndexAny(after, " :=,")
		if end > 0 {
			name, rest = after[:end], after
		}
	}
	for _, f := range flags {
		if f.Name == name && name != "backend" {
			return fault
		}
	}
	return file.Fault(name, errors.New(rest))
}

// differing names the parameters in which two configurations differ.
func differing(a, b Config) []string {
	var names []string
	left, right := a.Params().All(), b.Params().All()
	for i, p := range left {
		if !same(p, right[i]) {
			names = append(names, p.Name)
		}
	}
	return names
}

func same(a, b *param.Param) bool {
	return strings.Join(a.Texts(), "\x00") == strings.Join(b.Texts(), "\x00")
}

// running is a new configuration with the fixed parameters as they are, and
// the names of those that wait for the next start.
func (c Config) running(now Config) (effective Config, waiting []string) {
	effective = c
	to, from := effective.Params(), now.Params()
	for _, name := range fixed {
		p, is := to.Lookup(name), from.Lookup(name)
		if !same(p, is) {
			waiting = append(waiting, name)
			_ = p.SetTexts(is.Texts()) // what ran before is accepted
		}
	}
	return effective, waiting
}
