# Everything that people and CI run. What needs more than a few lines is a Go program in hack/.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
TOOL        := go tool -modfile=tools/go.mod
MAKEFLAGS   += --no-print-directory
N           ?= 10000
ROUNDS      ?= 5
SOAK        ?= 5m
LIVES       ?= 1000
SEED        ?= 1
VERSION     ?= dev
LONGEST     := ./test/scenario ./internal/controller/bindy/... ./cmd/operator ./test/chart # begin first, or they end alone
AT_ONCE     := $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN)) # packages: half of them wait for servers at any time
PEERS_OUT   := $(or $(BENCH_OUT),dist/peers.json)
HUGO        := go tool -modfile=tools/site/go.mod hugo --source site
HELM        := go tool -modfile=charts/go.mod helm
# Another clone, images and releases use what is compiled for this one: neither its folder nor a C compiler is in it.
export CGO_ENABLED := 0
export GOFLAGS     := $(sort $(shell go env GOFLAGS) -trimpath)
# Generated from the types in api/, the markers in internal/controller and the chart; committed.
GENERATED   := find config/crd config/rbac config/install config/dashboards api docs/*.svg docs/performance.md -type f \
	\( -name "*.yaml" -o -name "*.json" -o -name "zz_generated.*" -o -name "*.svg" -o -name performance.md \)

.PHONY: help build test beside acceptance race lint generate verify e2e soak sim mutations demo bench image release site

help: ## list the targets
	@grep -hE '^[a-z0-9]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

build: ## compile every program into bin/
	@echo "compiling (some minutes the first time)"
	mkdir -p bin && go build -v -o bin/ ./cmd/... 2>&1 | awk '/[ :#]/ || NR % 100 == 0'

test: ## everything that must pass: what it needs, build, lint, verify, all tests
	go run ./hack/prerequisites
	go run ./hack/cluster build
	$(MAKE) build lint verify
	go test -vet=off -p $(AT_ONCE) -timeout 60m $(LONGEST) \
		$$(go list ./... | grep -vE '/(test/(e2e|soak)|internal/backend/engine)$$') # lint has vetted them
	$(MAKE) e2e # by itself: it measures gaps of answers, which a busy machine has too
	$(MAKE) -j2 soak beside SOAK=1m # what is soaked waits for most of the time

beside:
	go -C charts test -count=1 ./... # the cache does not look at files outside of a module
	CGO_ENABLED=1 go test -race -timeout 20m ./internal/backend/engine # where goroutines meet; it is not tested without -race before

acceptance: ## the code of Gardener, of external-dns, of clients of RFC 2136 and of oauth2-proxy judges ours; compiles them, some minutes the first time; as root; not part of test
	go run ./hack/prerequisites -acceptance
	go run ./hack/cluster build
	go -C test/acceptance/gardener vet ./...
	go -C test/acceptance/gardener test -count=1 -timeout 30m ./...
	GOTOOLCHAIN=auto go -C test/acceptance/externaldns vet ./...
	GOTOOLCHAIN=auto go -C test/acceptance/externaldns/program tool -n external-dns
	GOTOOLCHAIN=auto go -C test/acceptance/externaldns test -count=1 -timeout 30m ./...
	go -C test/acceptance/updates vet ./...
	go -C test/acceptance/updates test -count=1 ./...
	go vet -tags acceptance ./test/console
	go test -tags acceptance -count=1 -run TestBehindOAuth2Proxy ./test/console

lint: ## go vet, golangci-lint with .golangci.yml, and actionlint for .github/workflows
	@echo "linting (compiles the pinned golangci-lint the first time, about two minutes)"
	go vet ./...
	go -C charts vet ./...
	$(TOOL) golangci-lint run ./...
	go tool -modfile=tools/release/go.mod actionlint -shellcheck= -pyflakes= # the same result whether or not the machine has these

generate: ## write CRDs, deep copies, RBAC, the install manifest, the pictures and the dashboards from api/, internal/controller, charts/ and hack/
	$(TOOL) controller-gen object paths=./api/...
	$(TOOL) controller-gen crd paths=./api/... output:crd:dir=config/crd
	rm -f config/rbac/*.yaml
	for part in internal/controller internal/controller/*/; do below=$${part##*[!/]}; $(TOOL) controller-gen \
		rbac:roleName=zonefold-operator,fileName=$$(basename $$part).yaml paths=./$$part$${below:+...} output:rbac:dir=config/rbac; done
	go run ./hack/picture docs
	go run ./hack/bench/report -into docs/performance.md docs/performance.json
	go run ./hack/dashboards config/dashboards
	{ cat charts/namespace.yaml; $(HELM) template zonefold charts/zonefold -n zonefold-system; } > config/install/zonefold.yaml

verify: ## fail if generated files or go.mod differ from what their sources say
	@before=$$(mktemp); trap 'rm -f $$before' EXIT; mkdir -p config/crd config/rbac; \
	$(GENERATED) -exec sha256sum {} + | sort > $$before; $(MAKE) generate; \
	$(GENERATED) -exec sha256sum {} + | sort | diff $$before - || \
		{ echo "the files above were out of date; they are right now: look at them and commit them"; exit 1; }
	go mod tidy -diff

e2e: ## fleets of BIND in Pods of a real node, as root on Linux; part of test
	go run ./hack/prerequisites
	go run ./hack/cluster build
	go test -count=1 -vet=off -timeout 30m ./test/e2e

soak: ## pods, sidecars, operators and API server killed at random for SOAK=5m under load; a minute of it is part of test
	go run ./hack/prerequisites
	go run ./hack/cluster build
	go test -count=1 -vet=off -timeout 0 -v ./test/soak -for=$(SOAK)

sim: ## LIVES=1000 random lives of the operator in virtual time, from SEED=1 on, each lived twice, without a fault and with one; 150 are part of test
	LIVES=$(LIVES) SEED=$(SEED) go test -count=1 -timeout 0 -v -run 'TestRandomLives$$' ./cmd/operator | grep -vE '=== (RUN|PAUSE|CONT)|--- PASS'

race: ## every test but those in Pods, with the race detector; half an hour on two cores; not part of test
	go run ./hack/prerequisites
	go run ./hack/cluster build
	CGO_ENABLED=1 go test -race -timeout 60m $(LONGEST) $$(go list ./... | grep -vE '/(test/(e2e|soak)|internal/controller/bindy(/.*)?)$$')

mutations: ## faults put into the operator, one at a time: which of LIVES=1000 lives finds each
	LIVES=$(LIVES) SEED=$(SEED) go run ./hack/mutations

demo: ## a control plane, the operator, real BINDs and examples/quickstart; with DEMO=bind, Pods with fleets of BIND, with DEMO=webhook, a server of the signed webhook protocol, with DEMO=gardener, a DNSRecord of Gardener in PowerDNS; Ctrl-C ends all of it
	go run ./hack/prerequisites
	go run ./hack/demo $(DEMO)

bench: ## measure: the core, the command, the system with N=10000 Records, the embedded name server, a million Records without an API server, DNSRecords over a webhook, DNSRecords of Gardener in two accounts, dynamic updates, Services, and, as root on Linux, fleets of BIND; with PEERS=1 only zonefold beside external-dns, and the name server beside others, in ROUNDS=5, with a report beside BENCH_OUT
	go run ./hack/prerequisites
ifdef PEERS
	mkdir -p $(dir $(PEERS_OUT))
	BENCH_OUT=$(PEERS_OUT) go run ./hack/bench/sources -n $(N) -rounds $(ROUNDS)
	BENCH_OUT=$(PEERS_OUT) go run ./hack/bench/dns -only qps -rounds $(ROUNDS)
	go run ./hack/bench/report $(PEERS_OUT)
else
	go test -run '^$$' -bench . -benchmem ./internal/dnsname ./internal/rr ./internal/zone ./internal/plan ./internal/cli
	go run ./hack/bench -n $(N) -rounds $(ROUNDS)
	go run ./hack/bench/dns -rounds $(ROUNDS)
	go run ./hack/bench/core
	go run ./hack/bench/webhook -n $(N)
	go run ./hack/bench/gardener
	go run ./hack/bench/updates
	go run ./hack/bench/sources -n $(N) -source service -alone -rounds $(ROUNDS)
	go run ./hack/bench/fleet -n $(N)
endif

site: ## the documentation as a site, in dist/site and at http://localhost:1313; compiles Hugo the first time, some minutes
	$(HUGO) --destination $(CURDIR)/dist/site --cleanDestinationDir
	$(HUGO) server --renderToMemory

image: ## container images as OCI archives in dist/, tagged VERSION=dev; no container engine needed
	@echo "compiling for two architectures (some minutes the first time)"
	go run ./hack/image -version $(VERSION)

release: ## all that VERSION=v0.1.0 consists of, from this commit, in dist/VERSION: programs, images, chart, checksums and more; offline
	@echo "compiling for six platforms (half an hour the first time)"
	go run ./hack/release -version $(VERSION)
