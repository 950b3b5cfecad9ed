# `make` lists the targets. Each target installs what it needs on its first run.
SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Node 24 comes with the npm packages, so an older Node on the machine is enough.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
INSTALLED := node_modules/.package-lock.json
# The lab needs no development packages. If all packages are installed, they are used.
ONLY_TO_RUN := node_modules/.only-to-run
TO_RUN := $(if $(wildcard $(INSTALLED)),$(INSTALLED),$(ONLY_TO_RUN))
# The name of the test cluster; `make cluster NAME=two` starts a second cluster.
NAME ?= dev

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The compile cache is filled before the first start: a process that strips TypeScript itself needs 80 MiB more. A small
# semi-space saves another 20 MiB.
.PHONY: lab
lab: $(TO_RUN) ## try it: a small Kubernetes on this machine with the operator and an etcd cluster (no root); ARGS=--help
	@export NODE_COMPILE_CACHE="$${XDG_CACHE_HOME:-$$HOME/.cache}/etcd-operator/compiled"; \
		[ -d "$$NODE_COMPILE_CACHE" ] || node tools/compile.ts; \
		NODE_OPTIONS="--max-semi-space-size=2 $$NODE_OPTIONS" exec node lab/main.ts $(ARGS)

.PHONY: test
test: $(INSTALLED) ## run format, lint, types, tests, and one story per capability on a lab of their own (no root, minutes)
	@node tools/check.ts test

.PHONY: check
check: $(INSTALLED) ## run all that CI runs: make test as a new user, every suite, stories in turns on lab and cluster (root)
	@node tools/check.ts all

.PHONY: e2e-all
e2e-all: $(INSTALLED) ## run every suite and every story on lab and cluster, and write docs/development/full-run.md (root)
	@node tools/check.ts full

.PHONY: flakes
flakes: $(INSTALLED) ## run one story many times on the lab: make flakes STORY="part of its title" N=20
	@node tools/check/flakes.ts --story "$(STORY)" --times $(or $(N),20)

.PHONY: chaos
chaos: $(INSTALLED) ## check linearizability under faults, on the test cluster (root) or with ON=lab; MINUTES=10 SEED=7
	@node tools/chaos.ts --minutes $(or $(MINUTES),10) --on $(or $(ON),cluster) --cluster $(NAME) $(if $(SEED),--seed $(SEED))

.PHONY: fuzz
fuzz: $(INSTALLED) ## offer machine-made bad objects to the lab and the operator: make fuzz FUZZ_OBJECTS=100000 FUZZ_SEED=7
	@FUZZ_OBJECTS="$(or $(FUZZ_OBJECTS),100000)" FUZZ_SEED="$(or $(FUZZ_SEED),$(shell od -An -N3 -tu4 /dev/urandom | tr -d ' '))" \
		vitest run --project fuzz

.PHONY: mutants
mutants: $(INSTALLED) ## plant bugs one by one, and list the tests that detect them; ONLY="name name" for some
	@node tools/mutants/main.ts $(if $(ONLY),--only "$(ONLY)")

.PHONY: simulate
simulate: $(INSTALLED) ## run simulated lives of the whole operator: make simulate SEED=7 shows one, MINUTES=60 soaks
	@node test/simulator/main.ts $(if $(SEED),--seed $(SEED)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(LIVES),--lives $(LIVES))

.PHONY: fmt
fmt: $(INSTALLED) ## format the sources and apply automatic fixes
	@biome check --write --log-level=warn .
	@oxlint --fix --quiet

.PHONY: cluster
cluster: $(INSTALLED) ## start a real Kubernetes of three nodes on this machine (root)
	@node tools/cluster/main.ts up --name $(NAME)

.PHONY: cluster-down
cluster-down: $(INSTALLED) ## remove the test cluster completely
	@node tools/cluster/main.ts down --name $(NAME)

.PHONY: node
node: $(INSTALLED) ## stop, start, cut or join nodes: make node DO="stop-node node2", DO="cut node1 node3"
	@node tools/cluster/main.ts $(DO) --name $(NAME)

.PHONY: e2e
e2e: $(INSTALLED) ## run the user stories on the test cluster, or with KUBECONFIG=… on another; STORY=… picks by title
	@node tools/e2e.ts $(if $(filter command line,$(origin KUBECONFIG)),--kubeconfig "$(KUBECONFIG)",--cluster $(NAME)) $(if $(STORY),--story "$(STORY)")

.PHONY: image
image: $(INSTALLED) ## build the operator's image into dist/, and push it to the test cluster if it is up
	@node tools/images/main.ts --cluster $(NAME)

.PHONY: verify-node
verify-node: $(INSTALLED) ## compare the image's node with Node's official release and checksums (needs nodejs.org); ARGS=--help
	@node tools/images/verify-node.ts $(ARGS)

$(INSTALLED): package.json lab/package.json package-lock.json
	@sh tools/install.sh
	@touch $@

# Removes npm's marker of a full installation, so that other targets install all packages.
$(ONLY_TO_RUN): package.json lab/package.json package-lock.json
	@sh tools/install.sh --omit=dev
	@rm -f $(INSTALLED)
	@touch $@

.PHONY: bench
bench: $(INSTALLED) ## measure speed against the same work by hand, memory and writes, on the test cluster (root)
	@node tools/cluster/main.ts up --name $(NAME) > /dev/null
	@node tools/images/main.ts --cluster $(NAME) > /dev/null
	@node bench/main.ts $(NAME) $(or $(PAIRS),5) $(API); first=$$?; \
		node bench/save-a-snapshot.ts $(or $(PAIRS),5); second=$$?; \
		node bench/restore-a-snapshot.ts $(NAME) $(or $(PAIRS),5); exit $$((first | second | $$?))

.PHONY: bench-hostile
bench-hostile: $(INSTALLED) ## measure the operator's memory with 200 hostile objects of 1.4 MiB, on the lab's API server (minutes)
	@node bench/hostile-objects.ts

.PHONY: bench-fleet
bench-fleet: $(INSTALLED) ## measure one operator with N clusters, real API server, stand-ins for kubelets and etcd: N=1000 API=improbable
	@node bench/fleet.ts --clusters=$(or $(N),100) $(if $(API),--api=$(API)) $(if $(CHURN),--churn=$(CHURN)) $(ARGS)

# The files that the Dockerfile copies.
.PHONY: image-tree
image-tree: $(INSTALLED)
	@node tools/images/main.ts --tree dist/image-tree
