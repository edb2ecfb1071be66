#!/usr/bin/env bash
# Builds the playground and then bin/minilb, in this order because the program carries the playground inside.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need go node npm

scripts/site.sh
go build -o bin/minilb ./native/minilb
