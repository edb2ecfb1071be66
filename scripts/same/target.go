package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A target is one build that runs scenarios, and how to run it.
type target struct {
	name    string
	room    string   // the package to build
	env     []string // what makes the go command build for this target
	command []string // what the link follows; the built file is put in place of %
}

var (
	amd64   = target{"amd64", "./scripts/simulate", []string{"GOARCH=amd64", "GOAMD64=v1"}, []string{"%"}}
	amd64v3 = target{"amd64 v3", "./scripts/simulate", []string{"GOARCH=amd64", "GOAMD64=v3"}, []string{"%"}}
	wasm    = target{"wasm", "./scripts/simulate", []string{"GOOS=js", "GOARCH=wasm"}, []string{"go_js_wasm_exec", "%"}}
	program = target{"minilb", "./native/minilb", nil, []string{"%", "simulate", "--json", "--scenario"}}
)

// buildAll builds every target that this machine can run. The processor is the only excuse, and it is said aloud.
func buildAll(out io.Writer, dir string) ([]target, error) {
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	var built []target
	for _, t := range []target{amd64, amd64v3, wasm, program} {
		if missing := missingForV3(string(cpu)); t.name == amd64v3.name && len(missing) > 0 {
			fmt.Fprintf(out, "NOT COMPARED: amd64 v3, because this processor lacks %s\n", strings.Join(missing, ", "))
			continue
		}
		t, err := t.build(dir)
		if err != nil {
			return nil, err
		}
		built = append(built, t)
	}
	return built, nil
}

// missingForV3 lists what GOAMD64=v3 needs and /proc/cpuinfo does not name.
func missingForV3(cpuinfo string) []string {
	var missing []string
	have := strings.Fields(flagsLine(cpuinfo))
	for _, flag := range []string{"avx2", "fma", "bmi1", "bmi2"} {
		if !slices.Contains(have, flag) {
			missing = append(missing, flag)
		}
	}
	return missing
}

func flagsLine(cpuinfo string) string {
	_, after, _ := strings.Cut(cpuinfo, "\nflags")
	line, _, _ := strings.Cut(after, "\n")
	return line
}

// build compiles the target and fills in its command.
func (t target) build(dir string) (target, error) {
	file := filepath.Join(dir, strings.ReplaceAll(t.name, " ", "-"))
	build := exec.Command("go", "build", "-o", file, t.room)
	build.Env = append(os.Environ(), t.env...)
	if message, err := build.CombinedOutput(); err != nil {
		return t, fmt.Errorf("building %s for %s: %w\n%s", t.room, t.name, err, message)
	}
	command := make([]string, len(t.command))
	for i, word := range t.command {
		switch word {
		case "%":
			word = file
		case "go_js_wasm_exec":
			word = filepath.Join(goroot(), "lib", "wasm", word)
		}
		command[i] = word
	}
	t.command = command
	return t, nil
}

func goroot() string {
	root, _ := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(root))
}

// simulate runs one scenario. The environment is bare: Go under node has room for 12 kB of arguments and variables.
func (t target) simulate(link string) ([]byte, error) {
	var message bytes.Buffer
	run := exec.Command(t.command[0], append(t.command[1:len(t.command):len(t.command)], link)...)
	run.Env = []string{"PATH=" + os.Getenv("PATH")}
	run.Stderr = &message
	result, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", t.name, err, strings.TrimSpace(message.String()))
	}
	return bytes.TrimSpace(result), nil
}
