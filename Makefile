# Everything a developer or a newcomer types. Each target makes what it needs on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed

.PHONY: play test test-redis check format docs screenshots bench clean
.DEFAULT_GOAL := play

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Fairest needs Python 3.11 or later; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12") if sys.version_info < (3, 11) else None'
	@echo "Installing into $(VENV), once; this takes about a minute ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[server,dev]'
	@touch $@

play: $(INSTALLED)  ## race a bot on this machine
	@$(BIN)/fairest play

test: $(INSTALLED)  ## the whole suite, on a real Redis that it starts itself
	@$(BIN)/pytest -n 4

test-redis: $(INSTALLED)  ## what touches Redis, on another one: make test-redis REDIS=/usr/bin/redis-server
	@$(BIN)/pytest -n 4 --redis=$(REDIS) tests/server tests/store

check: $(INSTALLED)  ## format, lint, types, import contracts, structure, docs in step with the code
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python .ci/structure.py --check
	@$(BIN)/python docs/generate.py --check

format: $(INSTALLED)  ## put the code into its form
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(INSTALLED)  ## write what in docs/ is made from the code
	@$(BIN)/python docs/generate.py

screenshots: $(INSTALLED)  ## pictures of the client for the README, of a race that is always the same
	@$(BIN)/python docs/screenshots.py

bench: $(INSTALLED)  ## every figure; ONLY=name for one
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@$(BIN)/python -m benchmarks $(ONLY)

clean:  ## remove what was installed here
	rm -rf $(VENV)
