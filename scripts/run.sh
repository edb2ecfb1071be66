#!/usr/bin/env bash
# Starts the demonstration (three backends, the proxy, the playground) after rebuilding what changed.
# The program replaces this shell, so that Ctrl-C and the exit code are the program's own.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

scripts/build.sh >&2
exec bin/minilb demo "$@"
