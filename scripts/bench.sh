#!/usr/bin/env bash
# Runs core's benchmarks, native and then the simulator's under node, each for a fixed short time; then measures what a
# request through the proxy costs.
# One package after the other: on two cores a neighbour would be measured as well.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need go node

readonly flags=(-run '^$' -bench . -benchmem -benchtime "${BENCHTIME:-200ms}" -timeout 5m -p 1)

say "native"
go test "${flags[@]}" ./core/stat ./core/lb ./core/pick ./core/sim

say "WebAssembly under node"
GOOS=js GOARCH=wasm go test -exec="$(wasm_exec)" "${flags[@]}" ./core/sim

say "the proxy beside a pooled ReverseProxy, each in a process of its own on one processor"
go run ./scripts/proxybench -n "${REQUESTS:-30000}"
