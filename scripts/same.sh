#!/usr/bin/env bash
# Proves that a scenario gives the same bytes on every target; the comparison itself is the program scripts/same.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need go node

exec go run ./scripts/same "$@"
