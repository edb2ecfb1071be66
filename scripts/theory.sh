#!/usr/bin/env bash
# Compares the simulator with queueing theory at full length and prints a table: case, theory, measured, 95% interval, ok.
# The cases are in core/sim/theory_test.go; `make test` plays a few of them with fewer requests.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need go

mkdir -p bin
log=$(mktemp bin/theory.XXXXXX)
trap 'rm -f "$log"' EXIT

# The rows are shown as they come, without the names that go test prints around them.
code=0
go test ./core/sim -run '^TestTheory$' -v -count=1 -timeout 15m "$@" -args -theory | tee "$log" |
	grep -v -e '^=== ' -e '^ *--- PASS' -e '^PASS$' || code=$?
grep -q '^ok' "$log" || fail "a measurement disagrees with theory: its row ends in NO"
exit "$code"
