package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"minilb/core/param"
	"minilb/native/proxy"
	"minilb/site"
)

type serveInput struct {
	proxy.Config
	PrintConfig bool `param:"print-config" help:"print the effective configuration as JSON and exit"`
}

func newServe() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve --backend NAME=HOST:PORT… [flags]",
		Short: "Balance real HTTP traffic over backends",
		Long: "Balances HTTP traffic over backends. What happened and why is printed to\n" +
			"standard error; the state is JSON at /_minilb/status, and the playground is at\n/_minilb/play/.",
		Example: "  minilb serve --backend b1=127.0.0.1:9001 --backend b2=127.0.0.1:9002 \\\n" +
			"    --algorithm p2c --check-interval 0.2",
		DisableFlagsInUseLine: true,
	}
	var input serveInput
	in := addFlags(c, param.Of(&input), param.Serve)
	c.RunE = func(c *cobra.Command, _ []string) error {
		faults := in.read()
		if input.Policy != "" && len(faults) == 0 {
			config, found := proxy.LoadPolicy(input.Policy, in.flags())
			var world *os.PathError
			if errors.As(errors.Join(found...), &world) { // of a file that is not there nothing more can be said
				return found[0]
			}
			input.Config, faults = config, found
		}
		unread := len(faults) > 0
		if len(faults) == 0 || input.Policy == "" {
			faults = append(faults, input.Faults()...)
		}
		if in.has("backend") && unread { // those given were refused, for reasons of their own
			faults = slices.DeleteFunc(faults, func(err error) bool { return err == proxy.ErrNoBackends })
		}
		if err := refuse(faults...); err != nil {
			return err
		}
		if input.PrintConfig {
			return printConfig(c.OutOrStdout(), input.Config)
		}
		o := proxyOptions(c.ErrOrStderr())
		o.Access, o.Flags = c.OutOrStdout(), in.flags()
		return serve(c.Context(), input.Config, o)
	}
	return c
}

func printConfig(out io.Writer, config proxy.Config) error {
	text, err := config.JSON()
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}

func serve(ctx context.Context, config proxy.Config, o proxy.Options) error {
	// Listened for before anybody is told that the proxy runs: an early SIGHUP would end it.
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGHUP)
	defer signal.Stop(again)
	p, err := proxy.Start(config, o)
	if err != nil {
		return err
	}
	warn(o.Log, config)
	status := "no admin pages"
	if p.AdminAddr() != "" {
		status = "status at http://" + p.AdminAddr() + "/_minilb/status"
	}
	n := len(p.Status().Backends)
	fmt.Fprintf(o.Log, "[minilb] listening on %s: %s over %d %s; %s\n", p.Addr(), config.Algorithm, n, plural("backend", n), status)
	waitFor(ctx, p, again)
	stop(p, o.Log)
	return nil
}

// waitFor lets the proxy run until ctx ends. SIGHUP has the policy file read
// again, as it has for most servers.
func waitFor(ctx context.Context, p *proxy.Proxy, again <-chan os.Signal) {
	for {
		select {
		case <-again:
			p.Reload()
		case <-ctx.Done():
			return
		}
	}
}

func proxyOptions(log io.Writer) proxy.Options {
	return proxy.Options{Log: log, Play: site.FS(), Version: version()}
}

func warn(log io.Writer, config proxy.Config) {
	for _, w := range config.Warnings() {
		fmt.Fprintf(log, "[minilb] warning: %s\n", w)
	}
}

func stop(p *proxy.Proxy, log io.Writer) {
	cut := p.Stop()
	fmt.Fprintf(log, "[minilb] stopped: %d %s cut off\n", cut, plural("request", cut))
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
