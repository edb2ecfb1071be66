// Command tally reads `go test -json`, prints what `go test` would print, and adds its counts to a file, so that the last
// line of a test run made of many commands says truthfully how many tests passed, failed and were skipped.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go test -json ... | tally FILE")
		os.Exit(2)
	}
	t := newTally(os.Stdout)
	err := t.read(os.Stdin)
	if err == nil {
		err = t.appendTo(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
}

// An event is one line of `go test -json`; see `go doc test2json`.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// A test is named by its package as well: two packages may have tests of one name.
type test struct{ pkg, name string }

// A tally counts tests, subtests included, and keeps what a test printed until it is known whether anybody wants it.
type tally struct {
	out                     io.Writer
	passed, failed, skipped int
	running                 []test
	printed                 map[test]*strings.Builder
}

func newTally(out io.Writer) *tally {
	return &tally{out: out, printed: map[test]*strings.Builder{}}
}

func (t *tally) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		t.line(line)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line passes on what is not an event: the go command's own complaints come in between.
func (t *tally) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		fmt.Fprintf(t.out, "%s", line)
		return
	}
	if e.Test == "" {
		t.ofPackage(e)
		return
	}
	t.ofTest(test{e.Package, e.Test}, e)
}

// ofPackage prints the go command's line for a package, and on failure the output of tests that never ended: it is
// where a panic or a timeout shows.
func (t *tally) ofPackage(e event) {
	switch e.Action {
	case "output", "build-output":
		if e.Output != "PASS\n" {
			fmt.Fprint(t.out, e.Output)
		}
	case "fail":
		for _, k := range slices.Clone(t.running) {
			if k.pkg == e.Package {
				t.failed++
				t.end(k, true)
			}
		}
	}
}

func (t *tally) ofTest(k test, e event) {
	switch e.Action {
	case "run":
		t.running = append(t.running, k)
		t.printed[k] = &strings.Builder{}
	case "output":
		if b := t.printed[k]; b != nil && !isMark(e.Output) {
			b.WriteString(e.Output)
		}
	case "pass":
		t.passed++
		t.end(k, false)
	case "fail":
		t.failed++
		t.end(k, true)
	case "skip":
		t.skipped++
		t.end(k, true)
	}
}

// isMark is true of the lines that only say where a test begins or waits.
func isMark(output string) bool {
	return slices.ContainsFunc([]string{"=== RUN", "=== PAUSE", "=== CONT", "=== NAME"}, func(mark string) bool {
		return strings.HasPrefix(output, mark)
	})
}

func (t *tally) end(k test, show bool) {
	if show && t.printed[k] != nil {
		fmt.Fprint(t.out, t.printed[k].String())
	}
	delete(t.printed, k)
	t.running = slices.DeleteFunc(t.running, func(r test) bool { return r == k })
}

// appendTo adds one line: passed, failed, skipped.
func (t *tally) appendTo(name string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, t.passed, t.failed, t.skipped)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
