# Two commands do everything on a fresh Debian machine with Go and gcc:
#   make demo   builds the server and shows its main job on a sample repository
#   make test   installs what the tests need and runs them (the part for VS Code needs Node and npm); make test-all runs those that are rare and slow

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X github.com/sidecar-ls/sidecar-ls/internal/sys/version.version=$(VERSION)
# The C sources of the grammars are not ours to mend: no warnings about them.
export CGO_CFLAGS := -O2 -w

VSCODE  := editors/vscode
LINT    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.12.2

.PHONY: build demo cross platforms windows release man test test-all sweep quick lint bench scoreboard soak bench-knowledge bench-questions bench-network fuzz generate install clean tools machine

build: ## the server, in bin/
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/sidecar-ls ./cmd/sidecar-ls

demo: build ## the main job, in colour; with DIR=~/tally only its sample repository, to try things in
	$(GO) run ./internal/test/demo -server bin/sidecar-ls $(if $(DIR),-into $(DIR))

# All that we link takes minutes to compile, so this does it twice and no more: vet reads what the tests link,
# and the server that they start is compiled with -trimpath, as build does.
test: tools ## all but the rare with the race detector, and the extension in VS Code's newest workbench
	$(GO) vet -race ./...
	$(GO) test -race -timeout 40m ./...
	cd internal/release && $(GO) vet -race ./... && $(GO) test -race ./...
	$(MAKE) test-vscode

# Packages with tests that slow.Rare leaves to this; those that are short run once more.
RARE = $(shell grep -rl --include='*_test.go' 'slow\.Rare(t)' . | xargs -n1 dirname | sort -u)

test-all: tools ## what is rare and slow: long tests, Windows under Wine, the oldest VS Code
	SIDECAR_TESTS=rare $(GO) test -race -short -timeout 40m $(RARE)
	$(MAKE) windows
	$(MAKE) test-vscode-floor

SWEPT := ./internal/agents/loop ./pendingedits ./pki/treesitter ./internal/git/gitrepo ./internal/box/sandbox ./internal/files/workspace ./tools/search ./shadow

sweep: tools ## all that the tests try a part of: each failpoint, long random runs from fresh seeds; hours
	$(GO) test -timeout 10h $(SWEPT) -everything

quick: ## the everyday loop, two minutes when all has changed: the tests of units that are short, without the race detector and without installing anything
	$(GO) test -short $$($(GO) list ./... | grep -v /internal/test/e2e/)
	cd internal/release && $(GO) test -short ./...

tools: ## what the tests run: real editors, ripgrep and ctags to compare with, bubblewrap for the sandbox, shells to complete in, a file system that ignores letter case, language servers, agents
	@missing=""; \
	command -v nvim >/dev/null || missing="$$missing neovim"; \
	command -v emacs >/dev/null || missing="$$missing emacs-nox elpa-eglot"; \
	command -v rg   >/dev/null || missing="$$missing ripgrep"; \
	command -v git  >/dev/null || missing="$$missing git"; \
	command -v ctags >/dev/null || missing="$$missing universal-ctags"; \
	command -v bwrap >/dev/null || missing="$$missing bubblewrap"; \
	command -v npm  >/dev/null || missing="$$missing nodejs npm"; \
	command -v zsh  >/dev/null || missing="$$missing zsh"; \
	command -v fish >/dev/null || missing="$$missing fish"; \
	command -v mkfs.exfat >/dev/null || missing="$$missing exfatprogs exfat-fuse"; \
	if [ -n "$$missing" ]; then \
	  sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  $$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	fi
	@GO=$(GO) internal/langserver/testdata/setup.sh >/dev/null
	@internal/test/clients/testdata/setup.sh >/dev/null

machine: tools $(VSCODE)/node_modules/.package-lock.json ## all that make test installs, and nothing is tested
	internal/test/platforms/testdata/windows.sh --setup
	$(VSCODE)/scripts/setup.sh workbench >/dev/null
	$(VSCODE)/scripts/setup.sh workbench floor >/dev/null

# The linter's own cache is shared by all clones: what it found in one that is gone comes back in another, without the comments that excuse it.
lint: export GOLANGCI_LINT_CACHE := $(CURDIR)/bin/test/lint
lint: ## golangci-lint, at the version that this project is clean with
	$(GO) run $(LINT) run ./...
	cd internal/release && $(GO) run $(LINT) run ./...

