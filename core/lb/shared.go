//go:build !wasm

package lb

import "sync/atomic"

// What the hot path counts in and publishes through: the types of sync/atomic
// where there are threads. WebAssembly has one; see the file beside this.
type (
	Int32          = atomic.Int32
	Int64          = atomic.Int64
	Uint64         = atomic.Uint64
	Pointer[T any] = atomic.Pointer[T]
)
