package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"minilb/core/lb"
	"minilb/core/param"
	"minilb/core/pick"
	"minilb/core/stat"
)

type pickInput struct {
	Algorithm   string `param:"algorithm" group:"choice" default:"round_robin" help:"the policy that chooses"`
	Backends    string `param:"backends" group:"choice" help:"the eligible backends: a,b,c"`
	Weights     string `param:"weights" group:"choice" help:"their weights, 1 for those not named: a=5,b=2"`
	Active      string `param:"active" group:"choice" help:"their requests in flight, 0 for those not named: a=4,b=1"`
	Count       int    `param:"count" group:"choice" unit:"picks" range:"1,1000000" default:"1" help:"how many picks; a pick puts nothing in flight"`
	Key         string `param:"key" group:"choice" help:"the key that hashing policies look at"`
	Keys        string `param:"keys" group:"choice" help:"a file with one key a line; - for standard input"`
	Seed        uint64 `param:"seed" group:"choice" default:"1" help:"number from which all chance of the picks is drawn"`
	Explain     bool   `param:"explain" group:"choice" help:"say why, pick by pick"`
	JSON        bool   `param:"json" help:"print JSON"`
	pick.Config `group:"policy"`
}

func (pickInput) ParamChoices(name string) []string {
	if name == "algorithm" {
		return pick.Names()
	}
	return nil
}

func newPick() *cobra.Command {
	c := &cobra.Command{
		Use:   "pick --backends a,b,c [flags]",
		Short: "Ask a policy which backend it would choose",
		Long:  "Asks a policy which backend it would choose, without any traffic.",
		Example: "  minilb pick --algorithm weighted_round_robin --backends a,b,c \\\n" +
			"    --weights a=5,b=1,c=1 --count 7\n" +
			"  minilb pick --algorithm least_conn --backends a,b,c --active a=4,b=1,c=2",
		DisableFlagsInUseLine: true,
	}
	var input pickInput
	in := addFlags(c, param.Of(&input), param.Scenario, "hash-on")
	c.RunE = func(c *cobra.Command, _ []string) error {
		set, faults := input.set(in)
		if err := refuse(append(faults, input.Config.Check())...); err != nil {
			return err
		}
		p, err := newPicker(input.Algorithm, input.Config, set)
		if err != nil {
			return refuse(err)
		}
		keys, err := input.keys(in, c.InOrStdin())
		if err != nil {
			return err
		}
		if err := input.checkKeys(in, keys); err != nil {
			return refuse(err)
		}
		return input.print(c.OutOrStdout(), input.picks(p, set, keys))
	}
	return c
}

// set reads the flags and makes the set that they describe.
func (i *pickInput) set(in *inputs) (*lb.Set, []error) {
	faults := in.read()
	names, err := needNames(i.Backends)
	faults = append(faults, err)
	weights, err := splitNumbers("weights", i.Weights, names, 1, lb.MaxWeight)
	if names != nil {
		faults = append(faults, err)
	}
	active, err := splitNumbers("active", i.Active, names, 0, 1_000_000)
	if names != nil {
		faults = append(faults, err)
	}
	loads := new(lb.Loads)
	for slot, name := range names {
		loads.Store(slot, active[name])
	}
	return lb.NewSet(backendsOf(names, weights), loads), faults
}

func needNames(list string) ([]string, error) {
	names, err := splitNames("backends", list)
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0:
		return nil, errors.New("--backends: none given; accepted: names such as --backends a,b,c")
	case len(names) > lb.MaxBackends:
		return nil, fmt.Errorf("--backends: %d names; accepted: at most %d", len(names), lb.MaxBackends)
	}
	return names, nil
}

func newPicker(algorithm string, config pick.Config, set *lb.Set) (lb.Picker, error) {
	policy, _ := pick.Find(algorithm) // the schema has refused unknown ones
	pickers, err := policy.Pickers(config)
	if err != nil {
		return nil, err
	}
	return pickers(set), nil
}

