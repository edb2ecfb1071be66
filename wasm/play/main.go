//go:build js

package main

import (
	"runtime/debug"
	"syscall/js"
)

func main() {
	// A run allocates little that it keeps: memory is collected between runs, see tidy, and within one only when it is a
	// long one. The limit is for scenarios that keep much.
	debug.SetGCPercent(1600)
	debug.SetMemoryLimit(512 << 20)
	if js.Global().Get("document").IsUndefined() {
		serve()
		return
	}
	openApp(js.Global().Get("minilb"), js.Global().Get("minilbCharts"))
	select {} // the page's listeners keep working
}

// now is the browser's clock in milliseconds, the one that its events carry.
func now() float64 { return js.Global().Get("performance").Call("now").Float() }
