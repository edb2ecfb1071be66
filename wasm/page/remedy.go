package page

import (
	"math"

	"minilb/core/param"
)

// A Remedy is the one change that the page offers for what its verdict says: a button, and the parameters it sets.
type Remedy struct {
	Label string // empty when there is nothing to offer
	Sets  []Setting
	Show  string // a policy to show instead
}

// A Setting is a parameter and its new text.
type Setting struct{ ID, Text string }

// FindRemedy chooses it for the policy that is shown.
func FindRemedy(o Outcome, policy string) Remedy {
	f, ok := o.Of(policy)
	if !ok {
		return Remedy{}
	}
	r := reading{o.Scenario, f}
	switch worst, share := r.worst(); {
	case r.Consecutive5xx > 0 && r.EjectionsRefused > 0 && r.Ejections == 0:
		return r.raiseCap()
	case worst.Errors*share > 0.005 && r.Consecutive5xx == 0:
		return r.turnOnEjection()
	}
	if best := bestOf(o, f); best.Algorithm != policy && r.overloaded() != "" {
		return Remedy{Label: "Show " + best.Algorithm, Show: best.Algorithm}
	}
	return Remedy{}
}

// oneInPool is the smallest whole percentage under which one backend of this pool may be ejected.
func (r reading) oneInPool() string {
	return param.FormatFloat(math.Ceil(100 / float64(max(1, len(r.Backends)))))
}

func (r reading) raiseCap() Remedy {
	percent := r.oneInPool()
	return Remedy{Label: "Raise the cap to " + percent + "%", Sets: []Setting{{"max-ejection-percent", percent}}}
}

// turnOnEjection asks for five errors in a row, the proxy's default.
func (r reading) turnOnEjection() Remedy {
	m := Remedy{Label: "Turn on ejection", Sets: []Setting{{"consecutive-5xx", "5"}}}
	if r.MaxEjectionPercent*float64(len(r.Backends)) < 100 {
		m.Sets = append(m.Sets, Setting{"max-ejection-percent", r.oneInPool()})
	}
	return m
}

// Apply does what the button says.
func (m *Model) Apply(r Remedy) error {
	for _, s := range r.Sets {
		if err := m.Set(s.ID, s.Text); err != nil {
			return err
		}
	}
	if r.Show != "" {
		m.Show(r.Show)
	}
	return nil
}
