// Command proxybench measures what a proxy costs: CPU seconds per 100 000
// small requests on one processor, of a process that is nothing but the proxy.
// Client and backend run in this process and are not counted. minilb stands
// beside a httputil.ReverseProxy with a buffer pool in the same run, because
// the numbers of two machines, or of two days, cannot be compared.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	as := flag.String("as", "", "be one proxy, by its name in the table (used by this program itself)")
	only := flag.String("only", "", "names of the table with commas between; empty: all")
	n := flag.Int("n", 50_000, "requests to each proxy in each round")
	rounds := flag.Int("rounds", 3, "rounds; the proxies take turns")
	clients := flag.Int("clients", 16, "connections that are kept alive")
	cpu := flag.String("cpu", "0", "the processor that proxies are pinned to; empty: not pinned")
	profiles := flag.String("profiles", "", "a folder for a CPU profile of each proxy, of its last round")
	flag.Parse()
	var err error
	if *as != "" {
		err = profiled(*profiles, *as, func() error { return be(*as, flag.Args()) })
	} else {
		err = measure(run{*n, *rounds, *clients, *cpu, *profiles, chosen(*only)})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "proxybench:", err)
		os.Exit(1)
	}
}

// A run is what is asked for.
type run struct {
	n, rounds, clients int
	cpu, profiles      string
	names              []string
}

// chosen are the proxies that are asked for.
func chosen(only string) []string {
	if only == "" {
		return names
	}
	return strings.Split(only, ",")
}

// measure prints a line for each proxy: the median of its rounds.
func measure(r run) error {
	backends, stop, err := serveBackends(3)
	if err != nil {
		return err
	}
	defer stop()
	costs := map[string][]cost{}
	for range r.rounds {
		for _, name := range r.names {
			c, err := r.once(name, backends)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			costs[name] = append(costs[name], c)
		}
	}
	r.print(costs)
	return nil
}

// print shows the medians, and how they compare with the reference's.
func (r run) print(costs map[string][]cost) {
	fmt.Printf("%-14s %22s %12s %16s\n", "", "CPU s/100 000 requests", "requests/s", "to "+reference)
	base := 0.0
	if of := costs[reference]; len(of) > 0 {
		base = median(of).cpu.Seconds()
	}
	for _, name := range r.names {
		c := median(costs[name])
		fmt.Printf("%-14s %22.2f %12.0f %16.2f\n", name, c.cpu.Seconds()/float64(r.n)*100_000, float64(r.n)/c.wall.Seconds(), c.cpu.Seconds()/base)
	}
}

// A cost is what one round took.
type cost struct{ cpu, wall time.Duration }

// once measures one proxy. What it takes to start and to warm up is not
// counted.
func (r run) once(name string, backends []string) (cost, error) {
	child, err := r.start(name, backends)
	if err != nil {
		return cost{}, err
	}
	defer child.stop()
	if err := request(child.address, r.clients, r.n/10); err != nil {
		return cost{}, err
	}
	before, err := child.used()
	if err != nil {
		return cost{}, err
	}
	began := time.Now()
	if err := request(child.address, r.clients, r.n); err != nil {
		return cost{}, err
	}
	wall := time.Since(began)
	after, err := child.used()
	return cost{after - before, wall}, err
}
