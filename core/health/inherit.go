package health

import "minilb/core/lb"

// Inherit goes on with a backend as old left it: up or down, with the results
// in a row that it had. The new configuration's rise and fall apply from the
// next result on, and the first probe under it is due at once.
func (c *Checker) Inherit(now lb.Time, slot int, up bool, old lb.Health) {
	c.Add(now, slot, true)
	b := &c.backends[slot]
	b.up, b.eager = up, false
	if before, ok := old.(*Checker); ok && slot < len(before.backends) {
		b.run, b.eager = before.backends[slot].run, before.backends[slot].eager
	}
}