bench: build tools ## each figure beside its anchor; BENCH_REPO=dir measures search there too, BENCH_GIT=dir shadows of that repository
	$(GO) run ./bench/search $(BENCH_REPO)
	$(GO) run ./bench/git $(BENCH_GIT)
	$(GO) run ./bench/symbols $(BENCH_REPO)
	$(GO) run ./bench/server -server bin/sidecar-ls
	$(GO) run ./bench/redact
	$(GO) run ./bench/shadow $(BENCH_GIT)
	$(GO) run ./bench/sandbox -server bin/sidecar-ls
	$(GO) run ./bench/world -server bin/sidecar-ls
	$(GO) run ./bench/agent -server bin/sidecar-ls
	$(GO) run ./bench/langserver -server bin/sidecar-ls

scoreboard: ## what is said of safety, tried on hostile inputs: how many were tried, how many held, and the controls
	$(GO) run ./bench/scoreboard

soak: build ## 100,000 mixed calls, and what grows
	$(GO) run ./bench/soak -server bin/sidecar-ls

# BENCH holds query sets (*.jsonl); their repositories are in BENCH/repos, or in the directory REPOS.
bench-knowledge: ## how well the project index answers the query sets in BENCH, beside simpler rankings; CACHE=dir learns the order again, with indexes kept there, and writes it to LEARNED=file; QUESTIONS=file makes a query set of the commits and comments of the repositories in REPOS; TREE=dir measures its speed there; EMBEDDINGS=ollama or openai, with URL, MODEL and the key in EMBEDDINGS_KEY, adds a column with vectors
	$(GO) run ./bench/knowledge $(if $(BENCH),-set $(BENCH)) $(if $(REPOS),-repos $(REPOS)) $(if $(CACHE),-cache $(CACHE)) $(if $(LEARNED),-learned $(LEARNED)) $(if $(QUESTIONS),-questions $(QUESTIONS)) $(if $(TREE),-speed $(TREE)) $(if $(EMBEDDINGS),-embeddings $(EMBEDDINGS)) $(if $(URL),-url $(URL)) $(if $(MODEL),-model $(MODEL))

bench-network: build ## MB/s and the first byte through a session's way to other hosts, beside the direct one
	$(GO) run ./bench/network -server bin/sidecar-ls

bench-questions: build ## how often a person is asked in ten days of work, by mode, beside the first count; fails where nobody would be asked and must be
	$(GO) run ./bench/questions -server bin/sidecar-ls -o bench/questions/RESULTS.md

generate: ## the files that are made from the code: docs and golden files
	$(GO) test ./... -run 'Golden|Generated|Snapshot|Matrix' -update

fuzz: ## each fuzz target for FUZZTIME
	@for p in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	  echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $${FUZZTIME:-30s} $$p || exit 1; done; done

# The builder is a module of its own, so that what it needs is no dependency of the server.
RELEASE = $(GO) build -C internal/release -buildvcs=false -o $(CURDIR)/bin/release . && bin/release -zig "$$(internal/release/toolchain/setup.sh)" $(if $(TARGETS),-targets $(TARGETS))

cross: ## the server for all six targets, in dist/; TARGETS=linux-arm64,windows-amd64 makes some
	$(RELEASE) cross

platforms: ## what was built for other systems, tried under qemu and Wine; before a release
	$(MAKE) cross TARGETS=linux-amd64,linux-arm64,windows-amd64
	internal/test/platforms/testdata/run.sh

windows: ## the Windows server without its parsers, under Wine: the part of the above that make test-all has
	internal/test/platforms/testdata/windows.sh --quick

release: $(VSCODE)/node_modules/.package-lock.json ## all that version VERSION is published as, in dist/
	export PATH="$$($(VSCODE)/scripts/setup.sh)/node/bin:$$PATH"; $(RELEASE) -version "$(VERSION)" release

man: ## the documents as man pages, in dist/man: man -M dist/man sidecar-ls, and sidecar-ls-claude, …
	$(GO) run ./docs/man README.md dist/man

install: ## into GOBIN
	$(GO) install -trimpath -ldflags '$(LDFLAGS)' ./cmd/sidecar-ls

clean:
	rm -rf bin dist

# The extension for VS Code. Node packages come from npm, Chromium from Debian; the workbench to test and try it in goes to a cache.
VSCODE_URL := https://github.com/sidecar-ls/sidecar-ls
VSCODE_OS   = $(patsubst windows,win32,$(shell $(GO) env GOOS))
VSCODE_ARCH = $(patsubst arm,armhf,$(patsubst amd64,x64,$(shell $(GO) env GOARCH)))
VSCODE_TARGET = $(VSCODE_OS)-$(VSCODE_ARCH)

