# The menu of graphveil. `make` alone lists it. Needed: make, and Python 3.11 or newer.
#
# Everything is installed into the folder .venv here; nothing else on the machine is touched.
#   make PYTHON=/path/to/python ...   chooses the interpreter
#   make VENV=/some/folder ...        puts the environment elsewhere
#   make test TEST_WORKERS=1          changes the number of processes that run the tests
#   make fuzz FUZZ_SECONDS=3600       searches for an hour
#   make -C /path/to/graphveil ...    works from anywhere

MAKEFLAGS += --no-print-directory
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help demo test suite lint type shape kernels fuzz planted mutants bench docs dist clean

VENV ?= .venv
BIN := $(VENV)/bin
TEST_WORKERS ?= auto
ROOMS ?=
MUTANTS ?= 200
SEED ?= 1
FUZZ_SECONDS ?= 300
FUZZ_PROCESSES ?= 2000
FUZZ_EDITS ?= 100000
FUZZ_EDIT_SECONDS ?= 1200
DEMO_OUT ?= demo-release
IN_MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 8000000 { print "/dev/shm" }')
# Tests write very many small files: where memory has room for them, nobody waits for a disk.
export PYTHONDONTWRITEBYTECODE =
export OPENBLAS_THREAD_TIMEOUT ?= 4
# Idle threads of NumPy wait without spinning, as in commands: processes that share a machine end sooner.

# Stamp files: one that is newer than pyproject.toml says that the environment is up to date.
CREATED := $(VENV)/.created
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
# pip compiles no module here: Python does so when one is imported, and most never are.

help: ## list what there is
	@printf 'graphveil: make TARGET\n\n'
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)$$/  \1\t\2/p' Makefile | expand -t 10
	@printf '\nNeeded: make, and Python 3.11 or newer. The first run installs into $(VENV).\n'

demo: $(INSTALLED) ## anonymize a network that ships with the package, and verify the release
	@'$(BIN)/graphveil' demo --out '$(DEMO_OUT)' --force

test: lint ## run the linter, the type checker and the whole test suite
	@$(MAKE) -j 2 type suite

suite: $(INSTALLED_DEV)
	TMPDIR="$${TMPDIR:-$(IN_MEMORY)}" '$(BIN)/python' -m pytest -n $(TEST_WORKERS)

lint: $(INSTALLED_DEV) ## check style and formatting
	'$(BIN)/python' -m ruff check .
	'$(BIN)/python' -m ruff format --check .

type: $(INSTALLED_DEV) ## check types
	'$(BIN)/python' -m mypy

shape: $(INSTALLED_DEV) ## print sizes of modules, functions and pages to look at; it never fails
	@'$(BIN)/python' tools/shape.py

kernels: $(INSTALLED_DEV) ## test kernels as plain Python, for a debugger or a count of covered lines
	NUMBA_DISABLE_JIT=1 '$(BIN)/python' -m pytest -n $(TEST_WORKERS) $$(grep -lE 'graphveil[a-z_.]*[.]kernels' tests/property/*.py)

fuzz: $(INSTALLED_DEV) ## random data for every property, random edits of sealed releases, many short processes
	'$(BIN)/python' tests/fuzz/run.py --seconds '$(FUZZ_SECONDS)' --workers '$(TEST_WORKERS)'
	'$(BIN)/python' tests/fuzz/endings.py --processes '$(FUZZ_PROCESSES)'
	'$(BIN)/python' tests/fuzz/edits.py --edits '$(FUZZ_EDITS)' --seconds '$(FUZZ_EDIT_SECONDS)'
	'$(BIN)/python' tests/fuzz/sweeps.py --ends 10

planted: $(INSTALLED_DEV) ## plant known flaws in copies, one by one: the tests must notice each
	'$(BIN)/python' tests/planted/run.py

mutants: $(INSTALLED_DEV) ## change random places one by one: ROOMS="attacks data" MUTANTS=200 SEED=1
	'$(BIN)/python' tests/planted/mutants.py --mutants '$(MUTANTS)' --seed '$(SEED)' $(if $(ROOMS),--rooms $(ROOMS))

bench: $(INSTALLED_DEV) ## run the benchmarks; with GRAPHVEIL_SHARED_DATA set, on real networks too
	'$(BIN)/python' benchmarks/k_degree/speed.py
	@if [ -n "$$GRAPHVEIL_SHARED_DATA" ]; then \
	  '$(BIN)/python' benchmarks/k_degree/table.py --data "$$GRAPHVEIL_SHARED_DATA"; \
	else \
	  echo 'benchmarks/k_degree/table.py needs real networks: name their folder in GRAPHVEIL_SHARED_DATA'; \
	fi
	@echo 'longer ones, to be run part by part: benchmarks/*/run.py'

docs: $(INSTALLED_DEV) ## build the documentation into docs/_build/html; a warning is an error
	'$(BIN)/python' -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo 'open docs/_build/html/index.html'

dist: $(INSTALLED_DEV) ## build the wheel and the source archive into dist
	'$(BIN)/python' -m hatchling build

clean: ## remove the environment, caches, and what the other targets made
	rm -rf '$(VENV)' build dist docs/_build '$(DEMO_OUT)' '$(DEMO_OUT).private' '$(DEMO_OUT)-report.html'
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
	find src tests benchmarks tools docs -type d -name __pycache__ -prune -exec rm -rf {} +

# The newest Python that really runs and is new enough; a name alone is not trusted.
$(CREATED):
	@found=''; \
	for candidate in $(if $(PYTHON),'$(PYTHON)',python3.14 python3.13 python3.12 python3.11 python3 python); do \
	  if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
	    >/dev/null 2>&1; then found="$$candidate"; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo 'No Python 3.11 or newer (with the module venv) was found$(if $(PYTHON), at $(PYTHON)).' >&2; \
	  echo 'Install one, or say where it is: make PYTHON=/path/to/python ...' >&2; \
	  exit 1; \
	fi; \
	"$$found" -c 'import sys; print("creating $(VENV) with Python", sys.version.split()[0])'; \
	"$$found" -m venv '$(VENV)'
	@touch '$@'

$(INSTALLED): $(CREATED) pyproject.toml
	@echo 'installing graphveil into $(VENV) (a few minutes the first time)'
	@'$(BIN)/python' -m pip install --quiet --no-compile --disable-pip-version-check --editable .
	@touch '$@'

$(INSTALLED_DEV): $(CREATED) pyproject.toml
	@echo 'installing graphveil and what its tests need into $(VENV) (a few minutes the first time)'
	@'$(BIN)/python' -m pip install --quiet --disable-pip-version-check 'pip>=25.1'  # knows --group
	@'$(BIN)/python' -m pip install --quiet --no-compile --editable '.[learning,figures,serve,spark]' --group dev
	@touch '$(INSTALLED)' '$@'
