package sim

// A Finding is one statement of a verdict before it is put into words: what kind it is, and the names and numbers that it
// is about. The command line puts it into English; a page may know another language.
type Finding struct {
	Kind  Kind   `json:"kind"`
	Parts []Part `json:"parts,omitempty"`
}

// A Part fills a place of a kind's template: a name, a number, or what other findings say.
type Part struct {
	Place  string    `json:"place"`
	As     Form      `json:"as,omitempty"`
	Name   string    `json:"name,omitempty"`
	Number float64   `json:"number,omitempty"`
	Inner  []Finding `json:"inner,omitempty"`
}

// A Form is how a number is written.
type Form string

// The forms. A part without one is a name or what others say.
const (
	AsCount   Form = "count"
	AsShare   Form = "share"   // of one: 56%
	AsPercent Form = "percent" // of a hundred, with the digits that it has
	AsMillis  Form = "ms"      // 265 ms, 10 s
	AsRate    Form = "rate"    // 40/s
	AsInstant Form = "instant" // 5 s
	AsDigits3 Form = "digits3"
	AsDigits2 Form = "digits2"
)

// finding and what makes parts are not inlined: a page loads this code, and is called a few times in a run.
//
//go:noinline
func finding(k Kind, parts ...Part) Finding { return Finding{k, parts} }

// Named is a name.
//
//go:noinline
func Named(place, name string) Part { return Part{Place: place, Name: name} }

// Counted is a number of things.
//
//go:noinline
func Counted(place string, n int) Part { return Part{Place: place, As: AsCount, Number: float64(n)} }

// Measured is a number in a form.
//
//go:noinline
func Measured(place string, as Form, v float64) Part { return Part{Place: place, As: as, Number: v} }

//go:noinline
func inner(place string, findings ...Finding) Part { return Part{Place: place, Inner: findings} }

// A Kind is what a finding states.
type Kind string

// The kinds. Those of the second group stand inside others.
const (
	nothingWasPlayed Kind = "nothing-was-played"
	allDropped       Kind = "all-dropped"
	sendsToFailing   Kind = "sends-to-failing"
	someFail         Kind = "some-fail"
	checksProcess    Kind = "checks-process"
	onlyConnects     Kind = "only-connects"
	ejectionOff      Kind = "ejection-off"
	ejectedNobody    Kind = "ejected-nobody"
	didNotKeepOut    Kind = "did-not-keep-out"
	theCapRefused    Kind = "cap-refused"
	theCapRefusedOne Kind = "cap-refused-one"
	otherShares      Kind = "other-shares"
	otherTails       Kind = "other-tails"
	theTails         Kind = "tails"
	dependencyIsDown Kind = "dependency-is-down"
	underPolicy      Kind = "under-policy"
	faultIs          Kind = "fault"
	wasDetected      Kind = "detected"
	wereEjected      Kind = "were-ejected"
	underEjected     Kind = "under-ejected"
	underOneEjected  Kind = "under-one-ejected"
	retriesMake      Kind = "retries-make"
	retriesTurn      Kind = "retries-turn"
	poolAtLimit      Kind = "pool-at-limit"
	poolOver         Kind = "pool-over"
	backendAtLimit   Kind = "backend-at-limit"
	backendOver      Kind = "backend-over"
	areDropped       Kind = "are-dropped"
	answersWithin    Kind = "answers-within"
	theBusiest       Kind = "busiest"
	wasStopped       Kind = "was-stopped"
	also             Kind = "also"

	ofRequests      Kind = "of-requests"
	ofAttempts      Kind = "of-attempts"
	allOfThem       Kind = "all-of-them"
	someOfThem      Kind = "some-of-them"
	allOfIts        Kind = "all-of-its"
	someOfIts       Kind = "some-of-its"
	fromTo          Kind = "from-to"
	fromOn          Kind = "from-on"
	until           Kind = "until"
	looksIdle       Kind = "looks-idle"
	looksFast       Kind = "looks-fast"
	noneFails       Kind = "none-fails"
	failAndTail     Kind = "fail-and-tail"
	onlyTail        Kind = "only-tail"
	sendsIt         Kind = "sends-it"
	sendsItToo      Kind = "sends-it-too"
	sendsItTail     Kind = "sends-it-tail"
	hasTail         Kind = "has-tail"
	isDown          Kind = "is-down"
	doesNotAnswer   Kind = "does-not-answer"
	doesNotWork     Kind = "does-not-work"
	isSlower        Kind = "is-slower"
	checkFails      Kind = "check-fails"
	moreThanServes  Kind = "more-than-serves"
	queueGrows      Kind = "queue-grows"
	answersErrors   Kind = "answers-errors"
	retriesMakeMany Kind = "retries-make-many"
	poolGets        Kind = "pool-gets"
	backendGets     Kind = "backend-gets"
	dropped         Kind = "dropped"
)

