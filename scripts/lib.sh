# shellcheck shell=bash
# The few words that all scripts share: go to the root of the tree, say, fail, and name missing tools.
# Sourced, never run: it has no set -e of its own and relies on its caller's.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# say prints a heading, so that the output of a long run can be skimmed.
say() { printf '\n== %s\n' "$*"; }

# fail prints what is wrong to standard error and ends the script.
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# hint says where a missing tool comes from.
hint() {
	case $1 in
	go) echo "Go 1.26 or newer, https://go.dev/dl/" ;;
	node | npm) echo "Node.js 20 or newer with npm, https://nodejs.org/" ;;
	gcc) echo "a C compiler, which go test -race needs: apt-get install gcc libc6-dev" ;;
	*) echo "see the README" ;;
	esac
}

# need ends the script unless every tool named is installed; it names all that are missing at once.
need() {
	local tool missing=
	for tool in "$@"; do
		command -v "$tool" >/dev/null || missing+=$(printf '\n  %s: %s' "$tool" "$(hint "$tool")")
	done
	[[ -z $missing ]] || fail "not found on this machine:$missing"
}

# wasm_exec prints the program that runs a WebAssembly test or command under node.
wasm_exec() { echo "$(go env GOROOT)/lib/wasm/go_js_wasm_exec"; }
