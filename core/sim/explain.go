package sim

import "slices"

// A Verdict is what one policy made of a scenario and why: which backend, which mechanism, which number. It is computed
// from the report alone.
type Verdict struct {
	Algorithm string
	Rule      Rule      // the strongest fault, or what there is to say without one; a page offers a remedy for it
	Second    Rule      // another fault that acts at the same time; empty when there is none
	Backend   string    // whom Rule is about; empty when it is about the pool
	Findings  []Finding // one to five sentences
	Text      string    `json:"-"` // the findings in English
}

// A Rule names what was found.
type Rule string

// The rules, in the order in which they are asked.
const (
	NothingPlayed     Rule = "nothing-played"
	NothingAnswered   Rule = "nothing-answered"
	HealthCheckLies   Rule = "health-check-lies"
	FailingBackend    Rule = "failing-backend"
	DependencyDown    Rule = "dependency-down"
	RetriesAmplify    Rule = "retries-amplify"
	FaultyBackend     Rule = "faulty-backend"
	EjectionWorked    Rule = "ejection-worked"
	PoolOverloaded    Rule = "pool-overloaded"
	BackendOverloaded Rule = "backend-overloaded"
	RequestsDropped   Rule = "requests-dropped"
	CapRefuses        Rule = "cap-refuses" // only ever beside another
	NothingWrong      Rule = "nothing-wrong"
)

// A diagnosis is what one rule has to say; without findings it does not apply.
type diagnosis struct {
	rule     Rule
	backend  string
	findings []Finding
	others   []Finding // how other policies fared: left out where a second fault needs the room
	after    []Finding
	brief    *Finding // the fault in one clause, for when another is stronger; nil where the rule is no fault
	strength float64  // share of the attempts that the fault spoils or adds
}

var rules = []func(reading) diagnosis{
	reading.nothingAnswered, reading.failingBackend, reading.dependencyDown, reading.retriesAmplify, reading.faultyBackend,
	reading.secondFaultyBackend, reading.ejectionWorked, reading.poolOverloaded, reading.backendOverloaded, reading.requestsDropped, reading.capRefuses,
	reading.nothingWrong,
}

// Explain says in one paragraph what happened and why. It is about the policy
// that fared worst, and says how the others fared.
func Explain(r Report) string {
	worst := 0
	for i := range r.Results {
		if worse(r.Results[i], r.Results[worst]) {
			worst = i
		}
	}
	if len(r.Results) == 0 {
		return Judge(r, "").Text
	}
	return Judge(r, r.Results[worst].Algorithm).Text
}

// worse compares by what clients notice: failures first, unless they are
// about the same, and then the tail.
func worse(a, b Result) bool {
	if d := failed(a) - failed(b); d > 0.005 || d < -0.005 {
		return d > 0
	}
	return a.Latency.P99 > b.Latency.P99
}

// failed is the share of requests that got an error or nothing.
func failed(r Result) float64 {
	return float64(r.Errors+r.Dropped) / float64(max(r.Requests, 1))
}

// Judge explains one policy's result.
func Judge(r Report, algorithm string) Verdict {
	v := Verdict{Algorithm: algorithm, Rule: NothingPlayed, Findings: []Finding{finding(nothingWasPlayed)}}
	for i, result := range r.Results {
		if result.Algorithm == algorithm && result.Requests > 0 {
			v = judge(newReading(r, i))
			break
		}
	}
	v.Text = English.Paragraph(v.Findings)
	return v
}

// judge asks all rules. The first that applies speaks, and after it in one
// clause the strongest other fault; where that is the stronger of the two, it
// speaks first.
func judge(r reading) Verdict {
	var list []diagnosis
	for _, rule := range rules {
		if d := rule(r); len(d.findings) > 0 {
			list = append(list, d)
		}
	}
	first, second := list[0], r.second(list)
	if second != nil && second.rule != CapRefuses && first.brief != nil && second.strength > first.strength {
		weaker := first
		first, second = *second, &weaker
	}
	v := Verdict{Algorithm: r.Algorithm, Rule: first.rule, Backend: first.backend, Findings: first.findings}
	if second == nil {
		v.Findings = slices.Concat(v.Findings, first.others, first.after)
	} else {
		v.Second = second.rule
		v.Findings = slices.Concat(v.Findings, first.after, []Finding{finding(also, inner("what", *second.brief))})
	}
	if r.cancelled {
		v.Findings = append(v.Findings, finding(wasStopped))
	}
	return v
}

// Below this share of the attempts a second fault is not worth a sentence.
const worthSaying = 0.02

// second is the strongest fault that acts beside the first diagnosis, or nil.
func (r reading) second(list []diagnosis) *diagnosis {
	first := list[0]
	if first.brief == nil && first.rule != EjectionWorked {
		return nil
	}
	var most *diagnosis
	for i := range list[1:] {
		d := &list[1+i]
		if d.brief != nil && d.strength >= worthSaying && r.apart(first, *d) && (most == nil || d.strength > most.strength) {
			most = d
		}
	}
	return most
}

// apart says whether two faults are two: not one the consequence of the other,
// and not said with it already.
func (r reading) apart(a, b diagnosis) bool {
	pair := func(x, y Rule) bool { return a.rule == x && b.rule == y }
	switch {
	case b.backend != "" && a.backend == b.backend, b.rule == CapRefuses && a.says(theCapRefused, theCapRefusedOne):
		return false
	case pair(RetriesAmplify, FaultyBackend), pair(RetriesAmplify, PoolOverloaded), pair(RetriesAmplify, BackendOverloaded):
		return false // the fault is said with the retries, and the load is theirs
	case pair(PoolOverloaded, BackendOverloaded), pair(PoolOverloaded, RequestsDropped), pair(BackendOverloaded, RequestsDropped):
		return false // the same load
	case b.rule == RequestsDropped:
		return a.rule == FailingBackend && r.scenario.MaxInflight > 0
	}
	return true
}

func (d diagnosis) says(kinds ...Kind) bool {
	return slices.ContainsFunc(d.findings, func(f Finding) bool { return slices.Contains(kinds, f.Kind) })
}
