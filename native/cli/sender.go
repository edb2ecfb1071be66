package cli

import (
	"fmt"

	"minilb/core/scenario"
	"minilb/core/sim"
)

// sent is what a link says of its sender's result, and the scenario that it
// was for.
type sent struct {
	stamp scenario.Stamp
	link  string
}

// stampOf is what a reader of the link compares with: of one whole run, since
// a study's figures are no run's.
func stampOf(result outcome) scenario.Stamp {
	report, ok := result.(sim.Report)
	if !ok || report.Cancelled {
		return scenario.Stamp{}
	}
	return scenario.Stamp{Engine: scenario.Engine, Digest: report.Digest()}
}

// compare says whether the result is what the link's sender saw. A scenario
// that flags have changed since has nothing to compare with.
func (j *job) compare(result outcome) {
	ours := stampOf(result)
	if ours.Digest == "" || scenario.Encode(j.scenario) != j.sent.link {
		return
	}
	if words := sender(j.sent.stamp, ours); words != "" {
		j.say("%s", words)
	}
}

// sender compares a link's stamp with ours, in words.
func sender(theirs, ours scenario.Stamp) string {
	switch {
	case theirs.Digest == ours.Digest:
		return "same result as the sender"
	case theirs.Engine > 0 && theirs.Engine != ours.Engine:
		return fmt.Sprintf("the engine has changed since the sender saw a result: it was version %d, this is %d", theirs.Engine, ours.Engine)
	case theirs.Digest != "":
		return fmt.Sprintf("not the sender's result: that was %s, this is %s; the link was changed by hand, or the engine has changed since", theirs.Digest, ours.Digest)
	}
	return ""
}
