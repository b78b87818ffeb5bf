# The commands of this project. What system packages they need they list, and ask first at a terminal; YES=1 does not ask.
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
PREFIX  ?= /usr/local
BUILD   := CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -funcalign=16 -X main.version=$(VERSION)'
LINT    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.14.0
TARGETS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
.PHONY: build install demo quick test test-all test-apps check bench bench-short mutants packages packages-check test-clients fuzz soak race steady strange test-wayland test-windows

build: ## the program, in bin/
	$(BUILD) -o bin/ ./cmd/aai-gateway
install: build ## the program, in PREFIX/bin; asks for the password where that is the system's
	@cd bin && { install -D -t $(PREFIX)/bin aai-gateway 2>/dev/null || sudo install -D -t $(PREFIX)/bin aai-gateway; } && \
		{ ln -sf aai-gateway $(PREFIX)/bin/axterminator 2>/dev/null || sudo ln -sf aai-gateway $(PREFIX)/bin/axterminator; } && echo "It is in $(PREFIX)/bin. Next, for your agents' clients: $$(command -v aai-gateway >/dev/null || echo $(PREFIX)/bin/)aai-gateway install"
demo: build ; scripts/need-packages scripts/demo-packages.txt && bin/aai-gateway demo ## real apps in a private session, driven by an agent
quick: ; scripts/quick ## the tests that need no other programs, as any user
test: ; scripts/need-tests && go test -timeout 40m -skip "$$(scripts/slow-tests)" ./... ## all tests but those of scripts/slow-tests.txt
test-all: ; scripts/need-tests && go test -timeout 60m ./... ## all tests: an hour on two cores
test-apps: ## 400 acts and twelve tasks on real programs, judged by others than us; a person's keys beside ten; what has a ref, by another's reading; 600 texts beside a planted keyboard; more descriptors; 62 tasks in pages, beside playwright-mcp
	scripts/need-packages scripts/desktop-packages.txt descriptors/packages.txt descriptors/more-packages.txt && scripts/need-apps && scripts/need-widgets && scripts/need-peers
	AAI_APPS=all go test -count=1 -v -timeout 120m ./apps && AAI_APPS=all go test -count=1 -v -timeout 120m -run 'RealComplete|RealPlanted|RealEvents|MorePrograms' ./internal/gui ./descriptors && AAI_AXE=$(CURDIR)/.cache/widgets/node_modules/axe-core/axe.min.js go test -count=1 -v -run AuditBesideAxe ./internal/gui && AAI_PAGES=all go test -count=1 -v -timeout 120m ./apps/pages
test-wayland test-windows: ; scripts/$@ ## test-windows: the Windows parts on Wine 10 of Debian 13, in a chroot of its own (2.5 GB). test-wayland: Wayland on sway, labwc, KWin and Mutter of Debian 13, in a chroot of its own (2 GB); SHELL_TOO=1 adds GNOME Shell
check: ## format, vet, lint, imports, code style, commit subjects, all platforms
	test -z "$$(gofmt -l . | tee /dev/stderr)"
	test -x .cache/bin/golangci-lint || GOBIN=$(CURDIR)/.cache/bin go install $(LINT)
	.cache/bin/golangci-lint run ./... && go test -run 'ImportRules|CodeStyle' . && scripts/check-subjects
	set -e; for t in $(TARGETS); do echo $$t; export GOOS=$${t%/*} GOARCH=$${t#*/} CGO_ENABLED=0; \
		case $$t in */amd64) go vet ./... ;; esac; go build -o /dev/null ./cmd/aai-gateway; done
bench: ## figures, beside bare floors and other people's programs in the same run
	scripts/need-packages scripts/test-packages.txt scripts/desktop-packages.txt scripts/bench-packages.txt && { scripts/need-peers || true; }
	go test -run '^$$' -bench . -timeout 40m ./bench ./internal/platform/linux/x11 ./internal/platform/linux/wayland
bench-short: ; scripts/bench-short ## every benchmark once, to see that it runs to its end
mutants: ; go run ./bench/mutants -n $${N:-20} ## breaks the code in N places drawn at random, and lists the breaks that no test notices
packages: ; scripts/packages ## all that others get of this commit, in dist/
packages-check: ; scripts/packages-check && scripts/packages-chroot ## looks at it, and installs it in a clean Debian, as root
test-clients: ; scripts/need-inspector && scripts/need-clients && AAI_CLIENTS=all go test -count=1 -v -run TestMCP/InstalledInto ./cmd/aai-gateway ## what install wrote, read by three clients
fuzz: ; scripts/fuzz 10s ## each fuzz target for ten seconds
soak: ; AAI_SOAK=10m AAI_KILL_ROUNDS=200 go test -count=1 -v -p 1 -timeout 20m -run 'UnderLoad|Kill' ./internal/doors/mcp ./internal/audit ./internal/secrets ./internal/oauth ./internal/policy ## a thousand agents over HTTP for ten minutes; 200 rounds of killing whoever writes
race: ; AAI_RACE_ROUNDS=300 go test -count=1 -v -timeout 60m -run NobodyAnswersByTyping ./internal/platform/linux/dialog ## 300 times another gateway types while a question comes up
strange: ; AAI_STRANGE=$${AAI_STRANGE:-300} go test -count=1 -v -timeout 400m -run RealStrange ./internal/gui ## random tasks in random windows of five toolkits; AAI_STRANGE windows each
steady: ; scripts/steady ## what starts real programs 20 times, the suite 5 times, also with all cores busy; AAI_STEADY_*
