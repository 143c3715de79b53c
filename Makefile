# make [build] | test | proof | vm | lint | fmt | asan | node-asan | tsan | fuzz | tidy | bench | bench-race | lab | soak |
# chaos | demo | versions | arm64 | windows | prebuild | release | deb | deb-arm64 | oci | oci-arm64 | chart | cmake | clean.
# CI (.ci/run) uses the same words.
# ARGS goes to the tool behind the word: make test ARGS=test/core, make bench ARGS=wake, make vm ARGS='v1 test/e2e/demo'.

SHELL := /bin/sh
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := build
.PHONY: build program-code test proof vm lint fmt asan node-asan tsan fuzz tidy bench bench-race lab soak chaos demo prebuild prebuild-arm64 prebuild-windows release deb deb-arm64 oci oci-arm64 chart packages versions arm64 windows cmake clean node typecheck bundle

BIN := node_modules/.bin
PLATFORM := $(shell node -p 'process.platform + "-" + process.arch' 2>/dev/null)
# The headers of the running Node where it has brought them; otherwise node-gyp downloads them.
NODEDIR := $(shell node -p 'const root = require("path").resolve(process.execPath, "../.."); require("fs").existsSync(root + "/include/node/node_api.h") ? root : ""' 2>/dev/null)

MODULES := node_modules/.package-lock.json
ADDON := build/Release/evictd.node
PREBUILD := dist/prebuilds/$(PLATFORM)/evictd.node

# Directories are listed too: their time changes when a file is added or removed.
SOURCES := $(shell find src)
NATIVE := $(shell find native -path native/test -prune -o -name '*.cc' -print -o -name '*.h' -print -o -type d -print)
FORMATTED := $(shell find native -name '*.cc' -o -name '*.h')

# $(call need,COMMAND,WHAT IS MISSING AND HOW TO GET IT)
need = @command -v $(1) >/dev/null 2>&1 || { echo 'evictd: $(2)' >&2; exit 1; }

build: $(PREBUILD) bundle program-code

bundle: dist/evictd.js dist/types/index.d.ts dist/man/evictd.8

# --- what must be there ---

