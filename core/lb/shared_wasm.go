package lb

// WebAssembly has one thread, and Go changes goroutines on it only inside a
// call, never within these methods once they are inlined. They are what
// sync/atomic comes to there, without its two calls for every load: a fifth
// of a simulation's time.
type (
	Int32  struct{ v int32 }
	Int64  struct{ v int64 }
	Uint64 struct{ v uint64 }

	Pointer[T any] struct{ v *T }
)

func (x *Int32) Load() int32          { return x.v }
func (x *Int32) Store(v int32)        { x.v = v }
func (x *Int32) Add(d int32) int32    { x.v += d; return x.v }
func (x *Int64) Load() int64          { return x.v }
func (x *Int64) Store(v int64)        { x.v = v }
func (x *Int64) Add(d int64) int64    { x.v += d; return x.v }
func (x *Uint64) Load() uint64        { return x.v }
func (x *Uint64) Store(v uint64)      { x.v = v }
func (x *Uint64) Add(d uint64) uint64 { x.v += d; return x.v }
func (x *Pointer[T]) Load() *T        { return x.v }
func (x *Pointer[T]) Store(v *T)      { x.v = v }

// CompareAndSwap stores a new value if the old one is still there.
func (x *Int32) CompareAndSwap(was, v int32) bool {
	if x.v != was {
		return false
	}
	x.v = v
	return true
}

// CompareAndSwap stores a new value if the old one is still there.
func (x *Int64) CompareAndSwap(was, v int64) bool {
	if x.v != was {
		return false
	}
	x.v = v
	return true
}
