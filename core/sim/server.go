package sim

import (
	"time"

	"minilb/core/lb"
	"minilb/core/scenario"
	"minilb/core/stat"
)

// A server is one simulated backend: workers, and a queue for those who find
// all of them busy.
type server struct {
	mean     float64 // service time in nanoseconds, as it is now
	workers  int     // that take work: its capacity, or none
	capacity int
	busy     int
	queue    ring
	limit    int // of the queue; 0: none
	dead     int // of those in the queue, whom nobody waits for and nobody will serve
	lifo     bool
	faulty   bool // any answer may be an error
	state    state
	draw     draw

	errors      float64 // share of requests that fail, as it is now
	probeErrors float64 // share of probes that fail
	cold        lb.Time // it is cold until then

	parts scenario.Parts
}

// state is what a backend does with what comes in.
type state uint8

const (
	serving state = iota
	stalled       // takes it and does not work
	hung          // takes it and never answers
	crashed       // refuses connections
)

func newServer(b scenario.Backend) server {
	s := server{
		mean: b.Mean * 1e6, capacity: b.Capacity, workers: b.Capacity, limit: b.Queue, lifo: b.Order == "lifo",
		draw: newDraw(b.Service, b.CV), parts: b.Parts,
	}
	if b.ErrorsAfter == 0 {
		s.fail(true)
	}
	if b.SlowAfter == 0 {
		s.slow(true)
	}
	s.warm(lb.Time(b.AddAt))
	return s
}

// fail begins or ends the backend's errors.
func (s *server) fail(on bool) {
	s.errors, s.probeErrors = 0, 0
	if on {
		s.errors, s.probeErrors = s.parts.Errors, s.parts.Errors
		switch s.parts.Health {
		case "process":
			s.probeErrors = 0
		case "flag":
			s.errors, s.probeErrors = 0, 1
		}
	}
	s.faulty = s.errors > 0 || s.probeErrors > 0
}

// slow makes the backend slower, or as fast as it should be.
func (s *server) slow(on bool) {
	s.mean = s.parts.Mean * 1e6
	if on {
		s.mean *= s.parts.SlowFactor
	}
}

// warm begins the backend's warm-up.
func (s *server) warm(now lb.Time) { s.cold = now.Add(s.parts.ColdFor) }

// service is how long a job takes whose unit draw comes from word.
func (s *server) service(word uint64) lb.Time {
	if s.draw.kind == exponential {
		return lb.Time(stat.Exponential(word) * s.mean)
	}
	return lb.Time(s.draw.unit(word) * s.mean)
}

// coldness is how many times longer service takes while the backend is cold.
func (s *server) coldness(now lb.Time) float64 {
	left := float64(s.cold-now) / float64(s.parts.ColdFor)
	return 1 + float64((s.parts.ColdFactor-1)*min(left, 1))
}

// errorStatus is the status of an error: of /health alone with health=flag.
func (s *server) errorStatus() int {
	if s.parts.Health == "flag" && !(s.errors > 0) && s.probeErrors > 0 {
		return 503
	}
	return 500
}

// stallFor is how long a stall delays the work that was in progress.
func (s *server) stallFor() time.Duration {
	p := s.parts
	if p.RecoverAt > p.StallAt && p.RecoverAt < p.StallAt+p.StallFor {
		return p.RecoverAt - p.StallAt
	}
	return p.StallFor
}

// full says whether nobody else may wait.
func (s *server) full() bool { return s.limit > 0 && s.queue.n-s.dead >= s.limit }

// take removes the next job from the queue.
func (s *server) take() int32 {
	if s.lifo {
		return s.queue.popLast()
	}
	return s.queue.pop()
}

// A ring is a queue of jobs that reuses its memory.
type ring struct {
	jobs  []int32 // length is a power of two
	first int
	n     int
}

func (r *ring) push(job int32) {
	if r.n == len(r.jobs) {
		r.grow()
	}
	r.jobs[(r.first+r.n)&(len(r.jobs)-1)] = job
	r.n++
}

func (r *ring) pop() (job int32) {
	job = r.jobs[r.first]
	r.first = (r.first + 1) & (len(r.jobs) - 1)
	r.n--
	return job
}

func (r *ring) popLast() (job int32) {
	r.n--
	return r.jobs[(r.first+r.n)&(len(r.jobs)-1)]
}

func (r *ring) grow() {
	jobs := make([]int32, max(8, 2*len(r.jobs)))
	n := copy(jobs, r.jobs[r.first:])
	copy(jobs[n:], r.jobs[:r.first])
	r.jobs, r.first = jobs, 0
}
