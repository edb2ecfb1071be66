package page

import (
	"math"

	"minilb/core/param"
	"minilb/core/sim"
)

// A Remedy is the one change that the page offers for what its verdict says: a button, and the parameters it sets.
type Remedy struct {
	Label string // empty when there is nothing to offer
	Sets  []Setting
	Show  string // a policy to show instead; it runs too if it did not
	Add   bool   // one more backend
}

// A Setting is a parameter and its new text.
type Setting struct{ ID, Text string }

// FindRemedy chooses it for the policy that is shown, by the rule that spoke.
func FindRemedy(o Outcome, policy string) Remedy {
	f, ran := o.Of(policy)
	if !ran {
		return Remedy{}
	}
	switch o.Verdict(policy).Rule {
	case sim.FailingBackend, sim.HealthCheckLies:
		return o.takeOut(f)
	case sim.FaultyBackend:
		return o.notice(f)
	case sim.RetriesAmplify:
		return o.calmRetries()
	case sim.PoolOverloaded:
		return Remedy{Label: o.Words.T("Add a backend"), Add: true}
	case sim.BackendOverloaded:
		return o.otherPolicy(f)
	case sim.NothingAnswered:
		return o.failOpen()
	case sim.RequestsDropped:
		return o.letWait()
	}
	return Remedy{}
}

// takeOut is for a backend that answers with errors.
func (o Outcome) takeOut(f Figures) Remedy {
	switch {
	case !o.Scenario.OutlierConfig.On():
		return o.turnOnEjection()
	case f.EjectionsRefused > 0 && f.Ejections == 0:
		percent := o.oneInPool()
		return Remedy{Label: o.Words.Say("Raise the cap to {cap}", o.Words.figured("cap", percent+"%")), Sets: []Setting{{"max-ejection-percent", percent}}}
	}
	return Remedy{}
}

// notice is for a backend that does not answer, or slowly: errors alone would not show it.
func (o Outcome) notice(f Figures) Remedy {
	switch s := o.Scenario; {
	case s.CheckInterval == 0:
		return Remedy{Label: o.Words.T("Turn on checks"), Sets: []Setting{{"check-interval", "2"}}}
	case s.Retries == 0 && f.Errors > 0:
		return Remedy{Label: o.Words.T("Retry once"), Sets: []Setting{{"retries", "1"}}}
	case !s.OutlierConfig.On() && f.Errors > 0:
		return o.turnOnEjection()
	}
	return Remedy{}
}

func (o Outcome) calmRetries() Remedy {
	switch s := o.Scenario; {
	case s.ClientRetries > 0:
		return Remedy{Label: o.Words.T("Stop the clients' retries"), Sets: []Setting{{"client-retries", "0"}}}
	case s.BudgetPercent > 20:
		return Remedy{Label: o.Words.T("Set the budget to 20%"), Sets: []Setting{{"budget-percent", "20"}}}
	case s.Retries > 1:
		return Remedy{Label: o.Words.T("Retry once only"), Sets: []Setting{{"retries", "1"}}}
	}
	return Remedy{}
}

// otherPolicy is the best that ran, or one that looks at load when the policy that is shown does not.
func (o Outcome) otherPolicy(f Figures) Remedy {
	if best := bestOf(o, f); best.Algorithm != f.Algorithm {
		return Remedy{Label: o.Words.Say("Show {policy}", named("policy", best.Algorithm)), Show: best.Algorithm}
	}
	if _, ran := o.Of("least_conn"); !ran {
		return Remedy{Label: o.Words.Say("Try {policy}", named("policy", "least_conn")), Show: "least_conn"}
	}
	return Remedy{}
}

func (o Outcome) failOpen() Remedy {
	if o.Scenario.PanicThreshold > 0 {
		return Remedy{}
	}
	return Remedy{Label: o.Words.T("Fail open below 50%"), Sets: []Setting{{"panic-threshold", "50"}}}
}

func (o Outcome) letWait() Remedy {
	if o.Scenario.MaxInflight == 0 || o.Scenario.PoolConfig.Queue > 0 {
		return Remedy{}
	}
	return Remedy{Label: o.Words.T("Let 100 wait"), Sets: []Setting{{"queue", "100"}}}
}

// oneInPool is the smallest whole percentage under which one backend of this pool may be ejected.
func (o Outcome) oneInPool() string {
	return param.FormatFloat(math.Ceil(100 / float64(max(1, len(o.Scenario.Backends)))))
}

// turnOnEjection asks for five errors in a row, the proxy's default.
func (o Outcome) turnOnEjection() Remedy {
	m := Remedy{Label: o.Words.T("Turn on ejection"), Sets: []Setting{{"consecutive-5xx", "5"}}}
	if o.Scenario.MaxEjectionPercent*float64(len(o.Scenario.Backends)) < 100 {
		m.Sets = append(m.Sets, Setting{"max-ejection-percent", o.oneInPool()})
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
	if r.Add {
		return m.AddBackend()
	}
	if r.Show != "" {
		m.Show(r.Show)
		return m.Toggle("algorithm", r.Show, true)
	}
	return nil
}
