package health

import "time"

// Run is the length of the run of results against a backend's state.
func (c *Checker) Run(slot int) int { return c.backends[slot].run }

// Phase is where a slot's grid begins within the interval.
func (c *Checker) Phase(slot int) time.Duration { return c.phase(slot) }
