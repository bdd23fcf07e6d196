PYTHON ?= python3
DEMO_FLAGS ?=
FIGURES ?=
FLAGS ?=
BIN := .venv/bin
RUNTIME := .venv/.runtime-ready
DEV := .venv/.dev-ready
SETUP := scripts/set-up-venv scripts/apt-install pyproject.toml constraints.txt
BENCHMARKS := $(basename $(notdir $(shell grep -l __main__ benchmarks/*.py)))

export PYTHON
export NO_MKDOCS_2_WARNING := 1

.PHONY: help demo test check-slow lint docs reproduce bench bench-peers
.NOTPARALLEL:

help:
	@echo "make demo        watch a simulated crowd pick six photos of sixty"
	@echo "make test        lint, docs and all quick tests"
	@echo "make check-slow  the long statistical tests"
	@echo "make lint        ruff, mypy and the import contracts"
	@echo "make docs        the documentation, into site/"
	@echo "make reproduce   the paper's figures; FIGURES=\"c d\" FLAGS=--quick for some of them, quickly"
	@echo "make bench       the benchmarks"
	@echo "make bench-peers known functions, beside other packages"

demo: $(RUNTIME)
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/handful demo $(DEMO_FLAGS); \
	else $(BIN)/handful demo --fast --exit-when-done $(DEMO_FLAGS); fi

test: $(DEV) lint docs
	scripts/need-chromium-and-postgres
	$(BIN)/pytest -n 3 --dist loadscope --no-loadscope-reorder

check-slow: $(DEV)
	scripts/need-chromium-and-postgres
	$(BIN)/pytest -n 2 --dist loadscope -m slow

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(DEV)
	$(BIN)/mkdocs build --strict --quiet

reproduce: $(DEV)
	$(BIN)/python -m reproduction $(FIGURES) $(FLAGS)

bench: $(DEV)
	@set -e; for name in $(BENCHMARKS); do echo "== $$name"; $(BIN)/python -m benchmarks.$$name; done
	$(BIN)/python -m benchmarks.answers --quick

.venv-peers/.ready: benchmarks/peers.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/peers.txt
	@touch $@

bench-peers: $(DEV) .venv-peers/.ready
	$(BIN)/python -m benchmarks.exact $(FLAGS)

$(RUNTIME): $(SETUP)
	scripts/set-up-venv crowd
	@touch $@

$(DEV): $(SETUP)
	scripts/set-up-venv dev
	@touch $(RUNTIME) $@
