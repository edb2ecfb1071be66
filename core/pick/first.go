package pick

import "minilb/core/lb"

// first takes the first usable backend of the list, so that the others are
// spares nobody has tried: what looks like two instances serves from one.
type first struct{ set *lb.Set }

func (p first) Pick(q lb.Query) int { return p.set.UsableFrom(0, &q) }