.PHONY: vsix vscode unit-vscode test-vscode test-vscode-floor bench-vscode pictures screens stopwatch

$(VSCODE)/node_modules/.package-lock.json: $(VSCODE)/package-lock.json
	cd $(VSCODE) && npm ci --ignore-scripts --no-audit --no-fund --silent

# All of it runs with the Node of that cache, as Debian's is too old for some.
VSCODE_IN = cd $(VSCODE) && export PATH="$$(scripts/setup.sh $(1))/node/bin:$$PATH" &&

vsix: build $(VSCODE)/node_modules/.package-lock.json ## the extension with the server in it, for this platform
	$(call VSCODE_IN) npm run --silent typecheck && node scripts/build.mjs --server ../../bin/sidecar-ls$(shell $(GO) env GOEXE) && cd build && \
	  ../node_modules/.bin/vsce package --no-dependencies --target $(VSCODE_TARGET) --baseContentUrl $(VSCODE_URL)/blob/HEAD/$(VSCODE) --baseImagesUrl $(VSCODE_URL)/raw/HEAD/$(VSCODE) -o ../sidecar-$(VSCODE_TARGET).vsix

vscode: vsix ## installs it into VS Code, or opens a workbench in the browser with a sample
	$(call VSCODE_IN) node scripts/try.mjs sidecar-$(VSCODE_TARGET).vsix ../../bin/sidecar-ls

unit-vscode: vsix ## the extension is built, and what of it needs no VS Code is tested
	$(call VSCODE_IN) node scripts/unit.mjs

test-vscode: vsix ## its tests, in VS Code's own newest workbench, and those of its pages
	$(call VSCODE_IN,workbench) node scripts/unit.mjs && VSIX=sidecar-$(VSCODE_TARGET).vsix scripts/e2e.sh newest page

test-vscode-floor: vsix ## the same in the oldest workbench that it runs in
	$(call VSCODE_IN,workbench) scripts/setup.sh workbench floor >/dev/null && VSIX=sidecar-$(VSCODE_TARGET).vsix scripts/e2e.sh floor

pictures: vsix ## those of the README and of the extension, in the workbench with a real agent whose model is scripted, into editors/vscode/build/pictures; ONLY=agent takes that with the agent alone
	$(call VSCODE_IN,workbench) node scripts/pictures.mjs sidecar-$(VSCODE_TARGET).vsix build/pictures $(ONLY)

screens: vsix ## what the extension's tests see, in light, dark and high contrast at 900 and 1,440 pixels, into editors/vscode/build/screens; ONLY=manage takes those of test/e2e/manage.test.mjs alone
	$(call VSCODE_IN,workbench) VSIX=sidecar-$(VSCODE_TARGET).vsix WORKBENCH=newest SHOTS=build/screens node --test --test-concurrency=1 --test-reporter=spec $(if $(ONLY),test/e2e/$(ONLY).test.mjs,$$(grep -L agentStep.mjs test/e2e/*.test.mjs))

STOPWATCH := $(CURDIR)/bin/test/stopwatch

stopwatch: tools vsix ## counts and times the first reviewed edit with each agent, and writes the table of docs/agents.md; on a machine that does nothing else
	rm -rf $(STOPWATCH) && mkdir -p $(STOPWATCH) bin/test/agents
	npm install --ignore-scripts --silent --prefix bin/test/agents @google/gemini-cli@0.61.0 opencode-ai@1.18.33
	SIDECAR_STOPWATCH=$(STOPWATCH) SIDECAR_AGENTS=$(CURDIR)/bin/test/agents SIDECAR_TESTS=rare $(GO) test -count=1 -p 1 ./internal/test/e2e/run ./internal/test/e2e/editors -run Stopwatch
	$(call VSCODE_IN,workbench) SIDECAR_STOPWATCH=$(STOPWATCH) VSIX=sidecar-$(VSCODE_TARGET).vsix WORKBENCH=newest node --test --test-concurrency=1 test/e2e/stopwatch.test.mjs
	SIDECAR_STOPWATCH=$(STOPWATCH) $(GO) test -count=1 ./internal/test/stopwatch -update

bench-vscode: vsix ## the extension's activation and a large tree, in VS Code's own workbench, beside what is promised
	$(call VSCODE_IN,workbench) timeout -k 20 600 node bench/bench.mjs sidecar-$(VSCODE_TARGET).vsix
