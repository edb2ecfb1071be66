# The commands of minilb. Each one is a script in scripts/: a reader finds the how and why there.
# `make` alone lists them. Arguments for the program: make run ARGS='--help'.

.DEFAULT_GOAL := help
.PHONY: help run test test-page build site site-single same bench theory clean
MAKEFLAGS += --no-print-directory

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

run: ## build what changed, then start three backends, the proxy and the playground; Ctrl-C stops all
	@exec scripts/run.sh $(ARGS)

test: ## every check, from formatting to a real browser; sets up what it needs
	@exec scripts/test.sh

test-page: ## every way through the page in a real browser, minutes
	@exec scripts/test-page.sh

build: ## the playground and bin/minilb
	@exec scripts/build.sh

site: ## the playground alone, into site/dist
	@exec scripts/site.sh

site-single: ## the playground as one HTML file, bin/minilb.html, that opens without a server
	@exec scripts/site-single.sh

same: ## golden scenarios give the same bytes on amd64, amd64 v3 and WebAssembly
	@exec scripts/same.sh

bench: ## benchmarks of core, native and under node
	@exec scripts/bench.sh

theory: ## the simulator against queueing theory, minutes at full length
	@exec scripts/theory.sh

clean: ## remove everything that was built or downloaded here
	@exec scripts/clean.sh
