// Package cli is the command line of minilb: it turns words into what the
// other rooms take, and what they return into words and exit codes.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit codes.
const (
	exitOK    = 0
	exitFault = 1 // the world did not play along: a port in use, a file that cannot be read
	exitInput = 2 // the command line is wrong; nothing was started
)

// maxFaults is how many faults are told: all that a person makes at once. A
// damaged link or a file of something else can have thousands.
const maxFaults = 25

// Run is the program: it carries out one command line until it is done or ctx
// ends, and returns the exit code.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for os.Args
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil && command == root { // cobra takes --help for an answer whatever else is said
		err = unknownCommand(root, root.Flags().Args())
	}
	if err == nil {
		return exitOK
	}
	path := command.CommandPath()
	var bad *badInput
	isInput := errors.As(err, &bad)
	lines := strings.Split(err.Error(), "\n")
	for _, line := range lines[:min(len(lines), maxFaults)] {
		fmt.Fprintf(stderr, "%s: %s\n", path, line)
	}
	if more := len(lines) - maxFaults; more > 0 {
		fmt.Fprintf(stderr, "%s: and %d more\n", path, more)
	}
	if !isInput {
		return exitFault
	}
	fmt.Fprintf(stderr, "See %s --help.\n", path)
	return exitInput
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "minilb",
		Short:         "A load balancer to understand: serve real traffic, or simulate it",
		Long:          "minilb balances HTTP requests over backends, and simulates what its\npolicies, checks, ejections and retries do. Both run the same code.",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("minilb {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if words := c.Flags().Args(); c == root && len(words) > 0 {
			return // Run refuses the word
		}
		help(c, args)
	})
	root.AddCommand(newDemo(), newServe(), newBackend(), newSimulate(), newPick(), newRemap())
	return root
}

// newHelp is the command of that name, which refuses words it does not know as
// the program itself does.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:                   "help [COMMAND]",
		Short:                 "What a command does and which flags it takes",
		Long:                  "Says what a command does and which flags it takes, as --help after it does.",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			target, _, _ := c.Root().Find(args)
			if target == nil || target == c.Root() && len(args) > 0 {
				return unknownCommand(c.Root(), args)
			}
			target.InitDefaultHelpFlag()
			target.InitDefaultVersionFlag()
			return target.Help()
		},
	}
}

// version is the module's, as the Go tool recorded it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// badInput is a command line that cannot be carried out: all that is wrong
// with it.
type badInput struct{ faults []error }

func (b *badInput) Error() string { return strings.Join(b.lines(), "\n") }

// lines are the faults in the notation of the command line, one a line.
func (b *badInput) lines() []string {
	var all []string
	for _, fault := range b.faults {
		text := fault.Error()
		var flag interface{ Flag() string }
		if errors.As(fault, &flag) {
			text = flag.Flag()
		}
		all = append(all, strings.Split(text, "\n")...)
	}
	return all
}

// refuse returns the faults as one error, or nil without any.
func refuse(faults ...error) error {
	var real []error
	for _, fault := range faults {
		if fault != nil {
			real = append(real, fault)
		}
	}
	if real == nil {
		return nil
	}
	return &badInput{real}
}

func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = 2
	text := fmt.Sprintf("unknown command %.40q", args[0])
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		text += "; did you mean " + near[0] + "?"
	} else {
		text += "; accepted: " + strings.Join(commandNames(c), ", ")
	}
	return refuse(errors.New(text))
}

func commandNames(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// noWords refuses words that are no flags.
func noWords(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return refuse(fmt.Errorf("%.40q is not a flag; accepted: flags only, such as --name value", args[0]))
}

// flagError words pflag's own errors as the others are worded.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return refuse(err)
	}
	name := unknown.GetSpecifiedName()
	text := fmt.Sprintf("--%.40s: unknown flag", name)
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		text = fmt.Sprintf("-%.40s: unknown flag; flags begin with two dashes", short)
	}
	if near := nearestFlag(c, name); near != "" {
		text += "; did you mean --" + near + "?"
	}
	return refuse(errors.New(text))
}
