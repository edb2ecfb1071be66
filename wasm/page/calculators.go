package page

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"minilb/core/param"
	"minilb/core/pick"
	"minilb/core/stat"
)

// A Calculator is a rule of thumb with this scenario's numbers in it, beside what the simulation made of them.
type Calculator struct {
	Name, Title string
	Rule        string // in general
	Sum         string // with numbers
	Measured    string // by the simulation; empty when it has nothing to say
}

// DefaultDraws is the sample of the third calculator: eight requests, as in a quick test by hand.
const DefaultDraws = 8

// Calculators are all of them, for the policy that is shown.
func (o Outcome) Calculators(policy string, draws int) []Calculator {
	f, ran := o.Of(policy)
	if !ran {
		return nil
	}
	return []Calculator{o.detection(f), o.remaining(f), o.sample(draws)}
}

// detection is how long a fault goes unnoticed.
func (o Outcome) detection(f Figures) Calculator {
	s, w := o.Scenario, o.Words
	c := Calculator{Name: "detection", Title: w.T("Detection time"), Rule: w.T("check interval × failed probes in a row")}
	switch {
	case s.CheckInterval > 0:
		c.Sum = w.Figure(fmt.Sprintf("%s s × %d = %s s", param.FormatDuration(s.CheckInterval), s.Fall,
			significant(s.CheckInterval.Seconds()*float64(s.Fall), 3)))
	case s.Consecutive5xx > 0:
		perSecond := s.Rate / float64(len(s.Backends))
		c.Rule = w.T("errors in a row ÷ requests a second at one backend")
		c.Sum = w.Figure(fmt.Sprintf("%d ÷ %s/s = %s s", s.Consecutive5xx, significant(perSecond, 3), significant(float64(s.Consecutive5xx)/perSecond, 2)))
	default:
		c.Sum = w.T("checks and ejection are off: nothing detects a fault")
	}
	c.Measured = o.detected(f)
	return c
}

// detected is what the run says of each backend that has a fault.
func (o Outcome) detected(f Figures) string {
	var said []string
	w := o.Words
	for i, b := range o.Scenario.Backends {
		if _, _, faulty := b.Fault(); !faulty || i >= len(f.Backends) {
			continue
		}
		if d := f.Backends[i].Detection; d != nil {
			said = append(said, w.Say("{backend} out after {s} s", named("backend", b.Name), w.figured("s", significant(*d, 3))))
		} else {
			said = append(said, w.Say("{backend} never taken out", named("backend", b.Name)))
		}
	}
	if said == nil {
		return w.T("no fault with a beginning in this run")
	}
	return strings.Join(said, ", ")
}

// remaining is what is left when one backend is out.
func (o Outcome) remaining(f Figures) Calculator {
	w := o.Words
	c := Calculator{Name: "remaining", Title: w.T("Remaining capacity"), Rule: w.T("utilisation × N / (N − 1)")}
	n, serves := len(o.Scenario.Backends), 0.0
	for _, b := range o.Scenario.Backends {
		serves += float64(b.Capacity) * 1000 / b.Mean
	}
	now := o.Scenario.Rate / serves
	if n < 2 {
		c.Sum = w.T("with one backend, none remains")
		return c
	}
	then := now * float64(n) / float64(n-1)
	c.Sum = w.Figure(fmt.Sprintf("%s × %d/%d = %s", Percent(now), n, n-1, Percent(then)))
	if then >= 1 {
		c.Sum = w.Say("{sum}: the pool does not survive the loss of one", named("sum", c.Sum))
	}
	name, load := o.busiest(f)
	c.Measured = w.Say("the busiest, {backend}, got {load} of what it can serve", named("backend", name), w.figured("load", Percent(load)))
	return c
}

// busiest is the backend that was sent most for its workers, on average over the run.
func (o Outcome) busiest(f Figures) (name string, load float64) {
	attempts := o.Scenario.Rate * max(1, f.Amplification)
	for _, b := range o.Scenario.Backends {
		if l := attempts * f.Share[b.Name] * b.Mean / 1000 / float64(b.Capacity); l >= load {
			name, load = b.Name, l
		}
	}
	return name, load
}

// sample is how likely a small sample misses a backend altogether.
func (o Outcome) sample(draws int) Calculator {
	n, w := len(o.Scenario.Backends), o.Words
	c := Calculator{Name: "sample", Title: w.T("A sample misses a backend"), Rule: w.T("by chance, of that many draws at random")}
	missed := math.Pow(float64(n), float64(draws)) * missing(n, draws)
	chance := Percent(missing(n, draws))
	if all := math.Pow(float64(n), float64(draws)); n > 1 && all < 1e6 {
		chance = fmt.Sprintf("%.0f/%.0f = %s", missed, all, chance)
	}
	c.Sum = w.Say("{draws?# draw|# draws} on {n?# backend|# backends}: {chance}", counted("draws", draws), counted("n", n), w.figured("chance", chance))
	const samples = 5000
	c.Measured = w.Say("{n} of {all} samples drawn here", counted("n", drawSamples(o.Scenario.Seed, n, draws, samples)), counted("all", samples))
	return c
}

// missing is the probability that draws among n leave at least one out, by inclusion and exclusion.
func missing(n, draws int) float64 {
	sum, ways := 0.0, 1.0
	for out := 1; out < n; out++ {
		ways = ways * float64(n-out+1) / float64(out)
		term := ways * math.Pow(float64(n-out)/float64(n), float64(draws))
		if out%2 == 0 {
			term = -term
		}
		sum += term
	}
	return min(max(sum, 0), 1)
}

// drawSamples draws and counts the samples in which a backend is missing.
func drawSamples(seed uint64, n, draws, samples int) (missed int) {
	word := stat.Next(pick.HashNumber(seed))
	for range samples {
		var seen uint64 // the page has room for fewer backends than this has bits
		for range draws {
			word = stat.Next(word)
			seen |= 1 << (stat.Below(word, n) % 64)
		}
		if bits.OnesCount64(seen) < min(n, 64) {
			missed++
		}
	}
	return missed
}
