package proxy

import "minilb/core/health"

// settings are how probes are made now.
func (p *prober) settings() health.Config {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.config
}

// reconfigure changes how probes are made from the next one on.
func (p *prober) reconfigure(c health.Config) {
	p.mu.Lock()
	p.config = c
	p.mu.Unlock()
	poke(p.wake) // the pool may want another time
}

// keep forgets the probes of all backends but those named.
func (p *prober) keep(names map[string]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range p.last {
		if !names[name] {
			delete(p.last, name)
		}
	}
}
