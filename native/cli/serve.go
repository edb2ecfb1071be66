package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

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
		faults := append(in.read(), input.Faults()...)
		if in.has("backend") { // those given were refused, for reasons of their own
			faults = slices.DeleteFunc(faults, func(err error) bool { return err == proxy.ErrNoBackends })
		}
		if err := refuse(faults...); err != nil {
			return err
		}
		if input.PrintConfig {
			return printConfig(c.OutOrStdout(), input.Config)
		}
		return serve(c.Context(), input.Config, c.ErrOrStderr())
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

func serve(ctx context.Context, config proxy.Config, log io.Writer) error {
	p, err := proxy.Start(config, proxyOptions(log))
	if err != nil {
		return err
	}
	warn(log, config)
	fmt.Fprintf(log, "[minilb] listening on %s: %s over %d %s; status at http://%s/_minilb/status\n",
		p.Addr(), config.Algorithm, len(config.Backends), plural("backend", len(config.Backends)), p.Addr())
	<-ctx.Done()
	stop(p, log)
	return nil
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
