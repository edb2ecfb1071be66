#!/usr/bin/env bash
# Starts the demonstration (three backends, the proxy, the playground) after rebuilding what changed.
# The program replaces this shell, so that Ctrl-C and the exit code are the program's own.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

echo "building what changed" >&2
scripts/build.sh >/dev/null
exec bin/minilb demo "$@"
