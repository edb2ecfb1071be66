#!/usr/bin/env bash
# Removes what the other scripts built or downloaded, and leaves the committed placeholder of the site.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

rm -rf bin scripts/node_modules
find site/dist -mindepth 1 ! -name placeholder.html -delete
