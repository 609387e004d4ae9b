# The commands of the project. Each target installs its requirements first, on a fresh machine too.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What playing needs, and the tools of a developer besides.
PLAYER := $(VENV)/installed
INSTALLED := $(VENV)/installed-tools
# Tools of `make check` and `make test-long` that run on Node, which is a tool of a developer itself. Like pip, npm trusts what the system does.
NODE_FOLDER := $(VENV)/node
NODE_TOOLS := $(NODE_FOLDER)/installed
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# More than there are cores: many tests wait, for a grace period, a lapse, a heartbeat.
PARALLEL := -n 5 --dist worksteal
test-long: PARALLEL := -n 6 --dist worksteal
# The tests start some hundred servers and clients, each of which would compile all modules anew.
test test-long test-redis: export PYTHONDONTWRITEBYTECODE :=

.PHONY: play test test-long test-redis check format lock mutants docs site screenshots pictures bench clean
.DEFAULT_GOAL := play

$(PLAYER): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Fairest needs Python 3.11 or later; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12") if sys.version_info < (3, 11) else None'
	@echo "Installing into $(VENV), once; this takes about a minute ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install -e .
	@touch $@

$(INSTALLED): $(PLAYER)
	@echo "Installing the tools of a developer as well ..."
	@$(PIP) install --upgrade 'pip>=25.1' # the first that knows dependency groups
	@$(PIP) install --group dev
	@touch $@

$(NODE_TOOLS): .ci/node/package.json .ci/node/package-lock.json | $(INSTALLED)
	@echo "Installing the tools that run on Node as well ..."
	@mkdir -p $(NODE_FOLDER)
	@cp .ci/node/package.json .ci/node/package-lock.json $(NODE_FOLDER)
	@NODE_OPTIONS=--use-system-ca $(BIN)/npm ci --prefix $(NODE_FOLDER) --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

play: $(PLAYER)  ## race a bot on this machine
	@$(BIN)/fairest play

test: $(INSTALLED)  ## run the tests that belong before each commit, on a real Redis that they start themselves
	@$(BIN)/pytest $(PARALLEL) -m "not long"

test-long: $(INSTALLED) $(NODE_TOOLS)  ## run the long tests: faults that last, and all properties with many examples
	@$(BIN)/pytest $(PARALLEL) -m "long or hypothesis" --hypothesis-profile=long --timeout=300 -o faulthandler_timeout=400

test-redis: $(INSTALLED)  ## run the tests that touch Redis on another engine: make test-redis REDIS=/usr/bin/redis-server
	@$(BIN)/pytest $(PARALLEL) --redis=$(REDIS) tests/server tests/store

check: $(INSTALLED) $(NODE_TOOLS)  ## check format, lint, types, import contracts, structure, docs in step with the code and valid, Dockerfile, site
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python .ci/structure.py --check
	@$(BIN)/python docs/generate.py --check
	@NODE_PATH=$(NODE_FOLDER)/node_modules $(BIN)/node .ci/node/lint_documents.cjs docs/asyncapi.json docs/openapi.json
	@$(BIN)/node $(NODE_FOLDER)/node_modules/typescript/bin/tsc --project .ci/node
	@$(BIN)/hadolint Dockerfile
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir $(VENV)/site

format: $(INSTALLED)  ## format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

LOCK := .ci/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --custom-compile-command "make lock"

lock:  ## write the lock files: a version and its hashes for each package, of the tools, the server and its build
	@PYTHON=$(PYTHON) $(LOCK) --upgrade --group dev --group build pyproject.toml -o requirements.lock >/dev/null
	@PYTHON=$(PYTHON) $(LOCK) --constraint requirements.lock pyproject.toml -o deploy/server.lock >/dev/null
	@PYTHON=$(PYTHON) $(LOCK) --constraint requirements.lock --group build -o deploy/build.lock >/dev/null

mutants: $(INSTALLED)  ## change the code at random and run its tests: make mutants ONLY="protocol --seed 2 --count 50"
	@$(BIN)/python .ci/mutate.py $(ONLY)

site: $(INSTALLED)  ## build the documentation as a site, into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "To read it: python3 -m http.server --directory site 8000 --bind 127.0.0.1"

docs: $(INSTALLED)  ## write the generated parts of docs/
	@$(BIN)/python docs/generate.py

screenshots: $(INSTALLED)  ## draw the README's pictures of the client, from a race that is always the same
	@$(BIN)/python docs/screenshots.py

pictures: $(INSTALLED)  ## draw every screen at every size and in every look, into pictures/: make pictures ONLY="race result"
	@$(BIN)/python docs/pictures.py pictures $(ONLY)

bench: $(INSTALLED) $(NODE_TOOLS)  ## measure every figure; ONLY=name for one group
	@$(PIP) install --group bench
	@$(BIN)/python -m benchmarks $(ONLY)

clean:  ## remove the installation
	rm -rf $(VENV)
