package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"minilb/core/lb"
	"minilb/core/param"
	"minilb/native/backend"
	"minilb/native/proxy"
	"minilb/site"
)

type demoInput struct {
	Listen    string `param:"listen" group:"addresses" default:"127.0.0.1:8080" help:"where the proxy listens, HOST:PORT"`
	FirstPort int    `param:"first-port" group:"addresses" range:"1,65533" default:"9001" help:"port of b1 on 127.0.0.1; b2 and b3 follow"`
}

// demoDelays are the backends' waits: b2 is the slow one.
var demoDelays = [...]time.Duration{0, 50 * time.Millisecond, 0}

func newDemo() *cobra.Command {
	c := &cobra.Command{
		Use:   "demo [flags]",
		Short: "Three backends, the proxy and the playground, all at once",
		Long: "Starts three backends (b2 takes 50 ms longer), the proxy in front of them and\n" +
			"the playground, and says what to try. Ctrl-C stops all of it.",
		DisableFlagsInUseLine: true,
	}
	var input demoInput
	in := addFlags(c, param.Of(&input), param.Serve)
	c.RunE = func(c *cobra.Command, _ []string) error {
		config := input.config()
		if err := refuse(append(in.read(), config().Faults()...)...); err != nil {
			return err
		}
		return demo(c.Context(), config(), c.OutOrStdout(), c.ErrOrStderr())
	}
	return c
}

// config is the proxy's, with short times: what happens is to be watched.
func (d *demoInput) config() func() proxy.Config {
	return func() proxy.Config {
		config := proxy.Default()
		config.Listen = d.Listen
		for i := range demoDelays {
			address := net.JoinHostPort("127.0.0.1", strconv.Itoa(d.FirstPort+i))
			config.Backends = append(config.Backends, proxy.Backend{Backend: lb.Backend{Name: "b" + strconv.Itoa(i+1), Address: address, Weight: 1}})
		}
		config.CheckInterval, config.Rise, config.Fall = 200*time.Millisecond, 2, 3
		config.Consecutive5xx, config.BaseEjection, config.MaxEjectionPercent = 3, time.Second, 34
		config.Retries, config.StickyCookie = 0, "MINILB"
		return config
	}
}

func demo(ctx context.Context, config proxy.Config, out, log io.Writer) error {
	listeners, err := listenAll(config)
	if err != nil {
		return fmt.Errorf("%w\nother addresses: --listen HOST:PORT for the proxy, --first-port N for the backends", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var backends sync.WaitGroup
	for i, l := range listeners[1:] {
		b := backend.New(config.Backends[i].Name, demoDelays[i])
		backends.Go(func() { _ = backend.Serve(ctx, l, b) }) // it ends when all of it ends
	}
	p, err := proxy.StartOn(listeners[0], config, proxyOptions(log))
	if err == nil {
		config.Listen = reachable(p.Addr())
		introduce(out, config)
		<-ctx.Done()
		stop(p, log)
	}
	cancel()
	backends.Wait()
	return err
}

// listenAll binds the proxy's address and then the backends'. When any is
// taken it names all that are, and keeps none.
func listenAll(config proxy.Config) ([]net.Listener, error) {
	addresses := []string{config.Listen}
	for _, b := range config.Backends {
		addresses = append(addresses, b.Address)
	}
	var listeners []net.Listener
	var faults []error
	for _, address := range addresses {
		l, err := proxy.Listen(address)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		listeners = append(listeners, l)
	}
	if faults == nil {
		return listeners, nil
	}
	for _, l := range listeners {
		_ = l.Close()
	}
	return nil, errors.Join(faults...)
}

// reachable is an address to connect to: one that stands for all of this
// machine's addresses becomes loopback.
func reachable(address string) string {
	host, port, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

func introduce(out io.Writer, config proxy.Config) {
	at := config.Listen
	fmt.Fprintln(out, "backends")
	for i, b := range config.Backends {
		fmt.Fprintf(out, "  %s          http://%s/%s\n", b.Name, b.Address, slower(demoDelays[i]))
	}
	fmt.Fprintf(out, "proxy         http://%s/\n", at)
	fmt.Fprintf(out, "status        http://%s/_minilb/status\n", at)
	fmt.Fprintf(out, "playground    http://%s/_minilb/play/%s\n", at, unbuilt())
	fmt.Fprintf(out, "\nTry in another terminal:\n")
	fmt.Fprintf(out, "  curl -si %s | grep -i x-minilb   # who answers; again: the next\n", at)
	fmt.Fprintf(out, "  curl -s -X POST '%s/_backend/mode?status=500'   # b3 fails\n", config.Backends[2].Address)
	fmt.Fprintf(out, "  curl -s %s/_minilb/status              # what minilb made of it\n", at)
	fmt.Fprintf(out, "\nEvents appear below. Ctrl-C stops everything.\n\n")
}

func slower(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf("   (%s slower)", d)
}

func unbuilt() string {
	if site.Built() {
		return ""
	}
	return "   (not built: make site)"
}
