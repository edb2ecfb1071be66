// Package stat is minilb's portable mathematics and measurement: logarithms, random draws, histograms and intervals.
//
// A scenario must give the same result to the last bit on amd64, on amd64 with fused multiply-add, on arm64 and in
// WebAssembly. The standard library's Exp, Pow and Log do not: some targets have their own assembly, and compilers fuse
// a*b + c where the hardware can. Everything here is therefore built from the operations IEEE 754 rounds exactly one
// way (+, -, *, /, square root), and every product that is added is written float64(a*b), which the language
// specification forbids to fuse.
//
// Randomness is counter-based: [Word] is a function of (seed, stream, index, attempt) and has no state, so two policies
// compared under one seed see the same arrivals and the same service draws whatever order they ask in.
package stat
