//go:build js

package main

import (
	"runtime/debug"
	"syscall/js"
)

func main() {
	// A run allocates little that it keeps; a larger heap is cheaper than collecting it in the middle of a drag.
	debug.SetGCPercent(400)
	if js.Global().Get("document").IsUndefined() {
		serve()
		return
	}
	openApp(js.Global().Get("minilb"), js.Global().Get("minilbCharts"))
	select {} // the page's listeners keep working
}

// now is the browser's clock in milliseconds, the one that its events carry.
func now() float64 { return js.Global().Get("performance").Call("now").Float() }
