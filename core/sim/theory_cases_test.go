//go:build !race

package sim

// single is a backend with one worker; plant is what the experiments with a
// stall have in common.
const (
	single = "=1000,capacity=1"
	plant  = "=100,capacity=30,stall_at=20,stall_for=10"
)

const million = 1_000_000

var theoryCases = []theoryCase{
	// Erlang's formulas.
	{name: "M/M/1", policy: "first", backends: single, n: 1, load: 0.9, requests: 5 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanWait, 9, 0), is(theP99Time, 46.05, 0.006)}},
	{name: "M/M/1", policy: "first", backends: single, n: 1, load: 0.9, requests: million, figures: busyness,
		checks: []theoryCheck{is(theWaits, 0.9, 0)}},
	{name: "M/M/4", policy: "first", backends: "=1000,capacity=4", n: 1, load: 0.8, requests: 2 * million, short: 60_000, figures: steadyState,
		checks: []theoryCheck{is(theMeanWait, 0.7455, 0), is(theP99Time, 6.893, 0.006)}},
	{name: "M/M/4", policy: "first", backends: "=1000,capacity=4", n: 1, load: 0.8, requests: million, short: 60_000, figures: busyness,
		checks: []theoryCheck{is(theWaits, 0.5964, 0)}},
	{name: "M/M/8", policy: "first", backends: "=1000,capacity=8", n: 1, load: 0.9, requests: 4 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanWait, 0.8769, 0), is(theP99Time, 7.087, 0.006)}},
	{name: "M/M/8", policy: "first", backends: "=1000,capacity=8", n: 1, load: 0.9, requests: million, figures: busyness,
		checks: []theoryCheck{is(theWaits, 0.7015, 0)}},
	{name: "M/M/4/4, no queue", policy: "first", backends: "=1000,capacity=4", n: 1, load: 1, params: []string{"max-inflight=4"},
		requests: million, short: 40_000, figures: steadyState, checks: []theoryCheck{is(theLost, 0.31068, 0)}},

	// Pollaczek and Khinchine: the wait grows with the variance of service.
	{name: "M/G/1, constant", policy: "first", backends: single + ",service=constant", n: 1, load: 0.9, requests: 2 * million, short: 200_000,
		figures: steadyState, checks: []theoryCheck{is(theMeanWait, 4.5, 0)}},
	{name: "M/G/1, lognormal of cv 2", policy: "first", backends: single + ",service=lognormal,cv=2", n: 1, load: 0.9, requests: 8 * million,
		figures: steadyState, checks: []theoryCheck{is(theMeanWait, 22.5, 0)}},
	{name: "M/G/1, bimodal of cv 2", policy: "first", backends: single + ",service=bimodal,cv=2", n: 1, load: 0.9, requests: 5 * million,
		figures: steadyState, checks: []theoryCheck{is(theMeanWait, 22.5, 0)}},

	// Turns: each backend is an Erlang-n/M/1 queue.
	{name: "turns", policy: "round_robin", backends: single, n: 2, load: 0.9, requests: 3 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 7.588, 0)}},
	{name: "turns", policy: "round_robin", backends: single, n: 10, load: 0.9, requests: 3 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 5.660, 0)}},

	// The shorter of two queues, its balance equations solved to six digits; two choices of two are the same.
	{name: "shortest queue of 2", policy: "least_conn", backends: single, n: 2, load: 0.5, requests: million, short: 40_000, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 1.42632, 0)}},
	{name: "shortest queue of 2", policy: "least_conn", backends: single, n: 2, load: 0.9, requests: 3 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 5.47491, 0)}},
	{name: "two choices of 2", policy: "p2c", backends: single, n: 2, load: 0.5, requests: million, short: 40_000, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 1.42632, 0)}},
	{name: "two choices of 2", policy: "p2c", backends: single, n: 2, load: 0.9, requests: 5 * million, seeds: 20, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 5.47491, 0)}},

	// Two choices of a hundred single servers (Mitzenmacher; finite, without replacement).
	{name: "two choices of 100", policy: "p2c", backends: single, n: 100, load: 0.5, requests: million, short: 40_000, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 1.2667, 0.0008)}},
	{name: "two choices of 100", policy: "p2c", backends: single, n: 100, load: 0.7, requests: 2 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 1.620, 0.0015)}},
	{name: "two choices of 100", policy: "p2c", backends: single, n: 100, load: 0.9, requests: 3 * million, short: 60_000, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 2.636, 0.003)}},
	{name: "two choices of 100", policy: "p2c", backends: single, n: 100, load: 0.95, requests: 5 * million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 3.463, 0.003)}},
	{name: "three choices of 100", policy: "p2c", backends: single, n: 100, load: 0.9, params: []string{"choices=3"}, requests: million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 2.062, 0.003)}},
	{name: "shortest queue of 100", policy: "least_conn", backends: single, n: 100, load: 0.9, requests: million, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 1.07, 0.005)}},

	// Counts that are stale, or one balancer's own.
	{name: "counts refreshed every 1 s", policy: "p2c", backends: single, n: 100, load: 0.9, params: []string{"stale=1"}, requests: million / 2, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 2.95, 0.05)}},
	{name: "counts refreshed every 5 s", policy: "p2c", backends: single, n: 100, load: 0.9, params: []string{"stale=5"}, requests: million / 2, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 3.98, 0.05)}},
	{name: "counts refreshed every 1 s", policy: "least_conn", backends: single, n: 100, load: 0.9, params: []string{"stale=1"}, requests: million / 4, figures: steadyState,
		checks: []theoryCheck{above(theMeanTime, 2.95)}},
	{name: "counts refreshed every 5 s", policy: "least_conn", backends: single, n: 100, load: 0.9, params: []string{"stale=5"}, requests: million / 4, figures: steadyState,
		checks: []theoryCheck{above(theMeanTime, 2.5*3.98)}},
	{name: "10 balancers", policy: "p2c", backends: single, n: 100, load: 0.9, params: []string{"balancers=10"}, requests: million / 2, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 4.20, 0.05)}},
	{name: "10 balancers", policy: "least_conn", backends: single, n: 100, load: 0.9, params: []string{"balancers=10"}, requests: million / 2, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 3.65, 0.05)}},
	{name: "50 balancers", policy: "p2c", backends: single, n: 100, load: 0.9, params: []string{"balancers=50"}, requests: million / 2, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 6.16, 0.05)}},
	{name: "50 balancers", policy: "least_conn", backends: single, n: 100, load: 0.9, params: []string{"balancers=50"}, requests: million / 2, figures: steadyState,
		checks: []theoryCheck{is(theMeanTime, 6.19, 0.05)}},

	// The incident: who fails fast attracts.
	{name: "a backend fails fast", policy: "round_robin", params: incident, requests: 50_000, figures: steadyState,
		checks: []theoryCheck{is(theLastShare, 1.0/3, 0.001)}},
	{name: "a backend fails fast", policy: "p2c", params: incident, requests: 50_000, figures: steadyState,
		checks: []theoryCheck{is(theLastShare, 0.50, 0.02)}},
	{name: "a backend fails fast", policy: "least_conn", params: incident, requests: 50_000, short: 5000, figures: steadyState,
		checks: []theoryCheck{is(theLastShare, 0.56, 0.02)}},
	{name: "it is ejected", policy: "round_robin", params: ejecting, requests: 50_000, figures: steadyState, checks: []theoryCheck{below(theLastShare, 0.01)}},
	{name: "it is ejected", policy: "p2c", params: ejecting, requests: 50_000, figures: steadyState, checks: []theoryCheck{below(theLastShare, 0.01)}},
	{name: "it is ejected", policy: "least_conn", params: ejecting, requests: 50_000, short: 5000, figures: steadyState, checks: []theoryCheck{below(theLastShare, 0.01)}},

	// A stall of ten seconds: what recovers, and what its own retries keep down. With r attempts per request all of
	// which time out, the backlog of 10 s × r × rate shrinks by 300/s - r × rate: never from 300/r on. Of 320 s, the time to
	// the middle of what is looked at, that leaves rates up to (300 × 320 + 270) / (330 × r), 270 being a backlog that
	// answers in time.
	{name: "stall, no retry, 280/s", policy: "first", backends: plant, n: 1, params: stalling("280", "0", "240", "0"), seeds: 60, figures: recovering,
		checks: []theoryCheck{is(theRecovery, 130, 0.1)}},
	{name: "stall, no retry, 280/s", policy: "first", backends: plant, n: 1, params: stalling("280", "0", "400", "300"), seeds: 20, figures: aftermath,
		checks: []theoryCheck{never(theCollapse)}},
	{name: "stall, one retry, 140/s", policy: "first", backends: plant, n: 1, params: stalling("140", "1", "400", "300"), short: 1, seeds: 20, figures: aftermath,
		checks: []theoryCheck{never(theCollapse), above(theGoodput, 0.98), is(theAmplified, 1, 0.001)}},
	{name: "stall, one retry, 160/s", policy: "first", backends: plant, n: 1, params: stalling("160", "1", "400", "300"), short: 1, seeds: 20, figures: aftermath,
		checks: []theoryCheck{always(theCollapse), below(theGoodput, 0.01), is(theAmplified, 2, 0.001)}},
	{name: "stall, one retry, 200/s", policy: "first", backends: plant, n: 1, params: stalling("200", "1", "400", "300"), seeds: 20, figures: aftermath,
		checks: []theoryCheck{always(theCollapse), below(theGoodput, 0.01), is(theAmplified, 2, 0.001)}},
	{name: "stall, one retry", policy: "first", backends: plant, n: 1, params: stalling("150", "1", "400", "300"), short: 1, few: 3, seeds: 20, figures: threshold(100, 200),
		checks: []theoryCheck{is(theThreshold, 145.9, 0.02)}},
	{name: "stall, two retries", policy: "first", backends: plant, n: 1, params: stalling("100", "2", "400", "300"), seeds: 20, figures: threshold(60, 160),
		checks: []theoryCheck{is(theThreshold, 97.2, 0.02)}},
	{name: "the same, queue of 100, 200/s", policy: "first", backends: plant + ",queue=100", n: 1, params: stalling("200", "1", "240", "0"), figures: recovering,
		checks: []theoryCheck{below(theRecovery, 3)}},
	{name: "the same, queue of 100, 200/s", policy: "first", backends: plant + ",queue=100", n: 1, params: stalling("200", "1", "400", "300"), seeds: 20, figures: aftermath,
		checks: []theoryCheck{never(theCollapse)}},
	{name: "the same, LIFO, 240/s", policy: "first", backends: plant + ",order=lifo", n: 1, params: stalling("240", "1", "400", "300"), seeds: 20, figures: aftermath,
		checks: []theoryCheck{never(theCollapse), above(theGoodput, 0.98)}},
	{name: "balancer's retries, 220/s", policy: "p2c", backends: "=100,capacity=10,stall_at=20,stall_for=10", n: 3, params: budgeted("220"), seeds: 20, figures: aftermath,
		checks: []theoryCheck{never(theCollapse), above(theGoodput, 0.98)}},
	{name: "balancer's retries, 250/s", policy: "p2c", backends: "=100,capacity=10,stall_at=20,stall_for=10", n: 3, params: budgeted("250"), seeds: 20, figures: aftermath,
		checks: []theoryCheck{always(theCollapse), below(theGoodput, 0.01), is(theAmplified, 1.25, 0.005)}},
	{name: "balancer's retries, 20%", policy: "p2c", backends: "=100,capacity=10,stall_at=20,stall_for=10", n: 3, params: budgeted("240"), seeds: 20, figures: threshold(190, 290),
		checks: []theoryCheck{is(theThreshold, 233.4, 0.02)}},

	// Detection is spread evenly between fall-1 and fall intervals, and later by the timeout where probes hang.
	{name: "a crash, fall 3, interval 2 s", policy: "round_robin", params: checked("3", "2", "b=1,crash_at=20"), short: 1, few: 100, seeds: 1000, figures: detecting,
		checks: []theoryCheck{is(theDetection, 5, 0), uniform(theDetection, 4, 6)}},
	{name: "a hang, timeout 0.5 s", policy: "round_robin", params: checked("3", "2", "b=1,hang_at=20"), short: 1, few: 100, seeds: 1000, figures: detecting,
		checks: []theoryCheck{is(theDetection, 5.5, 0), uniform(theDetection, 4.5, 6.5)}},
	{name: "a crash, fall 1, interval 3 s", policy: "round_robin", params: checked("1", "3", "b=1,crash_at=20"), seeds: 400, figures: detecting,
		checks: []theoryCheck{uniform(theDetection, 0, 3)}},
	{name: "a hang, fall 5, interval 1 s", policy: "round_robin", params: checked("5", "1", "b=1,hang_at=20"), seeds: 200, figures: detecting,
		checks: []theoryCheck{is(theDetection, 5, 0), uniform(theDetection, 4.5, 5.5)}},
}

var (
	incident = []string{"backend=a=20", "backend=b=20", "backend=broken=2,errors=1", "rate=150"}
	ejecting = append(incident[:4:4], "consecutive-5xx=5", "max-ejection-percent=34")
)

// stalling is clients who wait a second and then send again at once.
func stalling(rate, retries, duration, warmup string) []string {
	return []string{"rate=" + rate, "client-timeout=1", "client-retries=" + retries, "duration=" + duration, "warmup=" + warmup, "resolution=1"}
}

// checked is a faulty backend beside a good one, both of them probed.
func checked(fall, interval, backend string) []string {
	return []string{"backend=" + backend, "backend=good=1", "rate=400", "duration=27", "client-timeout=2",
		"check-interval=" + interval, "check-timeout=0.5", "check-jitter=1", "fall=" + fall}
}

// budgeted is a balancer that does so in their stead, within a budget.
func budgeted(rate string) []string {
	return []string{"rate=" + rate, "per-try-timeout=1", "retries=1", "retry-on=timeout", "budget-percent=20", "duration=400", "warmup=300"}
}