// keys are those to pick for; nil when none was given.
func (i *pickInput) keys(in *inputs, stdin io.Reader) ([]string, error) {
	if !in.has("keys") {
		if in.has("key") {
			return []string{i.Key}, nil
		}
		return nil, nil
	}
	if i.Keys == "-" {
		return readLines(stdin)
	}
	f, err := os.Open(i.Keys)
	if err != nil {
		return nil, fmt.Errorf("--keys: %w", err)
	}
	defer f.Close()
	return readLines(f)
}

// maxPicks bounds what one command computes and holds: with a file of keys,
// each of them is picked for count times.
const maxPicks = 10_000_000

// checkKeys refuses keys that cannot all be picked for.
func (i *pickInput) checkKeys(in *inputs, keys []string) error {
	switch {
	case in.has("keys") && in.has("key"):
		return errors.New("--key and --keys: each says what to pick for; accepted: one of them")
	case in.has("keys") && len(keys) == 0:
		return fmt.Errorf("--keys %.60s: no key in it; accepted: one key a line", i.Keys)
	case len(keys)*i.Count > maxPicks:
		return fmt.Errorf("--count %d: for each of %d keys; accepted: at most %d picks together", i.Count, len(keys), maxPicks)
	}
	return nil
}

func readLines(in io.Reader) ([]string, error) {
	var lines []string
	s := bufio.NewScanner(in)
	for s.Scan() {
		if len(lines) == maxPicks {
			return nil, refuse(fmt.Errorf("--keys: more than %d lines; accepted: at most that many", maxPicks))
		}
		lines = append(lines, s.Text())
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return nil, refuse(fmt.Errorf("--keys: line %d is longer than %d bytes; accepted: one key a line", len(lines)+1, bufio.MaxScanTokenSize))
	}
	if s.Err() != nil {
		return nil, fmt.Errorf("--keys: %w", s.Err())
	}
	return lines, nil
}

// A picked is one choice.
type picked struct {
	Key     *string  `json:"key,omitempty"`
	Backend string   `json:"backend"`
	Why     []string `json:"why,omitempty"`
}

func (i *pickInput) picks(p lb.Picker, set *lb.Set, keys []string) []picked {
	var all []picked
	rounds := max(1, len(keys))
	for n := range rounds * i.Count {
		q := lb.Query{Rand: stat.Word(i.Seed, 0, uint64(n), 0)}
		var one picked
		if keys != nil {
			key := keys[n/i.Count]
			one.Key, q.Hash, q.HasKey = &key, pick.Hash(key), true
		}
		chosen := p.Pick(q)
		one.Backend = set.Backend(chosen).Name
		if i.Explain {
			one.Why = pick.Explain(p, q, chosen)
		}
		all = append(all, one)
	}
	return all
}

func (i *pickInput) print(out io.Writer, all []picked) error {
	if i.JSON {
		text, err := json.MarshalIndent(struct {
			Algorithm string   `json:"algorithm"`
			Picks     []picked `json:"picks"`
		}{i.Algorithm, all}, "", "  ")
		if err == nil {
			_, err = fmt.Fprintf(out, "%s\n", text)
		}
		return err
	}
	w := bufio.NewWriter(out)
	if i.Explain {
		explain(w, all)
		return w.Flush()
	}
	if i.Keys != "" {
		for _, one := range all {
			fmt.Fprintf(w, "%s\t%s\n", one.Backend, *one.Key)
		}
		return w.Flush()
	}
	names := make([]string, len(all))
	for n, one := range all {
		names[n] = one.Backend
	}
	fmt.Fprintln(w, strings.Join(names, " "))
	return w.Flush()
}

// explain prints each choice with the reasons under it.
func explain(w io.Writer, all []picked) {
	for _, one := range all {
		fmt.Fprint(w, one.Backend)
		if one.Key != nil {
			fmt.Fprintf(w, "\t%s", *one.Key)
		}
		fmt.Fprintf(w, "\n  %s\n", strings.Join(one.Why, "\n  "))
	}
}
