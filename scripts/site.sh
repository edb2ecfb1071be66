#!/usr/bin/env bash
# Builds the playground into site/dist: the WebAssembly program, what loads it, the page and its chart library.
# It is put together beside site/dist and swapped in when complete, so a failing build leaves the last good site.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need go node npm

readonly dist=site/dist wasm=bin/minilb.wasm stamp=scripts/node_modules/.minilb-lock
mkdir -p bin
stage=$(mktemp -d bin/site.XXXXXX)

# put_back runs however the script ends: it never leaves the tree without a site/dist.
put_back() {
	[[ -d $dist ]] || mv "$stage/old" "$dist"
	rm -rf "$stage"
}
trap put_back EXIT

# fetch_parts fetches what the page takes from npm, only when the lock file is not the one last installed.
fetch_parts() {
	cmp -s scripts/package-lock.json "$stamp" && return
	npm --prefix scripts ci --silent
	cp scripts/package-lock.json "$stamp"
}

# calm are the packages in which no time is spent. They are compiled without inlining, which makes the program a
# twelfth smaller on the wire; the simulator and what it calls are compiled as usual.
readonly calm=(fmt encoding/... reflect compress/... time strconv os syscall/... minilb/core/param minilb/core/scenario minilb/wasm/...)

# compile links into a path that stays, because go build leaves an up-to-date file alone. Without the commit's name
# inside, the program changes only when its source does. It travels as Zstandard, which boot.js unpacks on any host.
compile() {
	local flags=() room
	for room in "${calm[@]}"; do flags+=("-gcflags=$room=-l"); done
	GOOS=js GOARCH=wasm go build -trimpath -buildvcs=false -ldflags='-s -w' "${flags[@]}" -o "$wasm" ./wasm/play
	[[ $wasm.zst -nt $wasm ]] || node scripts/pack.mjs "$wasm"
}

# gather puts every file of the site into the stage.
gather() {
	local modules=scripts/node_modules
	mkdir "$stage/new"
	cp -R site/static/. "$stage/new/"
	cp "$dist/placeholder.html" "$wasm.zst" "$stage/new/"
	cp "$(go env GOROOT)/lib/wasm/wasm_exec.js" "$stage/new/"
	cp $modules/uplot/dist/{uPlot.iife.min.js,uPlot.min.css} "$stage/new/"
	cp $modules/fzstd/umd/index.js "$stage/new/fzstd.js"
	cp $modules/qrcode-generator/dist/qrcode.js "$stage/new/"
	[[ -s $stage/new/index.html ]] || fail "site/static has no index.html: a site without its page is no site"
	node scripts/assemble.mjs "$stage/new"
}

# swap leaves an identical site alone, so that the program that embeds it is not linked again.
swap() {
	diff -rq "$dist" "$stage/new" >/dev/null 2>&1 && return
	mv "$dist" "$stage/old"
	mv "$stage/new" "$dist"
}

fetch_parts
compile
gather
swap
node scripts/sizes.mjs "$dist"
