package sim

import "time"

// nothingAnswered speaks when every request was turned away.
func (r reading) nothingAnswered() diagnosis {
	d := diagnosis{rule: NothingAnswered}
	if r.Completed == 0 {
		d.findings = []Finding{finding(allDropped, Counted("n", r.Requests))}
	}
	return d
}

// failingBackend is the incident of Monday 09:10: one backend answers with errors and
// nothing takes it out.
func (r reading) failingBackend() diagnosis {
	b, d := r.failing(), diagnosis{rule: FailingBackend}
	if b.fails()*b.share == 0 || failed(r.Result) < 0.005 || r.Ejections > 0 && failed(r.Result) < 0.05 {
		return d
	}
	lasting := during(b.ErrorsAfter, b.RecoverAt)
	d.backend = b.Name
	d.findings = []Finding{
		finding(sendsToFailing, Named("policy", r.Algorithm), Measured("share", AsShare, b.share), r.noun(), Named("backend", b.Name),
			whole("which", b.Errors, allOfThem, someOfThem), lasting, Measured("takes", AsMillis, b.errorTakes()), r.attraction(b)),
		finding(someFail, r.failures()...), r.whyNotEjected(),
	}
	d.others = r.otherShares(b.Name)
	if lie, lies := r.healthCheckLies(b); lies {
		d.rule, d.after = HealthCheckLies, []Finding{lie}
	}
	brief := finding(answersErrors, Named("backend", b.Name), whole("which", b.Errors, allOfIts, someOfIts), lasting)
	d.brief, d.strength = &brief, b.share*b.fails()*r.part(b.ErrorsAfter, b.RecoverAt)
	return d
}

// healthCheckLies is the same with checks that do not notice: they ask whether
// the process runs, not whether requests work.
func (r reading) healthCheckLies(b site) (Finding, bool) {
	switch {
	case r.scenario.CheckInterval == 0 || b.result.Detection != nil:
		return Finding{}, false
	case b.Health == "process":
		return finding(checksProcess, Named("backend", b.Name)), true
	}
	return finding(onlyConnects), r.scenario.CheckType == "tcp"
}

// dependencyDown speaks when what all backends need is away.
func (r reading) dependencyDown() diagnosis {
	w, d := r.scenario.DependencyDown, diagnosis{rule: DependencyDown}
	if !w.On() || w.From > r.lasts() || failed(r.Result) < 0.005 {
		return d
	}
	is := finding(dependencyIsDown, during(w.From, w.To))
	d.findings = []Finding{is, r.under(r.consequence())}
	d.brief, d.strength = &is, r.part(w.From, w.To)*r.scenario.DependencyShare
	return d
}

// faultyBackend speaks of what goes wrong with a backend during the run: of
// several, with that which spoils the most attempts.
func (r reading) faultyBackend() diagnosis { return r.faulty(0) }

// secondFaultyBackend speaks of the next one.
func (r reading) secondFaultyBackend() diagnosis { return r.faulty(1) }

func (r reading) faulty(place int) diagnosis {
	d := diagnosis{rule: FaultyBackend}
	worst := r.faults()[place]
	if worst.what == nil {
		return d
	}
	b, is := worst.site, finding(faultIs, Named("backend", worst.Name), inner("what", *worst.what))
	d.backend, d.brief, d.strength = b.Name, &is, worst.strength
	d.findings = []Finding{is, r.under(r.consequence())}
	if at := b.result.Detection; at != nil {
		d.findings = append(d.findings, finding(wasDetected, Named("backend", b.Name), Measured("s", AsDigits3, *at)))
	}
	if r.Ejections > 0 {
		d.findings = append(d.findings, finding(wereEjected, Counted("n", r.Ejections)))
	}
	d.others = r.tails()
	return d
}

// A fault is what goes wrong with one backend.
type fault struct {
	site
	what     *Finding // nil is none
	strength float64
}

// faults are the two strongest of the run.
func (r reading) faults() (worst [2]fault) {
	for _, b := range r.sites() {
		what, from, to := b.fault()
		if what == nil || from >= r.lasts() {
			continue
		}
		f := fault{b, what, b.spoils() * r.part(from, to)}
		switch {
		case worst[0].what == nil || f.strength > worst[0].strength:
			worst[0], worst[1] = f, worst[0]
		case worst[1].what == nil || f.strength > worst[1].strength:
			worst[1] = f
		}
	}
	return worst
}

// fault is the worst that goes wrong with a backend, and when.
func (b site) fault() (what *Finding, from, to time.Duration) {
	is := func(k Kind, from, to time.Duration, parts ...Part) (*Finding, time.Duration, time.Duration) {
		f := finding(k, append(parts, during(from, to))...)
		return &f, from, to
	}
	switch {
	case b.CrashAt > 0:
		return is(isDown, b.CrashAt, b.RecoverAt)
	case b.HangAt > 0:
		return is(doesNotAnswer, b.HangAt, b.RecoverAt)
	case b.StallAt > 0:
		return is(doesNotWork, b.StallAt, ends(b.StallAt+b.StallFor, b.RecoverAt))
	case b.SlowFactor > 1:
		return is(isSlower, b.SlowAfter, ends(b.SlowUntil, b.RecoverAt), Measured("factor", AsDigits3, b.SlowFactor))
	case b.Health == "flag" && b.Errors > 0:
		return is(checkFails, b.ErrorsAfter, b.RecoverAt)
	}
	return nil, 0, 0
}

