package sim

// A Verdict says in words what one policy made of a scenario and why: which
// backend, which mechanism, which number. It is computed from the report alone.
type Verdict struct {
	Algorithm string
	Rule      Rule   // which rule spoke, for a page that offers a remedy
	Backend   string // whom it is about; empty when it is about the pool
	Text      string // one to four sentences
}

// A Rule names what was found.
type Rule string

// The rules, in the order in which they are asked; the first that applies speaks.
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
	NothingWrong      Rule = "nothing-wrong"
)

// A diagnosis is one rule: it says its sentences and names a backend, or says
// nothing.
type diagnosis struct {
	rule Rule
	say  func(reading) (text, backend string)
}

var diagnoses = []diagnosis{
	{NothingAnswered, reading.nothingAnswered},
	{HealthCheckLies, reading.healthCheckLies},
	{FailingBackend, reading.failingBackend},
	{DependencyDown, reading.dependencyDown},
	{RetriesAmplify, reading.retriesAmplify},
	{FaultyBackend, reading.faultyBackend},
	{EjectionWorked, reading.ejectionWorked},
	{PoolOverloaded, reading.poolOverloaded},
	{BackendOverloaded, reading.backendOverloaded},
	{RequestsDropped, reading.requestsDropped},
	{NothingWrong, reading.nothingWrong},
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
	for i, result := range r.Results {
		if result.Algorithm == algorithm && result.Requests > 0 {
			return judge(newReading(r, i))
		}
	}
	return Verdict{Algorithm: algorithm, Rule: NothingPlayed, Text: "Nothing was played."}
}

func judge(r reading) Verdict {
	for _, d := range diagnoses {
		if text, backend := d.say(r); text != "" {
			if r.cancelled {
				text += " The run was stopped before its end."
			}
			return Verdict{Algorithm: r.Algorithm, Rule: d.rule, Backend: backend, Text: text}
		}
	}
	panic("sim: no rule applies") // the last one always does
}
