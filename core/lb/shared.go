package lb

import "sync/atomic"

// What the hot path counts in and publishes through. The pool, the policies and
// the retry budget use these names, so that a target with one thread could do
// without the cost of atomic operations.
type (
	Int32          = atomic.Int32
	Int64          = atomic.Int64
	Uint64         = atomic.Uint64
	Pointer[T any] = atomic.Pointer[T]
)
