// Package core holds nothing but its rules; the rooms below it hold the engine of minilb.
//
// minilb is one policy engine with several drivers. The simulator, the proxy and the page all run the same pick, health,
// ejection, retry and drain code: whatever the page predicts, the proxy does. That sentence is only true as long as the
// engine knows nothing about who drives it, which is what this document and the tests beside it protect.
//
// # Three rules
//
// Time and chance are arguments. Every state machine takes the time as nanoseconds since the run began and, where it
// needs one, a random word. There is no clock interface and no stubbed global: a clock that is faked in one place and read
// directly in another is how simulators come to disagree with what they simulate.
//
// Core decides, shells do. Core never sleeps, dials, locks out a caller or starts a goroutine. It returns a value that
// says what to do and when, and the shell does it: the simulator pushes an event, the proxy waits and writes to a socket.
//
// The same bits everywhere. A scenario gives the same result to the last bit on amd64, on amd64 at GOAMD64=v3, on arm64
// and in WebAssembly, so that a link shows its reader what its sender saw. Three things would break that, and each has its
// check: functions of package math that differ between targets, the order of a map, and a compiler that fuses a*b + c into
// one instruction with one rounding instead of two. Products that are added are therefore written float64(a*b) + c: the
// language promises that an explicit conversion rounds, and nothing else does: not an assignment to a variable, and not
// a call, which may be inlined.
//
// # The rooms and the arrows between them
//
//	param, stat <- lb <- pick, health, outlier, retry, drain <- scenario <- sim <- wasm/page <- wasm/play
//	core <- native/forward <- native/proxy <- native/cli <- native/minilb
//	native/h1 <- native/proxy; site <- native/cli
//
// An arrow points from a room to those that may import it, directly or further along; nothing points back, and rooms
// side by side do not know each other. So a policy cannot ask why a backend is out, only whether it is; the outlier
// detector cannot lean on the health checker; and the simulator, which knows everybody, is known by nobody in core.
// The standard library is the only other thing that core imports, and only the packages that have a reason in the table of
// house_test.go.
//
// # What holds the house up
//
// TestArrowsPointOneWay and TestCoreIsPure read the source, TestCoreNeverRangesOverAMap type-checks it, and
// TestNoFusedMultiplyAdd reads the instructions that the compiler makes of it. Each check has its own test that shows it
// something bad. `make same` then runs golden scenarios on every target and compares the bytes.
package core
