# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help setup demo test lint bench clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

.venv/bin/python:
	$(PYTHON) -m venv .venv

# One stamp per set of extras: a changed pyproject.toml or constraints.txt installs again.
.venv/installed-%: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$*]'
	@touch $@

setup: .venv/installed-demo  ## create .venv and install headstart in it

demo: .venv/installed-demo  ## the main job, on data that comes with the install
	$(BIN)/headstart demo --out runs/demo --force

test: .venv/installed-test lint  ## lint, types and tests
	$(BIN)/python -m pytest

lint: .venv/installed-test  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/installed-bench  ## ours beside the lab's loop and Hugging Face, printed as ratios
	$(BIN)/python -m benchmarks

clean:  ## remove what make created
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