node:
	$(call need,node,Node.js >= 20.19 is missing (https://nodejs.org))
	@node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' || \
		{ echo "evictd: Node.js >= 20.19 is needed, $$(command -v node) is $$(node -v)" >&2; exit 1; }
	$(call need,npm,npm is missing (it comes with https://nodejs.org))

# Only asked where something is compiled: a built tree needs neither.
define compiler
$(call need,$(firstword $(CXX)),a C++ compiler is missing: $(firstword $(CXX)) (Debian: apt-get install g++; others: set CXX))
$(call need,python3,python3 is missing: node-gyp needs it (Debian: apt-get install python3))
endef

define clang
$(call need,clang++,clang++ is missing: the sanitizers and fuzzers are built with it (Debian: apt-get install clang libclang-rt-14-dev))
endef

# npm writes this file last, so it is the stamp: an interrupted installation is done again.
$(MODULES): package-lock.json | node
	npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

# --- native ---

$(ADDON): binding.gyp $(NATIVE) $(MODULES) | node
	$(compiler)
	$(BIN)/node-gyp configure build --release --jobs max --loglevel=warn $(if $(NODEDIR),--nodedir='$(NODEDIR)')
	@touch $@

# Moved into place: a running evictd keeps the file that it has mapped.
$(PREBUILD): $(ADDON)
	@mkdir -p $(@D)
	@cp $< $@.new
	@strip --strip-all $@.new
	@mv $@.new $@

# For a release: the addon is rebuilt from nothing by prebuildify, to the same place.
prebuild: $(MODULES) | node
	$(compiler)
	$(if $(NODEDIR),npm_config_nodedir='$(NODEDIR)') $(BIN)/prebuildify --napi --strip --name evictd --out dist --quiet

# The same for arm64, by a cross compiler; `make arm64` runs the native tests with it under qemu-user.
ARM64 := dist/prebuilds/linux-arm64/evictd.node

prebuild-arm64: $(ARM64)

$(ARM64): native/CMakeLists.txt binding.gyp $(NATIVE) $(MODULES) | node
	$(call need,aarch64-linux-gnu-g++,the cross compiler for arm64 is missing (Debian: apt-get install g++-aarch64-linux-gnu))
	$(call need,cmake,cmake is missing (Debian: apt-get install cmake))
	$(BIN)/cmake-js compile --out build/arm64 --arch arm64 --prefer-make --log-level warn --CDCMAKE_SYSTEM_NAME=Linux \
		--CDCMAKE_SYSTEM_PROCESSOR=aarch64 --CDCMAKE_C_COMPILER=aarch64-linux-gnu-gcc --CDCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++
	@mkdir -p $(@D)
	@cp build/arm64/Release/evictd.node $@

# The same for Windows on x64; `make windows` runs its tests under Wine.
WINDOWS := dist/prebuilds/win32-x64/evictd.node
WINDOWS_TOOLS := native/js/windows/mingw-w64.cmake

prebuild-windows: $(WINDOWS) bundle

$(WINDOWS): native/CMakeLists.txt binding.gyp $(WINDOWS_TOOLS) $(NATIVE) $(MODULES) | node
	$(call need,x86_64-w64-mingw32-g++-posix,the cross compiler for Windows is missing (Debian: apt-get install g++-mingw-w64-x86-64-posix))
	$(call need,cmake,cmake is missing (Debian: apt-get install cmake))
	$(BIN)/cmake-js compile --out build/windows --arch x64 --prefer-make --log-level warn --CDCMAKE_TOOLCHAIN_FILE='$(abspath $(WINDOWS_TOOLS))'
	@mkdir -p $(@D)
	@cp build/windows/native/evictd.node $@

# What `npm pack` does first: the addons that the compilers here can build, and a look at what they are.
release: $(MODULES) | node
	@$(BIN)/tsx packaging/release.ts

# Debian packages with a Node of their own, fetched from npm; packaging/deb/build.ts.
DEB := build/deb/evictd_$(shell node -p 'require("./package.json").version' 2>/dev/null)
PACKED := CHANGELOG.md LICENSE $(wildcard docs/*.md examples/*) $(shell find packaging src/features/install -type f)

deb: $(DEB)_amd64.deb
deb-arm64: $(DEB)_arm64.deb

$(DEB)_amd64.deb: dist/prebuilds/linux-x64/evictd.node
$(DEB)_arm64.deb: $(ARM64)
$(DEB)_%.deb: dist/evictd.js dist/man/evictd.8 $(PACKED)
	$(call need,dpkg-deb,dpkg-deb is missing (Debian has it; others: the package dpkg))
	@$(BIN)/tsx packaging/deb/build.ts --arch $* --out $@

# An image for containers, of the same parts; packaging/oci/build.ts.
OCI := $(subst deb,oci,$(DEB))

oci: $(OCI)_amd64.tar
oci-arm64: $(OCI)_arm64.tar

$(OCI)_amd64.tar: dist/prebuilds/linux-x64/evictd.node
$(OCI)_arm64.tar: $(ARM64)
$(OCI)_%.tar: dist/evictd.js LICENSE $(shell find packaging -type f)
	$(call need,buildah,buildah is missing (Debian: apt-get install buildah))
	@$(BIN)/tsx packaging/oci/build.ts --arch $* --out $@

# The manifests of packaging/kubernetes as a Helm chart; packaging/chart.ts.
chart: | node
	@$(BIN)/tsx packaging/chart.ts

# A part of the proof: both kinds, installed and run.
packages: deb deb-arm64 oci
	@$(BIN)/vitest run --project packages

cmake: $(MODULES) | node
	$(compiler)
	$(call need,cmake,cmake is missing (Debian: apt-get install cmake))
	$(BIN)/cmake-js compile --out build/cmake --prefer-make --log-level warn

# --- JavaScript ---

dist/evictd.js: $(SOURCES) esbuild.config.js package.json $(MODULES) | node
	node esbuild.config.js

# Manual pages, completion and JSON Schema, from the commands and the configuration's schema.
dist/man/evictd.8: $(SOURCES) $(wildcard packaging/manual/*.ts) $(MODULES) | node
	$(BIN)/tsx packaging/manual/build.ts

# Without it everything is the same, and starts later. It is for one Node: asked every time.
program-code: dist/evictd.js $(PREBUILD)
	@node dist/program-code.js >/dev/null

# tsc emits no copy of a hand-written declaration, and the emitted ones refer to it.
dist/types/index.d.ts: $(SOURCES) tsconfig.json tsconfig.types.json $(MODULES) | node
	@rm -rf dist/types
	$(BIN)/tsc -p tsconfig.types.json
	@mkdir -p dist/types/native && cp src/native/acting.d.ts src/native/binding.d.ts src/native/reading.d.ts src/native/watch.d.ts dist/types/native/
	@$(BIN)/tsx packaging/declarations.ts

# --- words ---

typecheck: $(MODULES) | node
	$(BIN)/tsc -p .
	$(BIN)/tsc -p src/page

# ARGS: test files, those that are too long for CI included.
test: build typecheck
	@$(BIN)/vitest run $(if $(ARGS),$(ARGS),--project 'unit*' --project core)

# What CI leaves out, in parts: make proof ARGS='vm tsan' (docs/testing.md). A part that passed is left out until its files change.
proof: build typecheck
	@$(BIN)/tsx test/proof/run.ts $(ARGS)

# The one addon on every supported Node, fetched from npm: make versions ARGS=24
versions: build
	@$(BIN)/tsx test/versions/run.ts $(ARGS)

arm64: build $(ARM64)
	$(call need,qemu-aarch64-static,an emulator for arm64 is missing (Debian: apt-get install qemu-user-static))
	@$(BIN)/tsx test/arm64/run.ts $(ARGS)

# The tests find them there: what stands in for a system that is short of memory, and what needs neither Node nor a kernel.
WINE_PROGRAMS := $(addprefix build/wine/,memory_condition.exe job_limits_test.exe process_list_test.exe privilege_test.exe)
build/wine/job_limits_test.exe: native/kill/windows/job_limits.cc native/kill/windows/job_limits.h
PROCESS_LIST := $(addprefix native/,$(addprefix read/windows/,process_list.cc process_snapshot.cc process_times.cc) system/windows/wide_text.cc system/windows/error_text.cc)
build/wine/process_list_test.exe: $(PROCESS_LIST) native/system/system_error.cc native/read/windows/process_list.h native/read/windows/process_snapshot.h
build/wine/privilege_test.exe: native/system/windows/privilege.cc native/system/windows/privilege.h native/system/windows/error_text.cc native/system/system_error.cc

build/wine/%.exe: native/test/windows/%.cc
	@mkdir -p $(@D)
	x86_64-w64-mingw32-g++-posix -std=c++17 -O1 -Wall -Wextra -static -Inative $(filter %.cc,$^) -o $@ -lntdll

windows: prebuild-windows $(WINE_PROGRAMS)
	@$(BIN)/tsx test/windows/run.ts $(ARGS)

vm: build
	@$(BIN)/tsx test/vm/run.ts $(ARGS)

lint: $(MODULES) | node
	@failed=; \
	$(BIN)/oxlint || failed="$$failed oxlint"; \
	$(BIN)/oxfmt --check || failed="$$failed oxfmt"; \
	$(BIN)/clang-format --dry-run -Werror $(FORMATTED) </dev/null || failed="$$failed clang-format"; \
	test -z "$$failed" || { echo "evictd: lint failed:$$failed" >&2; exit 1; }

fmt: $(MODULES) | node
	$(BIN)/oxlint --fix; status=$$?; \
	$(BIN)/oxfmt && $(BIN)/clang-format -i $(FORMATTED) </dev/null && exit $$status

# asan, tsan, tidy: the native code without Node. node-asan: the addon under Node. fuzz: each parser for FUZZ_SECONDS (60).
# See docs/testing.md.
asan:
	$(clang)
	@$(MAKE) --no-print-directory -C native/test asan

node-asan: $(MODULES) | node
	$(clang)
	@$(MAKE) --no-print-directory -C native/test node-asan

tsan:
	$(clang)
	@$(MAKE) --no-print-directory -C native/test tsan

fuzz: $(MODULES) | node
	$(clang)
	@$(MAKE) --no-print-directory -C native/test fuzz
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-60} $(BIN)/vitest run test/fuzz

tidy: $(MODULES) | node
	$(call need,clang-tidy,clang-tidy is missing (Debian: apt-get install clang-tidy))
	@$(MAKE) --no-print-directory -C native/test tidy

bench: build
	@$(BIN)/tsx test/bench/run.ts $(ARGS)

# How often evictd kills before the kernel's OOM killer does: make bench-race ROUNDS=50
ROUNDS ?= 10

bench-race: build
	@$(BIN)/tsx test/bench/race.ts --rounds=$(ROUNDS) $(ARGS)

# Contestants and a leak in virtual machines: make lab ARGS='race --rounds=3 --rates=50,0 earlyoom evictd' (docs/lab.md)
lab: build
	@exec $(BIN)/tsx test/lab/run.ts $(ARGS)

# Whether anything grows in an hour: make soak; whether it runs: make soak ARGS=--seconds=20
soak: build
	@exec $(BIN)/tsx test/soak/run.ts $(ARGS)

# Random actions against evictd, and an independent checker: make chaos ARGS='--seed=N --actions=M' (docs/testing-chaos.md)
chaos: build
	@exec $(BIN)/tsx test/chaos/run.ts $(ARGS)

# The output of the build goes to a file; a terminal shows its last line. exec: Ctrl-C reaches the demo, which cleans up.
BUILD_LOG := build/make.log

demo:
	@mkdir -p build; rm -f $(BUILD_LOG).failed; \
	{ $(MAKE) --no-print-directory build 2>&1 || touch $(BUILD_LOG).failed; } | tee $(BUILD_LOG) | \
	if [ -t 2 ]; then \
		while IFS= read -r line; do printf '\r\033[K%.79s' "building: $$line" >&2; done; printf '\r\033[K' >&2; \
	else cat >/dev/null; fi; \
	if [ -e $(BUILD_LOG).failed ]; then cat $(BUILD_LOG) >&2; exit 1; fi; \
	exec node dist/evictd.js demo $(ARGS)

clean:
	rm -rf build dist