// ejectionWorked is the incident mended.
func (r reading) ejectionWorked() diagnosis {
	d := diagnosis{rule: EjectionWorked}
	if r.Ejections == 0 {
		return d
	}
	b := r.failing()
	if b.fails() == 0 || !r.onlyFailing() {
		d.findings = []Finding{finding(underEjected, Named("policy", r.Algorithm), Counted("n", r.Ejections), inner("what", r.consequence()))}
		return d
	}
	d.backend = b.Name
	d.findings = []Finding{finding(underOneEjected, Named("policy", r.Algorithm), Named("backend", b.Name), Counted("n", r.Ejections),
		Measured("share", AsShare, b.share), r.noun(), inner("what", finding(someFail, r.failures()...)))}
	return d
}

// retriesAmplify speaks when retries multiply the load.
func (r reading) retriesAmplify() diagnosis {
	d, factor := diagnosis{rule: RetriesAmplify}, r.perRequest()
	if factor < 1.5 {
		return d
	}
	brief := finding(retriesMakeMany, Measured("factor", AsDigits2, factor))
	d.brief, d.strength = &brief, 1-1/factor
	if !r.steady() {
		if f := r.faultyBackend(); f.brief != nil {
			d.findings = append(d.findings, *f.brief)
		}
		d.findings = append(d.findings, finding(retriesMake, Measured("factor", AsDigits2, factor), Named("policy", r.Algorithm)), r.consequence())
		return d
	}
	turn := finding(retriesTurn, Measured("rate", AsRate, r.scenario.Rate), Measured("attempts", AsRate, r.attempted()), Named("policy", r.Algorithm), Measured("factor", AsDigits2, factor))
	if r.attempted() > r.poolServes() {
		turn.Parts = append(turn.Parts, inner("burden", finding(moreThanServes, Measured("can", AsRate, r.poolServes()))))
	}
	d.findings = []Finding{turn, r.consequence()}
	return d
}

// A load is called overload from overloadFrom on: nearer to 1, the length of a run
// decides what becomes of the queues. From limitFrom on it is worth a word.
const (
	limitFrom    = 0.95
	overloadFrom = 1.01
)

// poolOverloaded speaks when no policy could help.
func (r reading) poolOverloaded() diagnosis {
	can, gets, d := r.poolServes(), r.attempted(), diagnosis{rule: PoolOverloaded}
	load := gets / can
	if load < limitFrom || !r.steady() {
		return d
	}
	said := finding(poolAtLimit, Measured("load", AsShare, load), Measured("can", AsRate, can))
	if load >= overloadFrom {
		said = finding(poolOver, Measured("can", AsRate, can), Measured("gets", AsRate, gets))
		brief := finding(poolGets, said.Parts...)
		d.brief, d.strength = &brief, 1-1/load
	}
	d.findings, d.others = []Finding{said, r.under(r.consequence())}, r.tails()
	return d
}

// backendOverloaded speaks when the policy sends one backend more than it can do
// while the others have room.
func (r reading) backendOverloaded() diagnosis {
	b, d := r.busiest(), diagnosis{rule: BackendOverloaded}
	load := b.load()
	if load < limitFrom || !r.steady() {
		return d
	}
	parts := []Part{Named("backend", b.Name), Measured("can", AsRate, b.serves), Measured("gets", AsRate, b.gets), Measured("load", AsShare, load), Named("policy", r.Algorithm)}
	said := finding(backendAtLimit, parts...)
	if load >= overloadFrom {
		brief := finding(backendGets, parts...)
		d.brief, d.strength = &brief, b.share*(1-1/load)
		if r.queues(b) {
			parts = append(parts, inner("why", finding(queueGrows)))
		}
		said = finding(backendOver, parts...)
	}
	d.backend, d.findings, d.others = b.Name, []Finding{said, r.consequence()}, r.otherTails(b.Name)
	return d
}

// requestsDropped speaks when a limit turns requests away.
func (r reading) requestsDropped() diagnosis {
	d := diagnosis{rule: RequestsDropped}
	if r.Dropped*100 < r.Requests {
		return d
	}
	parts := []Part{Counted("dropped", r.Dropped), Counted("n", r.Requests), Named("policy", r.Algorithm)}
	brief := finding(dropped, parts...)
	d.findings, d.brief, d.strength = []Finding{finding(areDropped, parts...)}, &brief, float64(r.Dropped)/float64(r.Requests)
	return d
}

// capRefuses speaks beside another fault, when that goes on because the cap lets
// nobody be ejected.
func (r reading) capRefuses() diagnosis {
	d := diagnosis{rule: CapRefuses}
	if r.EjectionsRefused > r.Ejections {
		why := r.whyNotEjected()
		d.findings, d.brief, d.strength = []Finding{why}, &why, failed(r.Result)
	}
	return d
}

// nothingWrong says the figure that matters.
func (r reading) nothingWrong() diagnosis {
	fail := finding(noneFails)
	if r.Errors+r.Dropped > 0 {
		fail = finding(someFail, r.failures()...)
	}
	d := diagnosis{rule: NothingWrong, others: r.tails()}
	d.findings = []Finding{finding(answersWithin, Named("policy", r.Algorithm), Measured("p99", AsMillis, r.Latency.P99), inner("what", fail))}
	if r.steady() {
		b := r.busiest()
		d.backend = b.Name
		d.findings = append(d.findings, finding(theBusiest, Named("backend", b.Name), Measured("load", AsShare, b.load())))
	}
	return d
}
