#!/usr/bin/env bash
# Builds the playground into site/dist: the WebAssembly program, what loads it, the page and its chart library.
# It is put together beside site/dist and swapped in when complete, so a failing build leaves the last good site.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need go node npm gzip

readonly dist=site/dist wasm=bin/minilb.wasm stamp=scripts/node_modules/.minilb-lock
mkdir -p bin
stage=$(mktemp -d bin/site.XXXXXX)

# put_back runs however the script ends: it never leaves the tree without a site/dist.
put_back() {
	[[ -d $dist ]] || mv "$stage/old" "$dist"
	rm -rf "$stage"
}
trap put_back EXIT

# fetch_charts fetches the chart library, only when the lock file is not the one last installed.
fetch_charts() {
	cmp -s scripts/package-lock.json "$stamp" && return
	npm --prefix scripts ci --silent
	cp scripts/package-lock.json "$stamp"
}

# compile links into a path that stays, because go build leaves an up-to-date file alone. Without the commit's name
# inside, the program changes only when its source does.
compile() {
	GOOS=js GOARCH=wasm go build -trimpath -buildvcs=false -ldflags='-s -w' -o "$wasm" ./wasm/play
	[[ $wasm.gz -nt $wasm ]] || gzip -9nc "$wasm" >"$wasm.gz.new"
	[[ ! -e $wasm.gz.new ]] || mv "$wasm.gz.new" "$wasm.gz"
}

# gather puts every file of the site into the stage.
gather() {
	mkdir "$stage/new"
	cp -R site/static/. "$stage/new/"
	cp "$dist/placeholder.html" "$wasm" "$wasm.gz" "$stage/new/"
	cp "$(go env GOROOT)/lib/wasm/wasm_exec.js" "$stage/new/"
	cp scripts/node_modules/uplot/dist/{uPlot.iife.min.js,uPlot.min.css} "$stage/new/"
	[[ -s $stage/new/index.html ]] || fail "site/static has no index.html: a site without its page is no site"
}

# swap leaves an identical site alone, so that the program that embeds it is not linked again.
swap() {
	diff -rq "$dist" "$stage/new" >/dev/null 2>&1 && return
	mv "$dist" "$stage/old"
	mv "$stage/new" "$dist"
}

# gzipped prints a file as a server would send it.
gzipped() { if [[ -f $1.gz ]]; then cat "$1.gz"; else gzip -9nc "$1"; fi; }

# sizes prints what a visitor downloads.
sizes() {
	local file
	printf '%-22s %9s %9s\n' "$dist" raw gzip
	for file in "$dist"/*; do
		case $file in *.gz | */placeholder.html) continue ;; esac
		[[ -f $file ]] || continue
		printf '%-22s %9d %9d\n' "${file##*/}" "$(wc -c <"$file")" "$(gzipped "$file" | wc -c)"
	done
}

fetch_charts
compile
gather
swap
sizes
