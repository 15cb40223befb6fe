# `make demo` needs nothing but Python 3.11 or newer and make; everything is installed into .venv.

PYTHON ?=
ARGS ?=
DIR ?= tests/vectors/packs
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
WORKS := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
LOCK := uv pip compile --quiet --universal --python-version 3.11 --extra dev \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links

AT_ONCE := -n 4 --dist loadfile --no-loadscope-reorder
WEB := backpressure bad_frames clocks_at_doors closing connecting fuzz garbage idempotency limits moves removal seats \
	slow_readers socket sse sse_readers
SOCKETS := $(WEB:%=tests/arena/web/test_%.py) tests/arena/test_hub.py tests/arena/test_waiting.py \
	tests/arena/test_presence.py tests/arena/test_lobby.py tests/arena/test_lobby_feeds.py tests/arena/test_races.py \
	tests/test_game.py tests/test_lost_seats.py tests/test_store_faults.py # over plain ASGI too

unexport PYTHONDONTWRITEBYTECODE # the processes that tests start begin much sooner with their bytecode at hand

.DEFAULT_GOAL := help
.PHONY: help demo serve test check bench coverage boards chaos tournament vectors mutants screenshots lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile
	@echo "  Options: PYTHON=/path/to/python chooses the interpreter, ARGS='…' goes to the command."

demo: .venv/.installed ## start everything and let bots play; Ctrl-C ends it
	@$(BIN)/arena demo $(ARGS)

serve: .venv/.installed ## run a server, e.g. make serve ARGS='--port 4000 --workers 2'
	@$(BIN)/arena serve $(ARGS)

test: check ## check, then run the tests, e.g. make test ARGS='-k psi'
	@.ci/tools || true # what is missing fails its own tests, the others run
	@.ci/chromium >/dev/null || true
	@.ci/axe >/dev/null || true
	@.ci/tsc >/dev/null || true
	$(if $(ARGS),$(BIN)/python -m pytest,.ci/pytest) $(AT_ONCE) $(ARGS)
	$(if $(ARGS),,.ci/pytest $(AT_ONCE) --plain $(SOCKETS))

check: .venv/.installed-dev ## lint, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.installed-dev ## measure this machine
	$(BIN)/python -m benchmarks $(ARGS)

coverage: .venv/.installed-dev ## how often 95 % intervals hold, by simulation; takes a few minutes
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.coverage

boards: .venv/.installed-dev ## measure leaderboards and the counting of games
	$(BIN)/python -m benchmarks.boards $(ARGS)

chaos: .venv/.installed-dev ## a hundred kills at random moments; takes a while
	$(BIN)/python -m pytest -m chaos --timeout 3600 $(ARGS)

tournament: .venv/.installed-dev ## sixteen agents, 480 games, killed in the middle: the same standings
	$(BIN)/python -m pytest -m chaos --timeout 1200 tests/test_tournament.py $(ARGS)

vectors: .venv/.installed-dev ## try a folder of pack vectors, e.g. make vectors DIR=../vectors
	$(BIN)/python -m tests.vectors_runner $(DIR)

mutants: .venv/.installed-dev ## seed faults into a copy of the engine; a test must find each
	$(BIN)/python -m tests.mutations $(ARGS)

screenshots: .venv/.installed-dev ## take every page, with real games on it, into build/screenshots
	$(BIN)/python -m tests.screenshots $(ARGS)

lock: .venv/.python ## pin the newest versions that pyproject.toml allows
	$(PIP) install uv
	$(BIN)/$(LOCK) --upgrade pyproject.toml --output-file requirements.lock

clean: ## remove the environment, caches and builds
	rm -rf .venv build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An interpreter that is on the PATH may still fail (a pyenv shim, a Python without venv), so each is tried.
.venv/.python:
	@for python in $(or $(PYTHON),python3.13 python3.12 python3.11 python3); do \
		if "$$python" -c '$(WORKS)' >/dev/null 2>&1; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo "No Python 3.11 or newer with venv works here; name one with make PYTHON=/path/to/python" >&2; exit 1; \
	fi; \
	echo "Creating .venv with $$("$$found" --version)"; \
	"$$found" -m venv --clear .venv && touch $@

.venv/.installed: .venv/.python pyproject.toml requirements.lock
	@echo "Installing the arena into .venv"
	@$(PIP) install --constraint requirements.lock --editable .
	@touch $@

.venv/.installed-dev: .venv/.python pyproject.toml requirements.lock
	@echo "Installing the arena and its tools into .venv"
	@$(PIP) install --constraint requirements.lock --editable '.[dev]'
	@touch $@ .venv/.installed
