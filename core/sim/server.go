package sim

import (
	"minilb/core/lb"
	"minilb/core/scenario"
	"minilb/core/stat"
)

// A server is one simulated backend: workers, and a queue for those who find
// all of them busy, first come first served.
type server struct {
	mean     float64 // service time in nanoseconds
	errors   float64 // share of answers that are a 500
	capacity int
	busy     int
	queue    ring
}

func newServer(b scenario.Backend) server {
	return server{mean: b.Mean * 1e6, errors: b.Errors, capacity: b.Capacity}
}

// service is how long a job takes whose unit draw comes from word.
func (s *server) service(word uint64) lb.Time {
	return lb.Time(stat.Exponential(word) * s.mean)
}

// status is the answer to a job whose error draw is word.
func (s *server) status(word uint64) int {
	if s.errors > 0 && stat.Unit(word) < s.errors {
		return 500
	}
	return 200
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

func (r *ring) grow() {
	jobs := make([]int32, max(8, 2*len(r.jobs)))
	n := copy(jobs, r.jobs[r.first:])
	copy(jobs[n:], r.jobs[:r.first])
	r.jobs, r.first = jobs, 0
}
