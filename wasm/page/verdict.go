package page

// Sentence is what the page says of a policy's run: core's verdict, in the page's language.
func (o Outcome) Sentence(policy string) string {
	return o.Words.tongue().Paragraph(o.Verdict(policy).Findings)
}

// bestOf is the policy that improves most on these figures, or they themselves.
func bestOf(o Outcome, f Figures) Figures {
	best := f
	for _, other := range o.Results {
		if improves(other, best) {
			best = other
		}
	}
	return best
}

// improves is true of clearly fewer failed requests, or of as few and a p99 that is at least twice as low: less than
// that is not worth changing a policy for.
func improves(a, b Figures) bool {
	if a.Completed == 0 {
		return false
	}
	if b.Failed() > 0.01 && a.Failed() < b.Failed()/1.25 {
		return true
	}
	return a.Failed() <= b.Failed()*1.02 && a.Latency.P99 < b.Latency.P99/2
}
