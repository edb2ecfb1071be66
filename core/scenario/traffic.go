package scenario

import "time"

// Traffic is what the clients send.
type Traffic struct {
	Rate     float64 `param:"rate" unit:"requests/s" range:"0.001,1000000" slider:"1,1000" scale:"log" default:"150" help:"mean arrival rate of all clients together"`
	Requests int     `param:"requests" unit:"requests" range:"1,100000000" slider:"100,100000" scale:"log" default:"5000" help:"how many requests arrive"`
	Seed     uint64  `param:"seed" default:"1" help:"number from which all chance of the run is drawn"`
	Keys     int     `param:"keys" unit:"keys" range:"1,10000000" slider:"1,100000" scale:"log" default:"1000" help:"how many different keys the hashing policies see" advanced:"true"`
	KeysZipf float64 `param:"keys-zipf" range:"0,10" slider:"0,3" step:"0.05" default:"0" help:"how uneven the keys are: key k comes in proportion to 1/k to this power; 0 = all alike" advanced:"true"`

	Duration   time.Duration `param:"duration" unit:"s" range:"0s,10000h" slider:"0,600" default:"0" help:"how long requests arrive; 0 = until there are as many as requests says" advanced:"true"`
	Warmup     time.Duration `param:"warmup" unit:"s" range:"0s,10000h" slider:"0,60" default:"0" help:"simulated time at the start whose requests are left out of the figures" advanced:"true"`
	Resolution time.Duration `param:"resolution" unit:"s" range:"0s,1h" slider:"0,10" default:"0" help:"length of a window of the time series; 0 = about a hundred windows" advanced:"true"`

	Arrivals  string        `param:"arrivals" choices:"poisson,constant,bursty,ramp,step,daily,closed,trace" default:"poisson" help:"how requests come: at random, evenly, in bursts, in a ramp, a step or a daily wave, from clients that wait for answers, or as recorded" advanced:"true"`
	Peak      float64       `param:"peak" range:"1,100" slider:"1,10" step:"0.1" default:"3" help:"highest rate as a multiple of rate; bursty sends nothing between bursts, so that the mean stays rate" advanced:"true"`
	Period    time.Duration `param:"period" unit:"s" range:"1ms,1000h" slider:"1,120" default:"10" help:"bursty and daily: from one burst, or one night, to the next" advanced:"true"`
	ChangeAt  time.Duration `param:"change-at" unit:"s" range:"0s,1000h" slider:"0,120" default:"10" help:"ramp and step: when the rate begins to change" advanced:"true"`
	ChangeFor time.Duration `param:"change-for" unit:"s" range:"0s,1000h" slider:"0,120" default:"10" help:"ramp: how long the way to the peak takes; step: how long it stays there, 0 = to the end" advanced:"true"`
}

// Clients is what the clients are like and what they do when an answer does
// not come.
type Clients struct {
	PostShare     float64       `param:"post-share" range:"0,1" step:"0.01" default:"0" help:"share of requests that are POSTs, which must not be repeated" advanced:"true"`
	ClientTimeout time.Duration `param:"client-timeout" unit:"s" range:"0s,1h" slider:"0,10" step:"0.1" default:"0" help:"how long a client waits for an answer; 0 = for ever" advanced:"true"`
	ClientRetries int           `param:"client-retries" unit:"retries" range:"0,15" default:"0" help:"how often a client sends again what failed or was not answered in time" advanced:"true"`
	ClientBackoff time.Duration `param:"client-backoff" unit:"s" range:"0s,1h" slider:"0,10" step:"0.1" default:"0" help:"base of the wait before that, drawn at random up to base × 2^n; 0 = at once" advanced:"true"`
	Abandon       string        `param:"abandon" choices:"serve,cancel" default:"serve" help:"what backends do with work that nobody waits for any more: serve it all the same, or drop it" advanced:"true"`
	ClientCount   int           `param:"clients" unit:"clients" range:"1,1000000" slider:"1,1000" scale:"log" default:"20" help:"closed arrivals: how many clients send, each one request at a time" advanced:"true"`
	Think         time.Duration `param:"think" unit:"s" range:"0s,1h" slider:"0,10" step:"0.1" default:"1" help:"closed arrivals: mean time between an answer and the client's next request, exponentially distributed" advanced:"true"`
	Users         int           `param:"users" unit:"users" range:"1,1000000" slider:"1,1000" scale:"log" default:"100" help:"how many users the requests come from, for cookies and for connections; with closed arrivals every client is one" advanced:"true"`
	StickyShare   float64       `param:"sticky-share" range:"0,1" step:"0.01" default:"0" help:"share of the users whose cookie keeps them on their backend" advanced:"true"`
}

// Layout is how many balancers there are, what they see of each other, and
// whether they balance requests or connections.
type Layout struct {
	BalancerCount         int           `param:"balancers" unit:"balancers" range:"1,256" slider:"1,20" default:"1" help:"how many balancers share the backends, each with checks, ejection and budget of its own; each request goes to one at random" advanced:"true"`
	Stale                 time.Duration `param:"stale" unit:"s" range:"0s,1h" slider:"0,10" step:"0.1" default:"0" help:"policies see the requests in flight of all balancers as they were at most this long ago, refreshed at this interval; 0 = each balancer sees its own, as they are" advanced:"true"`
	Layer                 string        `param:"layer" choices:"l4,l7" default:"l7" help:"l7 balances requests, l4 connections" advanced:"true"`
	RequestsPerConnection int           `param:"requests-per-connection" unit:"requests" range:"1,1000000" slider:"1,1000" scale:"log" default:"100" help:"l4: requests that a user sends over one connection before it opens another" advanced:"true"`
	KeepaliveLifetime     time.Duration `param:"keepalive-lifetime" unit:"s" range:"0s,1000h" slider:"0,600" default:"0" help:"l4: how old a connection may become before it is closed and its user's next request opens another, chosen anew; a request in flight on it finishes first; 0 = any age" advanced:"true"`
	BalancerDown          Window        `param:"balancer-down" help:"FROM..TO in seconds: when the first balancer is down; its clients are refused, and may retry with another" advanced:"true"`
	ProbeLoss             float64       `param:"probe-loss" range:"0,1" step:"0.01" default:"0" help:"share of probes that the network loses" advanced:"true"`
}

// Dependency is what the backends have in common, such as a database.
type Dependency struct {
	DependencyDown  Window  `param:"dependency-down" help:"FROM..TO in seconds: when the dependency that all backends share is down" advanced:"true"`
	DependencyShare float64 `param:"dependency-share" range:"0,1" step:"0.01" default:"1" help:"share of requests that need it and fail then" advanced:"true"`
}
