package sim

import "minilb/core/stat"

// The streams of chance: what a draw is for. A number is never reused and
// never changed, or old links would give other results.
const (
	forArrival      = 1 // gap before a request
	forKey          = 2 // the request's key
	forPick         = 3 // the policy's choice, by attempt
	forService      = 4 // unit service draw, by attempt
	forError        = 5 // whether the answer is an error, by attempt
	forBackoff      = 6 // wait before a retry, by attempt
	forProbeService = 7 // by backend and probe
	forProbeError   = 8 // by backend and probe
	forPhases       = 9 // spread of the probes

	forThinning      = 10 // whether a candidate for an arrival is one
	forThink         = 11 // time between an answer and a closed client's next request
	forMethod        = 12 // whether a request is a POST
	forUser          = 13 // who sends it
	forCookie        = 14 // by user: whether it keeps cookies
	forBalancer      = 15 // which balancer a request goes to, by the client's try
	forProbeLoss     = 16 // by backend and probe
	forDependency    = 17 // whether a request needs the dependency
	forClientBackoff = 18 // wait before a client's retry, by its try
)

// chance draws for one run.
type chance uint64

func (c chance) word(stream, index, attempt uint64) uint64 {
	return stat.Word(uint64(c), stream, index, attempt)
}

// of is the draws of one stream and attempt, for many of them.
func (c chance) of(stream, attempt uint64) stat.Stream {
	return stat.StreamOf(uint64(c), stream, attempt)
}
