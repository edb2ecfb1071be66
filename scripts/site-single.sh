#!/usr/bin/env bash
# Builds the playground as one HTML file, bin/minilb.html, that opens from a memory stick without a server.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need go node npm

scripts/site.sh
node scripts/single.mjs site/dist bin/minilb.html
