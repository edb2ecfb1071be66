package page

import (
	"minilb/core/sim"
)

// A Digest is what the page needs of a report beside its JSON and its series. It is made where the report is, in the
// worker, so that the page never has to hold one.
type Digest struct {
	Verdicts []sim.Verdict `json:"verdicts"` // one for each policy
	Courses  []Course      `json:"courses"`
}

// A Course is what happened to the backends under one policy, and how long its answers took.
type Course struct {
	Transcript Transcript   `json:"transcript"`
	Spans      []Span       `json:"spans"`
	Curve      [][2]float64 `json:"curve"` // share of the answers, and the milliseconds they took at most
}

// DigestOf reads a report.
func DigestOf(r sim.Report) Digest {
	var d Digest
	for _, result := range r.Results {
		c := Course{Transcript: Record(result.Events), Spans: Spans(r.Scenario, result.Events), Curve: [][2]float64{}}
		for _, q := range result.Curve {
			c.Curve = append(c.Curve, [2]float64{q.Q, q.MS})
		}
		d.Verdicts = append(d.Verdicts, sim.Judge(r, result.Algorithm))
		d.Courses = append(d.Courses, c)
	}
	return d
}

// Verdict is what core says of one policy; it has no findings when that did not run.
func (o Outcome) Verdict(policy string) sim.Verdict {
	for _, v := range o.Verdicts {
		if v.Algorithm == policy {
			return v
		}
	}
	return sim.Verdict{}
}
