# Every target makes its own environment in .venv first; a second run costs nothing.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PY := .venv/bin/python
STAMP := .venv/.installed
PYTEST := $(PY) -m pytest
SEEDS ?= 0:12
DRAINS ?= 0:20
PYTHON ?= 3.13
COUNT ?= 2000
NODES ?= 3
BENCH ?=

.PHONY: drains picture reference help demo test quick python check bench docs parity shadow mutate kube e2e clean soak dev-cluster

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml scripts/setup
	scripts/setup

demo: $(STAMP) ## schedule and explain the example cluster, in memory
	@scripts/demo

test: check ## everything: checks, quick tests, and the tests on the real control plane
	scripts/test

quick: $(STAMP) ## the tests that take under a minute
	$(PYTEST) -n 2 -m "not slow and not kube"

python: ## the quick tests with another Python, on a bare Debian: make python PYTHON=3.13
	scripts/python $(PYTHON)

check: $(STAMP) ## ruff, mypy strict, import contracts; TypeScript and Biome for the page
	scripts/check

bench: $(STAMP) kube ## the benchmarks: the engine in memory, then live beside the real kube-scheduler: make bench BENCH='plain spread --nodes 1000'
	$(PY) -m bayplan bench
	$(PY) -m benchmarks.live $(BENCH) --results benchmarks/results/live.json --plot docs/benchmarks.svg

parity: $(STAMP) kube ## random clusters beside the real kube-scheduler: make parity SEEDS=0:1000
	$(PY) -m tests.parity --seeds $(SEEDS)

shadow: $(STAMP) kube ## the shadow beside the real kube-scheduler on 1,000 pods, one at a time and many at once
	$(PY) -m tests.parity.shadowing --pods 1080
	$(PY) -m tests.parity.shadowing --pods 1080 --at-once 25

mutate: $(STAMP) ## mutated inputs through the commands, in bounded time and memory: make mutate COUNT=200000
	$(PY) -m tests.mutation --count $(COUNT)

drains: $(STAMP) kube ## nodes of random clusters drained with kubectl, beside what what-if says: make drains DRAINS=0:20
	$(PY) -m tests.live_what_if --seeds $(DRAINS)

kube: $(STAMP) ## build the control plane that tests run on, once
	$(PY) hack/kube/build.py

e2e: $(STAMP) ## Kubernetes' own end-to-end tests of scheduling, with kube-scheduler and with Bayplan
	$(PY) -m hack.e2e

soak: $(STAMP) kube ## minutes of kill -9 and SIGTERM while pods arrive, on the real API server
	$(PYTEST) -m soak tests/e2e

dev-cluster: $(STAMP) kube ## a real API server with fake nodes to try things in: make dev-cluster NODES=10
	$(PY) -m bayplan dev-cluster up --nodes $(NODES)

docs: $(STAMP) ## check that the documentation is complete
	$(PYTEST) tests/docs

picture: $(STAMP) ## the picture of the README anew, from the demo's report (needs Chromium)
	$(PY) -m tests.docs.demo_picture

reference: $(STAMP) ## write docs/reference/python.md anew, from the code
	$(PY) -m tests.docs.reference_page

clean: ## remove the environment and caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
