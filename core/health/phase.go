package health

import (
	"time"

	"minilb/core/stat"
)

// phase is how far into the interval a backend's grid begins: spread evenly by
// chance over the jittered share of it, so that neither the backends nor
// several balancers probe in step.
func (c *Checker) phase(slot int) time.Duration {
	u := stat.Unit(stat.Word(c.random, 0, uint64(slot), 0))
	return time.Duration(u * c.config.CheckJitter * float64(c.config.CheckInterval))
}
