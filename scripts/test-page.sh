#!/usr/bin/env bash
# Walks every way through the page in a real browser: all views with axe, every golden link, exports, languages. It takes
# about seven minutes; `make test` walks the main ones.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need go node npm

scripts/site.sh
go test -count=1 -timeout 20m ./wasm/play/e2e/...
