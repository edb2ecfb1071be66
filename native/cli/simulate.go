package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minilb/core/param"
	"minilb/core/scenario"
	"minilb/core/sim"
)

func newSimulate() *cobra.Command {
	c := &cobra.Command{
		Use:   "simulate [flags]",
		Short: "Play a scenario in virtual time and compare policies",
		Long: "Plays a scenario in virtual time, once for each algorithm, all on the same\n" +
			"arrivals and service times. Without flags: two backends of 20 ms and one of\n100 ms, at 150 requests/s.",
		Example: "  minilb simulate --backend a=20 --backend b=20 --backend broken=2,errors=1\n" +
			"  minilb simulate --scenario 'v1;algorithm=p2c;rate=200' --seed 7 --json",
		DisableFlagsInUseLine: true,
	}
	var input scenario.Scenario
	var other simulateInput
	in := addFlags(c, param.Of(&input, &other), param.Scenario)
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := readScenario(in, &other)
		if err != nil {
			return err
		}
		return simulate(c.Context(), s, other.JSON, c.OutOrStdout(), c.ErrOrStderr())
	}
	return c
}

// simulateInput is what is not part of a scenario.
type simulateInput struct {
	Link string `param:"scenario" group:"scenario" help:"a link to start from, with or without its address and #; flags override it"`
	JSON bool   `param:"json" help:"print JSON"`
}

// readScenario starts from the link, if there is one, and lets the flags
// override it.
func readScenario(in *inputs, other *simulateInput) (scenario.Scenario, error) {
	in.apply(param.Of(other)) // for the link; faults come up below
	s, err := scenario.Decode(other.Link)
	if err != nil {
		err = inLink{err}
	}
	faults := append([]error{err}, in.apply(param.Of(&s, other))...)
	if refuse(faults...) == nil {
		faults = append(faults, s.Check())
	}
	return s, refuse(faults...)
}

// inLink says of each fault that it is the link's; its notation stays that of
// links.
type inLink struct{ error }

func (e inLink) Flag() string {
	return "--scenario: " + strings.ReplaceAll(e.Error(), "\n", "\n--scenario: ")
}

func simulate(ctx context.Context, s scenario.Scenario, asJSON bool, out, log io.Writer) error {
	bar := newBar(log)
	report, err := sim.Run(s, sim.Options{Progress: func(done float64) bool {
		bar.show(done)
		return ctx.Err() == nil
	}})
	bar.clear()
	if err != nil {
		return err
	}
	if asJSON {
		_, err = out.Write(report.JSON())
	} else {
		err = printReport(out, report)
	}
	if err == nil && report.Cancelled {
		return errors.New("stopped before the end; the results cover what had been done")
	}
	return err
}

// A bar shows how far a run is, when it is long and somebody watches.
type bar struct {
	out   io.Writer // nil: nobody watches
	start time.Time
	shown time.Time
}

// Runs shorter than this end before a bar would be read.
const barAfter = time.Second

func newBar(out io.Writer) *bar {
	b := &bar{start: time.Now()}
	if isTerminal(out) {
		b.out = out
	}
	return b
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (b *bar) show(done float64) {
	const length, every = 40, 100 * time.Millisecond
	now := time.Now()
	if b.out == nil || now.Sub(b.start) < barAfter || now.Sub(b.shown) < every {
		return
	}
	b.shown = now
	full := int(done * length)
	fmt.Fprintf(b.out, "\r[%s%s] %3.0f%%  Ctrl-C prints what there is", strings.Repeat("#", full), strings.Repeat(".", length-full), done*100)
}

func (b *bar) clear() {
	if !b.shown.IsZero() {
		fmt.Fprintf(b.out, "\r%s\r", strings.Repeat(" ", width-1))
	}
}