// A Template is a kind's English: text with places in braces. {n} is what its part says, {n?one|many} the word that goes
// with its number, in which # is the number, and {list+, } its findings with that between them.
type Template struct {
	Kind    Kind
	English string
}

// Templates is the English of every kind, for a test of another language to range over.
var Templates = []Template{
	{nothingWasPlayed, "Nothing was played"},
	{allDropped, "No backend could take any of the {n?# request|# requests}: all were dropped"},
	{sendsToFailing, "{policy} sends {share} of {noun} to {backend}, which answers {which} with errors{during} that take it {takes}{why}"},
	{someFail, "{failed} of {n?# request|# requests} {failed?fails|fail}"},
	{checksProcess, "the health check of {backend} tests its process, not whether requests work"},
	{onlyConnects, "the health check only connects, and does not ask whether requests work"},
	{ejectionOff, "ejection is off"},
	{ejectedNobody, "ejection is on and ejected nobody"},
	{didNotKeepOut, "{n?# ejection|# ejections} did not keep it out"},
	{theCapRefused, "the cap of {cap} refused {n?# ejection|# ejections}"},
	{theCapRefusedOne, "the cap of {cap} refused {n?# ejection|# ejections}: one of {backends?# backend|# backends} would be {one}"},
	{otherShares, "{list+, }"},
	{otherTails, "{list+; }"},
	{theTails, "{list+; }"},
	{dependencyIsDown, "the dependency that all backends share is down{during}"},
	{underPolicy, "under {policy} {what}"},
	{faultIs, "{backend} {what}"},
	{wasDetected, "{backend} got requests for another {s} s"},
	{wereEjected, "backends are ejected {n?once|twice|# times}"},
	{underEjected, "under {policy} backends are ejected {n?once|twice|# times}: {what}"},
	{underOneEjected, "under {policy} {backend} is ejected {n?once|twice|# times}: it gets {share} of {noun}, and {what}"},
	{retriesMake, "retries make {factor} attempts of each request under {policy}"},
	{retriesTurn, "retries turn {rate} into {attempts} under {policy}: {factor} attempts for each request{burden}"},
	{poolAtLimit, "the pool gets {load} of the {can} that it can serve"},
	{poolOver, "the pool can serve {can} and gets {gets}: no policy mends that"},
	{backendAtLimit, "{backend} gets {load} of the {can} that it can serve under {policy}"},
	{backendOver, "{backend} can serve {can} and gets {gets} under {policy}{why}"},
	{areDropped, "{dropped} of {n?# request|# requests} are dropped under {policy}: no backend could take them"},
	{answersWithin, "{policy} answers 99% of requests within {p99} and {what}"},
	{theBusiest, "the busiest backend, {backend}, gets {load} of what it can serve"},
	{wasStopped, "the run was stopped before its end"},
	{also, "also, {what}"},

	{ofRequests, "requests"},
	{ofAttempts, "attempts"},
	{allOfThem, "all of them"},
	{someOfThem, "{share} of them"},
	{allOfIts, "all of its requests"},
	{someOfIts, "{share} of its requests"},
	{fromTo, " from {from} to {to}"},
	{fromOn, " from {from} on"},
	{until, " until {to}"},
	{looksIdle, ": it looks the least busy"},
	{looksFast, ": it looks the fastest"},
	{noneFails, "none fails"},
	{failAndTail, "{failed} of {n?# request|# requests} {failed?fails|fail}, and p99 is {p99}"},
	{onlyTail, "p99 is {p99}"},
	{sendsIt, "{policy} sends it {share}"},
	{sendsItToo, "{policy} {share}"},
	{sendsItTail, "{policy} sends it {share} and has a p99 of {p99}"},
	{hasTail, "{policy} has a p99 of {p99}"},
	{isDown, "is down{during}"},
	{doesNotAnswer, "accepts requests and does not answer{during}"},
	{doesNotWork, "does not work{during}"},
	{isSlower, "is {factor} times slower{during}"},
	{checkFails, "answers its requests, but its health check fails{during}"},
	{moreThanServes, ", more than the {can} that the pool can serve"},
	{queueGrows, ": its queue grows as long as requests arrive"},
	{answersErrors, "{backend} answers {which} with errors{during}"},
	{retriesMakeMany, "retries make {factor} attempts of each request"},
	{poolGets, "the pool can serve {can} and gets {gets}"},
	{backendGets, "{backend} can serve {can} and gets {gets}"},
	{dropped, "{dropped} of {n?# request|# requests} are dropped"},
}

// templateOf is a kind's English. A kind without one is a mistake in this file.
func templateOf(k Kind) string {
	for i := range Templates {
		if Templates[i].Kind == k {
			return Templates[i].English
		}
	}
	panic("sim: no template for " + string(k))
}
