package outlier

import "minilb/core/lb"

// Inherit goes on with a backend that another detector watched: ejections end
// when they were to end, the next one is as long as it was to be, and errors in
// a row count on. An error that arrives in this very moment may be missed; it
// is one of many when it matters.
func (d *Detector) Inherit(slot int, old lb.Outlier) {
	d.Add(slot)
	before, ok := old.(*Detector)
	if !ok || slot >= len(before.states) {
		return
	}
	d.states[slot] = before.states[slot]
	d.states[slot].sample = sample{} // an interval of other length
	d.tally[slot].errors.inherit(&before.tally[slot].errors)
	d.tally[slot].gateway.inherit(&before.tally[slot].gateway)
	d.plan()
}

func (s *streak) inherit(old *streak) {
	s.n.Store(old.n.Load())
	s.reported.Store(old.reported.Load())
}
