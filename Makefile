# `make` alone lists what there is to do. Each target sets up what it needs the first time.
SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Node 24 comes with the packages, so that everything works where the machine's own Node is older.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
INSTALLED := node_modules/.package-lock.json
# Running needs fewer packages than working on the sources does; where all are installed, these are among them.
ONLY_TO_RUN := node_modules/.only-to-run
TO_RUN := $(if $(wildcard $(INSTALLED)),$(INSTALLED),$(ONLY_TO_RUN))
# The test cluster's name; `make cluster NAME=two` starts another one beside the first.
NAME ?= dev

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What was compiled is kept, and is compiled before the first start: whoever has to read TypeScript takes 80 MiB more for as long
# as it runs. Small halves of the young heap take another 20 off what is held when nothing happens.
.PHONY: lab
lab: $(TO_RUN) ## try it: a small Kubernetes on this machine with the operator and an etcd cluster (no root); ARGS=--help
	@export NODE_COMPILE_CACHE="$${XDG_CACHE_HOME:-$$HOME/.cache}/etcd-operator/compiled"; \
		[ -d "$$NODE_COMPILE_CACHE" ] || node tools/compile.ts; \
		NODE_OPTIONS="--max-semi-space-size=2 $$NODE_OPTIONS" exec node src/main/etcd-operator.ts lab $(ARGS)

.PHONY: test
test: $(INSTALLED) ## run format, lint, types, tests, and one story per capability on a lab of their own (no root, minutes)
	@node tools/check.ts test

.PHONY: check
check: $(INSTALLED) ## run all that CI runs: make test as a newcomer, every suite, stories by turns on lab and cluster (root)
	@node tools/check.ts all

.PHONY: e2e-all
e2e-all: $(INSTALLED) ## run everything there is, every story on lab and cluster, and write docs/development/full-run.md (root)
	@node tools/check.ts full

.PHONY: flakes
flakes: $(INSTALLED) ## tell one story many times on the lab: make flakes STORY="part of its title" N=20
	@node tools/check/flakes.ts --story "$(STORY)" --times $(or $(N),20)

.PHONY: fmt
fmt: $(INSTALLED) ## format the sources and fix what can be fixed by itself
	@biome check --write --log-level=warn .
	@oxlint --fix --quiet

.PHONY: cluster
cluster: $(INSTALLED) ## start a real Kubernetes of three nodes on this machine (root)
	@node tools/cluster/main.ts up --name $(NAME)

.PHONY: cluster-down
cluster-down: $(INSTALLED) ## remove every trace of it
	@node tools/cluster/main.ts down --name $(NAME)

.PHONY: node
node: $(INSTALLED) ## stop, start, cut or join nodes: make node DO="stop-node node2", DO="cut node1 node3"
	@node tools/cluster/main.ts $(DO) --name $(NAME)

.PHONY: e2e
e2e: $(INSTALLED) ## run the user stories on the test cluster, or with KUBECONFIG=… on another; STORY=… picks by title
	@node tools/e2e.ts $(if $(filter command line,$(origin KUBECONFIG)),--kubeconfig "$(KUBECONFIG)",--cluster $(NAME)) $(if $(STORY),--story "$(STORY)")

.PHONY: image
image: $(INSTALLED) ## make the operator's image, in dist/ and in the registry of the test cluster that is up
	@node tools/images/main.ts --cluster $(NAME)

.PHONY: verify-node
verify-node: $(INSTALLED) ## compare the image's node with Node's official release and checksums (needs nodejs.org); ARGS=--help
	@node tools/images/verify-node.ts $(ARGS)

$(INSTALLED): package.json package-lock.json
	@sh tools/install.sh
	@touch $@

# npm's own note of what is there is removed, so that a target that needs all packages installs them.
$(ONLY_TO_RUN): package.json package-lock.json
	@sh tools/install.sh --omit=dev
	@rm -f $(INSTALLED)
	@touch $@

.PHONY: bench
bench: $(INSTALLED) ## measure speed on the test cluster, as ratios to the same done by hand, and memory and writes (root)
	@node tools/cluster/main.ts up --name $(NAME) > /dev/null
	@node tools/images/main.ts --cluster $(NAME) > /dev/null
	@node bench/main.ts $(NAME) $(or $(PAIRS),5) $(API); first=$$?; \
		node bench/save-a-snapshot.ts $(or $(PAIRS),5); second=$$?; \
		node bench/restore-a-snapshot.ts $(NAME) $(or $(PAIRS),5); exit $$((first | second | $$?))

.PHONY: bench-hostile
bench-hostile: $(INSTALLED) ## measure the operator's memory with 200 hostile objects of 1.4 MiB, on the lab's API server (minutes)
	@node bench/hostile-objects.ts

# What the Dockerfile copies.
.PHONY: image-tree
image-tree: $(INSTALLED)
	@node tools/images/main.ts --tree dist/image-tree
