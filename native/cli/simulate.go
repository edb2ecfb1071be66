package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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
			"  minilb simulate --scenario 'v1;algorithm=p2c;rate=200' --seed 7 --json\n" +
			"  minilb simulate --preset fails-fast --explain\n" +
			"  minilb simulate --sweep rate=50..500:50 --seeds 10 --csv > rates.csv",
		Annotations: map[string]string{helpEnd: "The exit code is 0 for a whole run. It is 1 for one that ended early, by Ctrl-C\n" +
			"or by a limit of the simulator: what there is by then is printed, standard error\n" +
			"says why, and JSON has it as \"truncated\". It is 1 as well for a file that cannot\n" +
			"be used, and 2 for flags that cannot be carried out."},
		DisableFlagsInUseLine: true,
	}
	var input scenario.Scenario
	var other simulateInput
	in := addFlags(c, param.Of(&input, &other), param.Scenario)
	in.parts = param.Of(new(scenario.Parts))
	in.parts.Reset(param.Scenario)
	c.RunE = func(c *cobra.Command, _ []string) error {
		j, err := other.job(in, c.InOrStdin())
		if err != nil {
			return err
		}
		j.out, j.log = c.OutOrStdout(), c.ErrOrStderr()
		return j.run(c.Context())
	}
	return c
}

// simulateInput is what is not part of a scenario.
type simulateInput struct {
	Link   string     `param:"scenario" group:"scenario" help:"a link to start from, with or without its address and #, or a file that holds one, or a scenario as JSON or YAML (its path, or @ and its path); flags override it"`
	Preset presetName `param:"preset" group:"scenario" help:"a scenario to start from, by name; flags override it"`
	Trace  string     `param:"trace" group:"scenario" help:"a CSV file of requests to replay, - for standard input; one a line in any order: seconds,key,method,service ms, of which only the first must be there"`

	Seeds int    `param:"seeds" group:"study" unit:"seeds" range:"1,10000" default:"1" help:"how many seeds to play, the first being seed; more than one: each figure is a mean with its 95% interval"`
	Sweep string `param:"sweep" group:"study" help:"PARAM=A..B or PARAM=A..B:STEP: play the scenario at each of these values of a number or duration, such as rate=50..500:50"`

	Explain bool   `param:"explain" group:"output" help:"say in words what happened and why, under the table"`
	Events  bool   `param:"events" group:"output" help:"list what became of the backends and when, under the table"`
	CSV     bool   `param:"csv" group:"output" help:"print CSV: every figure, not only those of the table"`
	JSON    bool   `param:"json" group:"output" help:"print JSON: every figure, not only those of the table"`
	Series  string `param:"series" group:"output" help:"also write a CSV file of figures over time; resolution is the length of a line's time"`
}

// A job is one simulation as the command line asks for it.
type job struct {
	simulateInput
	scenario scenario.Scenario
	sent     sent
	preset   scenario.Preset // shown above the table; empty when it was changed, too
	sweep    sim.Sweep
	out, log io.Writer
}

// An outcome is what every kind of simulation gives.
type outcome interface {
	JSON() []byte
	CSV() []byte
}

var errStopped = errors.New("stopped before the end; the results cover what had been done")

// run plays the job and prints what there is, of a run that ended early too.
func (j *job) run(ctx context.Context) error {
	series, err := j.create()
	if err != nil {
		return err
	}
	j.warn()
	bar := newBar(j.log)
	o := sim.Options{Series: series != nil, Events: j.Events, Progress: func(done float64) bool {
		bar.show(done)
		return ctx.Err() == nil
	}}
	result, early, err := j.play(o)
	bar.clear()
	var faults []error
	if series != nil {
		faults = append(faults, j.saveSeries(series, result))
	}
	if err == nil {
		faults = append(faults, j.print(result))
		j.compare(result)
	}
	return errors.Join(append(faults, err, early)...)
}

// warn names what a link says that this build does not know, so that nobody
// takes its figures for those of the whole link.
func (j *job) warn() {
	for _, u := range j.scenario.Unknown {
		near := j.scenario.Params().Nearest(u.Key)
		if near != "" {
			near = "; did you mean " + near + "?"
		}
		j.say("--scenario: %.40s=%.40s: not known to this build; passed on, without effect%s", u.Key, u.Value, near)
	}
	if j.Link[strings.LastIndexByte(j.Link, '#')+1:] == "v1" {
		j.say("--scenario %.80s: nothing after the version, so the default scenario; if the link was longer, quote it: a shell ends it at the first ;", j.Link)
	}
}

// say tells something beside the results, so that these stay what they are
// for whoever reads them by program.
func (j *job) say(format string, args ...any) {
	fmt.Fprintf(j.log, "minilb simulate: "+format+"\n", args...)
}

// play gives what there is: of a whole run, or of one that ended early and why.
func (j *job) play(o sim.Options) (result outcome, early, err error) {
	var cut bool
	switch {
	case j.Sweep != "":
		var swept sim.Swept
		swept, err = j.sweep.Run(j.scenario, j.Seeds, o)
		result, cut = swept, swept.Cancelled
	case j.Seeds > 1:
		var study sim.Study
		study, err = sim.Seeds(j.scenario, j.Seeds, o)
		result, cut = study, study.Cancelled
	default:
		var report sim.Report
		report, err = sim.Run(j.scenario, o)
		result, cut = report, report.Cancelled
	}
	switch {
	case !cut:
		return result, nil, err
	case err == nil:
		return result, errStopped, nil
	}
	return result, fmt.Errorf("%w\n%s", err, ownLimit), nil
}

// ownLimit is what there is to know of a limit beyond what it says itself.
const ownLimit = "that limit is the simulator's own, and no flag raises it; the results cover what had been done"

// create opens the file for the series, so that a place where nothing can be
// written is found before the run and not after it; nil when none is wanted.
func (j *job) create() (*os.File, error) {
	if j.Series == "" {
		return nil, nil
	}
	f, err := os.Create(j.Series)
	if err != nil {
		return nil, fmt.Errorf("--series: %w", err)
	}
	return f, nil
}

func (j *job) saveSeries(f *os.File, result outcome) error {
	report, _ := result.(sim.Report)
	_, err := f.Write(report.SeriesCSV())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("--series: %w", err)
	}
	return nil
}

func (j *job) print(result outcome) error {
	switch {
	case j.JSON:
		return write(j.out, result.JSON())
	case j.CSV:
		return write(j.out, result.CSV())
	}
	p := new(page)
	p.preset(j.preset)
	switch result := result.(type) {
	case sim.Report:
		p.report(result)
		if j.Explain {
			p.paragraph(sim.Explain(result))
		}
		if j.Events {
			p.events(result)
		}
	case sim.Study:
		p.study(result)
	case sim.Swept:
		p.swept(result)
	}
	p.section(j.command(stampOf(result)))
	return write(j.out, p.Bytes())
}

func write(out io.Writer, text []byte) error {
	_, err := out.Write(text)
	return err
}

// command is the line that plays the job again. A stamp is of one whole run.
func (j *job) command(stamp scenario.Stamp) string {
	line := j.scenario.CommandStamped(stamp)
	if j.Trace != "" {
		line += " --trace " + quoted(j.Trace)
	}
	if j.Sweep != "" {
		line += " --sweep " + quoted(j.Sweep)
	}
	if j.Seeds > 1 {
		line += fmt.Sprintf(" --seeds %d", j.Seeds)
	}
	return line
}
