// Command minilb is a load balancer, a simulator of it, and the page to play
// with it, in one program.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"minilb/native/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
