//go:build !js

package main

import (
	"fmt"
	"os"
)

// main is for whoever builds this for the machine at hand, as `go build ./...` does.
func main() {
	fmt.Fprintln(os.Stderr, "play runs in a browser; build it with GOOS=js GOARCH=wasm, or run: make site")
	os.Exit(2)
}
