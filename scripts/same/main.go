// Command same proves the third rule of the house: a scenario gives the same bytes on every target. It builds
// scripts/simulate for amd64, for amd64 at GOAMD64=v3 and for WebAssembly, and the program itself, runs each golden
// scenario on all of them, and compares what they print.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
)

const golden = "scripts/testdata/golden.txt"

func main() {
	dir, err := os.MkdirTemp("", "minilb-same-")
	if err == nil {
		err = prove(os.Stdout, dir)
		_ = os.RemoveAll(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "same:", err)
		os.Exit(1)
	}
}

func prove(out io.Writer, dir string) error {
	text, err := os.ReadFile(golden)
	if err != nil {
		return fmt.Errorf("%w (run it at the root of the source tree: make same)", err)
	}
	targets, err := buildAll(out, dir)
	if err != nil {
		return err
	}
	links := readLinks(string(text))
	if len(links) == 0 {
		return fmt.Errorf("%s holds no scenario, so nothing would be compared", golden)
	}
	return compareAll(out, targets, links)
}

// readLinks takes one link a line. A link may itself begin with '#', so a comment is '#' and a space.
func readLinks(text string) []string {
	var links []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && line != "#" && !strings.HasPrefix(line, "# ") {
			links = append(links, line)
		}
	}
	return links
}

// compareAll goes through all scenarios even after a difference: which ones differ is the first clue to why.
func compareAll(out io.Writer, targets []target, links []string) error {
	var different int
	for _, link := range links {
		digest, err := compare(targets, link)
		if err != nil {
			different++
			fmt.Fprintf(out, "DIFFERENT     %s\n  %v\n", link, err)
			continue
		}
		fmt.Fprintf(out, "%s  same on %s  %s\n", digest, names(targets), link)
	}
	if different > 0 {
		return fmt.Errorf("%d of %d scenarios are not the same on every target", different, len(links))
	}
	return nil
}

// compare runs one scenario everywhere and returns a short digest of the common result.
func compare(targets []target, link string) (string, error) {
	first, err := targets[0].simulate(link)
	if err != nil {
		return "", err
	}
	for _, t := range targets[1:] {
		result, err := t.simulate(link)
		if err != nil {
			return "", err
		}
		if !bytes.Equal(first, result) {
			return "", fmt.Errorf("%s", difference(targets[0].name, first, t.name, result))
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256(first))[:12], nil
}

func names(targets []target) string {
	var all []string
	for _, t := range targets {
		all = append(all, t.name)
	}
	return strings.Join(all, ", ")
}
