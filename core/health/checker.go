// Package health decides from active checks whether a backend is up. It says
// which probes are due and is told their results; it sends nothing itself.
//
// Only runs of results count: fall consecutive failures take a backend out,
// rise consecutive passes bring it back, and a single result of the other kind
// starts the count again. Detection takes about interval × fall.
package health

import (
	"fmt"
	"strconv"

	"minilb/core/lb"
)

// A Checker is the health of every backend of a pool, by slot. It is driven
// under the pool's lock and implements lb.Health.
type Checker struct {
	config   Config
	random   uint64 // spreads the phases when there is jitter
	backends []backend
	next     lb.Time
}

type backend struct {
	present bool
	up      bool
	eager   bool // added to a running pool: one pass brings it in
	run     int  // consecutive results against the present state
	due     lb.Time
	grid    lb.Time // a probe after the first starts here, or whole intervals later
}

// New returns a checker. The word random spreads the probes' phases.
func New(c Config, random uint64) *Checker {
	return &Checker{config: c, random: random, next: lb.Never}
}

// Add begins to check the backend at a slot: the first probe is due at once,
// and those after it on the backend's grid. In a running pool it waits outside
// for one passed probe; at the start it is where the option initial says.
func (c *Checker) Add(now lb.Time, slot int, running bool) (up bool) {
	for len(c.backends) <= slot {
		c.backends = append(c.backends, backend{due: lb.Never})
	}
	b := backend{present: true, up: !running && c.config.Initial != "down", eager: running, due: now, grid: now.Add(c.phase(slot))}
	if !running && c.config.Initial == "haproxy" {
		// HAProxy starts its counter at rise: up, and one failure from down.
		b.run = c.config.Fall - 1
	}
	if c.config.CheckInterval == 0 {
		b.due = lb.Never
	}
	c.backends[slot] = b
	c.plan()
	return b.up
}

// Remove ends the checks of a backend.
func (c *Checker) Remove(slot int) {
	c.backends[slot] = backend{due: lb.Never}
	c.plan()
}

// Next is when the next probe is due.
func (c *Checker) Next() lb.Time { return c.next }

// Due appends the slots whose probes start at now. Starts lie on a fixed grid
// of the interval, however late the call: a slow shell skips probes rather
// than sending two at once.
func (c *Checker) Due(now lb.Time, slots []int) []int {
	if now < c.next {
		return slots
	}
	for slot := range c.backends {
		b := &c.backends[slot]
		if b.present && b.due <= now {
			slots = append(slots, slot)
			b.due = c.after(now, b.grid)
		}
	}
	c.plan()
	return slots
}

// after is the first instant of a grid that is later than now.
func (c *Checker) after(now, grid lb.Time) lb.Time {
	if now < grid {
		return grid
	}
	past := now.Sub(grid) / c.config.CheckInterval
	return grid.Add((past + 1) * c.config.CheckInterval)
}

func (c *Checker) plan() {
	c.next = lb.Never
	for i := range c.backends {
		if c.backends[i].present {
			c.next = min(c.next, c.backends[i].due)
		}
	}
}

// Record takes one result in, and says whether it changed the backend's state
// and why.
func (c *Checker) Record(now lb.Time, slot int, r lb.ProbeResult) (up, changed bool, reason string) {
	b := &c.backends[slot]
	passed := c.Passes(r)
	if passed == b.up {
		b.run = 0
		return b.up, false, ""
	}
	b.run++
	if b.run < c.threshold(b) {
		return b.up, false, ""
	}
	run := b.run
	b.up, b.run, b.eager = passed, 0, false
	return b.up, true, c.reason(passed, run, r)
}

// threshold is how many results in a row turn a backend.
func (c *Checker) threshold(b *backend) int {
	switch {
	case b.up:
		return c.config.Fall
	case b.eager:
		return 1
	}
	return c.config.Rise
}

// Passes says whether a result is a pass.
func (c *Checker) Passes(r lb.ProbeResult) bool { return c.config.Passes(r) }

func (c *Checker) reason(passed bool, run int, r lb.ProbeResult) string {
	if passed {
		return fmt.Sprintf("%d consecutive passed %s", run, checks(run))
	}
	return fmt.Sprintf("%d consecutive failed %s (last: %s)", run, checks(run), c.seen(r))
}

func checks(n int) string {
	if n == 1 {
		return "check"
	}
	return "checks"
}

// seen names what the last probe saw.
func (c *Checker) seen(r lb.ProbeResult) string {
	seen := ""
	switch r.Kind {
	case lb.Answered:
		seen = c.status(r.Status)
	case lb.Refused:
		seen = "connection refused"
	case lb.TimedOut:
		seen = "timeout after " + c.config.CheckTimeout.String()
	default:
		seen = "connection broken"
	}
	if r.Detail != "" {
		seen += ": " + r.Detail
	}
	return seen
}

func (c *Checker) status(status int) string {
	seen := "HTTP " + strconv.Itoa(status)
	if c.config.CheckExpect != 0 {
		seen += ", expected " + strconv.Itoa(c.config.CheckExpect)
	}
	return seen
}
