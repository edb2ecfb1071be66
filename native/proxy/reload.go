package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"minilb/core/lb"
)

// A reloader follows the policy file. A file that cannot be read or is not
// valid changes nothing: the policy that runs goes on, and the status says
// what is wrong.
type reloader struct {
	proxy *Proxy
	path  string
	flags []Flag
	wake  chan struct{} // look at the file now

	mu   sync.Mutex // one change at a time
	text []byte     // as read last
	file Config     // as applied last: what the next file is compared with

	state guarded[PolicyStatus]
}

// A PolicyStatus is what the status says about the policy file.
type PolicyStatus struct {
	File    string   `json:"file"`
	Read    float64  `json:"read"`              // when its present content was taken in
	Changes int      `json:"changes"`           // how often that was other than before
	Error   string   `json:"error,omitempty"`   // why the file is not followed now; the policy before it is in force
	Waiting []string `json:"waiting,omitempty"` // parameters that change at the next start
	Failed  *float64 `json:"failed,omitempty"`  // when it was found to be wrong
}

// guarded is a value under a lock of its own.
type guarded[T any] struct {
	mu    sync.Mutex
	value T
}

func (g *guarded[T]) get() T {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.value
}

func (g *guarded[T]) change(f func(*T)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(&g.value)
}

func newReloader(p *Proxy) *reloader {
	r := &reloader{proxy: p, path: p.config.Policy, flags: p.options.Flags, wake: make(chan struct{}, 1), file: p.config}
	r.state.value = PolicyStatus{File: r.path}
	return r
}

// settle is how long a file is left alone after a change: editors write in
// several steps, and a file that is half written would be reported as broken.
const settle = 30 * time.Millisecond

// run looks at the file when it changes and whenever it is woken, which is at
// each probe and on Reload.
func (r *reloader) run(ctx context.Context) {
	if r.path == "" {
		return
	}
	changes, stop := r.watch()
	defer stop()
	for {
		r.look()
		select {
		case <-r.wake:
		case <-changes:
			if !pause(ctx, settle) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// watch tells of changes in the file's folder: an editor that puts a new file
// in place of the old would leave a watch on the file itself behind. Without a
// watch the file is still read at each probe.
func (r *reloader) watch() (changes <-chan struct{}, stop func()) {
	w, err := fsnotify.NewWatcher()
	if err == nil {
		err = w.Add(filepath.Dir(r.path))
	}
	if err != nil {
		r.proxy.say("--policy %s: changes are noticed only at probes and on SIGHUP: %v", r.path, err)
		if w != nil {
			_ = w.Close()
		}
		return nil, func() {}
	}
	seen := make(chan struct{}, 1)
	var running sync.WaitGroup
	running.Go(func() { r.filter(w, seen) })
	return seen, func() { _ = w.Close(); running.Wait() }
}

// filter passes on what is about the file. A symbolic link in its path may be
// what changes (that is how Kubernetes replaces files), so any name counts; the
// content decides.
func (r *reloader) filter(w *fsnotify.Watcher, seen chan struct{}) {
	for {
		select {
		case _, open := <-w.Events:
			if !open {
				return
			}
			poke(seen)
		case _, open := <-w.Errors:
			if !open {
				return
			}
			poke(seen) // events were lost
		}
	}
}

// look takes the file in if its content is new.
func (r *reloader) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, err := readPolicy(r.path)
	if err != nil {
		r.text = nil // whatever comes next is news
		r.failed(err)
		return
	}
	if r.text != nil && bytes.Equal(text, r.text) {
		return
	}
	r.text = text
	c, faults := parsePolicy(r.path, text, r.flags)
	err = errors.Join(faults...)
	if err == nil {
		err = r.apply(c)
	}
	if err != nil {
		r.failed(err)
	}
}

// failed keeps the policy that runs, and says why the file is not followed.
func (r *reloader) failed(err error) {
	news := false
	r.state.change(func(s *PolicyStatus) {
		if news = s.Error != err.Error(); news {
			at := seconds(r.proxy.now())
			s.Error, s.Failed = err.Error(), &at
		}
	})
	if news {
		r.proxy.tell("policy file not followed, the policy before it stays: " + strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

// apply makes the proxy follow a valid file. What the file does not change is
// not touched: neither machines nor backends.
func (r *reloader) apply(c Config) error {
	p := r.proxy
	was := *p.live()
	next, waiting := c.running(was)
	if err := p.notSelf(c.list()...); err != nil {
		return err
	}
	if err := p.adopt(was, next); err != nil {
		return err
	}
	names := slices.DeleteFunc(differing(r.file, c), func(n string) bool { return slices.Contains(waiting, n) })
	err := p.changeMembers(r.file.list(), c.list())
	r.file = c
	r.state.change(func(s *PolicyStatus) {
		*s = PolicyStatus{File: r.path, Read: seconds(p.now()), Changes: s.Changes, Waiting: waiting}
		if len(names) > 0 {
			s.Changes++
		}
	})
	if len(names) > 0 {
		p.tell("policy file read: " + strings.Join(values(c, names), ", "))
	}
	if len(waiting) > 0 {
		p.tell("policy file: at the next start: " + strings.Join(waiting, ", "))
	}
	return err
}

// values are the parameters named with what they are now.
func values(c Config, names []string) []string {
	set, all := c.Params(), make([]string, len(names))
	for i, name := range names {
		if p := set.Lookup(name); p.List {
			all[i] = name
		} else {
			all[i] = fmt.Sprintf("%s=%.60s", name, p)
		}
	}
	return all
}

// adopt gives the pool, the forwarding and the probes another configuration.
func (p *Proxy) adopt(was, next Config) error {
	h, err := p.newForward(next)
	if err != nil {
		return err
	}
	if was.Algorithm != next.Algorithm || was.PickConfig != next.PickConfig || was.HealthConfig != next.HealthConfig ||
		was.OutlierConfig != next.OutlierConfig || was.PoolConfig != next.PoolConfig {
		if err := next.Change(p.now(), p.pool, next.Algorithm, was.Balancer, rand.Uint64()); err != nil {
			return fmt.Errorf("--%w", err)
		}
		p.prober.reconfigure(next.HealthConfig)
	}
	if was.BudgetPercent == next.BudgetPercent && was.MinRetryConcurrency == next.MinRetryConcurrency {
		h.Budget = p.handler().Budget // what is in flight goes on counting
	}
	p.ops.use(h)
	p.ops.settings.Store(&next)
	return nil
}

// tell reports a change of the whole proxy among the events.
func (p *Proxy) tell(text string) {
	p.journal.log(lb.Event{At: p.now(), What: lb.Changed, Reason: text})
}
