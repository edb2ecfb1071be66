package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A child is a process that is one proxy.
type child struct {
	command *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Reader
	address string
}

// start runs a proxy in a process of its own, pinned to one processor so that
// none of its work hides in a second one.
func (r run) start(name string, backends []string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	line := append([]string{self, "-as", name, "-profiles", r.profiles}, backends...)
	if taskset, err := exec.LookPath("taskset"); err == nil && r.cpu != "" {
		line = append([]string{taskset, "-c", r.cpu}, line...)
	}
	c := &child{command: exec.Command(line[0], line[1:]...)}
	c.command.Stderr = os.Stderr
	c.command.Env = append(os.Environ(), "GOMAXPROCS=1")
	out, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if c.in, err = c.command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.command.Start(); err != nil {
		return nil, err
	}
	c.answers = bufio.NewReader(out)
	c.address, err = c.line()
	return c, err
}

func (c *child) line() (string, error) {
	text, err := c.answers.ReadString('\n')
	return strings.TrimSpace(text), err
}

// used is the CPU time that the proxy has had so far.
func (c *child) used() (time.Duration, error) {
	if _, err := io.WriteString(c.in, "used\n"); err != nil {
		return 0, err
	}
	text, err := c.line()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Duration(n), err
}

func (c *child) stop() {
	_ = c.in.Close()
	_ = c.command.Wait()
}

// serveParent answers every line with the time used, until there are no more.
func serveParent(address string) error {
	fmt.Println(address)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(int64(cpuTime()))
	}
	return lines.Err()
}

func median(costs []cost) cost {
	slices.SortFunc(costs, func(a, b cost) int { return int(a.cpu - b.cpu) })
	return costs[len(costs)/2]
}

// profiled writes a profile of what f does, if there is a folder for it.
func profiled(folder, name string, f func() error) error {
	if folder == "" {
		return f()
	}
	out, err := os.Create(filepath.Join(folder, strings.ReplaceAll(name, "/", "-")+".pprof"))
	if err != nil {
		return err
	}
	defer out.Close()
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return f()
}
