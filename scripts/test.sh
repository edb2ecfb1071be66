#!/usr/bin/env bash
# Runs every check there is, on a fresh machine too: it fetches what it needs or names what is missing, and never skips.
# Steps run one after the other and the first that fails ends the run, its name on the last line.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need go gofmt node npm gcc gzip

mkdir -p bin
temp=$(mktemp -d bin/test.XXXXXX)
step="before the first step"

# finish runs however the script ends, so that a failure can never look like a pass.
finish() {
	local code=$?
	((code == 0)) || printf '\n%s\n' "FAILED: $step"
	printf '\ntotal: %d s\n' "$SECONDS"
	summary
	rm -rf "$temp"
	exit "$code"
}
trap finish EXIT

# summary adds up what scripts/tally counted; a step that is not a go test (formatting, vet, same) is not in it.
summary() {
	touch "$temp/counts"
	awk '{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s }' "$temp/counts"
}

# run names a step, runs it and says how long it took. The command is not part of a condition, so set -e holds inside it.
run() {
	local began=$SECONDS
	step=$1
	shift
	say "$step"
	"$@"
	printf -- '-- %d s\n' $((SECONDS - began))
}

# gotest is go test with its tests counted. Two packages at a time: a race build takes a core to itself.
gotest() { go test -json -p 2 -timeout 5m "$@" | "$temp/tally" "$temp/counts"; }

# on_wasm runs a command with the go tools set to WebAssembly.
on_wasm() { GOOS=js GOARCH=wasm "$@"; }

# wasm_packages are those that must compile for the page. The browser tests drive a browser from outside.
wasm_packages() { on_wasm go list ./core/... ./wasm/... | grep -v '/e2e$'; }

tools() {
	go version
	echo "node $(node --version), npm $(npm --version)"
	go build -o "$temp/tally" ./scripts/tally
	# Built for this machine first: `go tool` under GOOS=js would build a staticcheck that runs in WebAssembly.
	go build -o "$temp/staticcheck" honnef.co/go/tools/cmd/staticcheck
	find_browser
	find_curl
}

# find_browser finds Chromium, or installs it where that is ours to do.
find_browser() {
	local name
	for name in chromium chromium-browser google-chrome headless-shell; do
		command -v "$name" >/dev/null && { echo "browser: $(command -v "$name")"; return; }
	done
	fetch chromium "the browser tests are not optional"
}

# find_curl does the same for curl, which the proxy is tested with.
find_curl() { command -v curl >/dev/null || fetch curl "the proxy is tested with it"; }

# fetch takes a package and why it is needed.
fetch() {
	if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
		fail "$1 is missing, and $2. Install it (apt-get install $1) and run again."
	fi
	echo "$1 is missing: installing it"
	apt-get -qq update
	DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$1" >"$temp/apt" 2>&1 ||
		fail "apt-get could not install $1: $(tail -n 3 "$temp/apt")"
}

formatting() {
	local bad
	bad=$(gofmt -l core native wasm site scripts/*/)
	[[ -z $bad ]] || fail "not formatted, run gofmt -w on: $bad"
}

vet() {
	local packages
	packages=$(wasm_packages)
	go vet ./...
	# shellcheck disable=SC2086 # one word for each package
	on_wasm go vet $packages
}

staticcheck() {
	local packages
	packages=$(wasm_packages)
	"$temp/staticcheck" ./...
	# shellcheck disable=SC2086 # one word for each package
	on_wasm "$temp/staticcheck" $packages
}

# The house's own tests read and compile source, and theory is one goroutine's arithmetic: the race detector would only
# slow them down.
core_native() {
	local rooms
	rooms=$(go list ./core/... | grep -v '/core$')
	# shellcheck disable=SC2086 # one word for each package
	gotest -race $rooms
	gotest ./core
	gotest -run 'Theory' ./core/sim
}
core_wasm() { on_wasm gotest -exec="$(wasm_exec)" ./core/...; }
shells() { gotest -race ./native/... ./wasm/page/... ./site/... ./scripts/...; }

# browser is never taken from the test cache: what it tests is the built site and the installed browser. These are the
# page's main ways; test-page.sh walks all of them, which takes minutes.
browser() { gotest -count=1 -run "$main_ways" ./wasm/play/e2e/...; }
readonly main_ways='FirstSight|NativeNumbers|ASlider|FiveThousand|BrokenLink|HostileLink|StaysResponsive|SharedLink|SingleFile|EveryInputHasALabel|KeyboardAloneMoves|Offline'

run "tools" tools
run "gofmt" formatting
run "go vet, native and WebAssembly" vet
run "staticcheck, native and WebAssembly" staticcheck
run "core, native, race detector on" core_native
run "core, WebAssembly under node" core_wasm
run "the site" scripts/site.sh
run "proxy, page, site, scripts: native, race detector on" shells
run "the same bytes on every target" scripts/same.sh
run "the page in a real browser" browser
