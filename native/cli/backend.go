package cli

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minilb/core/lb"
	"minilb/core/param"
	"minilb/native/backend"
	"minilb/native/proxy"
)

type backendInput struct {
	Name       string        `param:"name" group:"backend" help:"what it calls itself"`
	Port       int           `param:"port" group:"backend" range:"0,65535" help:"where it listens; 0 = any free port"`
	ListenHost string        `param:"listen-host" group:"backend" default:"127.0.0.1" help:"address it listens on"`
	Delay      time.Duration `param:"delay" unit:"s" group:"backend" range:"0s,10m" default:"0" help:"wait before each answer"`
}

func newBackend() *cobra.Command {
	c := &cobra.Command{
		Use:   "backend --name NAME --port PORT [flags]",
		Short: "A backend to try things on: echoes requests, fails on demand",
		Long: "A backend to try things on. It answers with its name and what it was asked, and\n" +
			"GET /health with how it is. POST /_backend/mode switches it while it runs:\n\n" +
			"  ?status=500   requests and /health answer 500\n" +
			"  ?health=200   /health says 200, whatever requests get: a check that lies\n" +
			"  ?delay=0.2    answers take 200 ms",
		Example: "  minilb backend --name b1 --port 9001\n" +
			"  curl -X POST '127.0.0.1:9001/_backend/mode?status=500'",
		DisableFlagsInUseLine: true,
	}
	var input backendInput
	in := addFlags(c, param.Of(&input), param.Serve)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := refuse(append(in.read(), input.check(in)...)...); err != nil {
			return err
		}
		l, err := proxy.Listen(net.JoinHostPort(input.ListenHost, strconv.Itoa(input.Port)))
		if err != nil {
			return err
		}
		fmt.Fprintf(c.ErrOrStderr(), "backend %s listening on %s\n", input.Name, l.Addr())
		return backend.Serve(c.Context(), l, backend.New(input.Name, input.Delay))
	}
	return c
}

func (b backendInput) check(in *inputs) []error {
	var faults []error
	if err := (lb.Backend{Name: b.Name, Weight: 1}).Check(); err != nil {
		faults = append(faults, fmt.Errorf("--name %.40q: %w", b.Name, err))
	}
	if strings.Trim(b.ListenHost, " ") == "" {
		faults = append(faults, fmt.Errorf("--listen-host %.40q: none; accepted: an address such as 127.0.0.1, or 0.0.0.0 for all of this machine's", b.ListenHost))
	}
	if !in.has("port") {
		faults = append(faults, fmt.Errorf("--port: none given; accepted: 0 to 65535, such as --port 9001"))
	}
	return faults
}
