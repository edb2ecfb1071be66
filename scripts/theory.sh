#!/usr/bin/env bash
# Compares the simulator with queueing theory at full length and prints a table: case, theory, measured, 95% interval,
# verdict. It plays seeds on as many cores as GOMAXPROCS leaves it, all without that: about five minutes of one core. A row
# that is out makes it exit with 1. The cases are in core/sim/theory_cases_test.go; `make test` plays a few of them with
# fewer requests.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need go

mkdir -p bin
log=$(mktemp bin/theory.XXXXXX)
trap 'rm -f "$log"' EXIT

# rows shows the table as it grows, without the names that go test prints around it, and on a terminal which case is being
# played: the longest takes half a minute.
rows() {
	local line
	while IFS= read -r line; do
		case $line in
		'=== RUN   TestTheory/'*) progress "playing $(name "$line")" ;;
		'=== '* | *'--- PASS: '* | PASS) ;;
		*) progress "" && printf '%s\n' "$line" ;;
		esac
	done
}

# name is that of a case without go test's underscores.
name() { printf '%s' "${1#*/}" | tr _ ' '; }

progress() { [[ ! -t 2 ]] || printf '\r\033[K%s' "$1" >&2; }

code=0
go test ./core/sim -run '^TestTheory$' -v -count=1 -timeout 40m "$@" -args -theory | tee "$log" | rows || code=$?
grep -q $'^ok  \t' "$log" || fail "a measurement disagrees with theory (its verdict is NO), or could not be made"
exit "$code"
