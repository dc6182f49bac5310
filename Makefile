# Everything a newcomer, a developer and CI run. No target needs a step by hand before it.
#
#   make demo [FOLDER=pages/ LANGUAGE=es]   the main job on sample pages, or on a folder of yours
#   make demo-hand                          the same, lines found by kraken in its own runtime
#   make evaluate-base                      the figures of the model for hands, on sources it never saw and on others
#   make train-base-on-gpu [TORCH_PYTHON=python MINUTES=8.5|STEPS=n OUT=/var/tmp/hand-gpu]   trains that model; stopped, it goes on
#   make train-finder [TORCH_PYTHON=python MINUTES=8.5 OUT=/var/tmp/finder-gpu]   trains the line finder; `make evaluate-finder` measures it
#   make serve [PORT=8765]                  the engine, and the link that opens its workbench
#   make test [SLOW=1] [REFUSED=1]          linters, types, import contracts, tests; refusals that no test produces
#   make site                               the manual as a site, which armarium docs opens; fails on a dead link
#   make pictures                           the pictures of the manual, from a real run in a browser
#   make release [PREVIOUS=folder]               every distribution of this commit, checked, in dist/, with an installer
#   make lint | bench | soak | openapi | docs | lock | format | clean

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)
BIN := .venv/bin
WORKBENCH = $(BIN)/python plugins/workbench/build_app.py
FOLDER ?=
PORT ?=
LANGUAGE ?=
WORKERS ?= 3
TORCH_PYTHON ?= python3
LINES ?= ../shared/data/hand-lines ../shared/data/hand-lines-2
MINUTES ?= 8.5
OUT ?= /var/tmp/hand-gpu
SLOW ?= $(CI)
REFUSALS = $(foreach family,$(wildcard plugins/*/src/*/errors.py),--every-refusal $(notdir $(patsubst %/,%,$(dir $(family)))))
MARKS = $(if $(SLOW),not soak,not soak and not slow)
DEMO = $(BIN)/armarium demo $(if $(FOLDER),--folder "$(FOLDER)") $(if $(LANGUAGE),--language "$(LANGUAGE)")

# The engine is started hundreds of times by the tests: its modules are compiled once, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help base dev demo demo-hand evaluate-base train-base-on-gpu train-finder evaluate-finder serve test lint bench soak openapi docs site pictures lock release version format clean

help:
	@sed -n '3,13s/^# //p' Makefile

base dev:
	@test -n "$(PYTHON)" || { echo "Armarium needs Python 3.11 or newer: install it, or say make PYTHON=/path/to/python3." >&2; exit 1; }
	@$(PYTHON) tools/bootstrap.py $@

demo: base
	@$(DEMO)

demo-hand: base
	@$(DEMO) --line-finder kraken

evaluate-base: dev
	@cd plugins/reader_hand && PYTHONPATH=src ../../$(BIN)/python -m training.evaluate && PYTHONPATH=src ../../$(BIN)/python -m training.choosing

train-base-on-gpu:
	@cd plugins/reader_hand && PYTHONPATH=src:../training/src:../../worker/src $(TORCH_PYTHON) -m training.base \
		--lines $(abspath $(LINES)) --out $(abspath $(OUT)) --minutes $(MINUTES) $(if $(STEPS),--steps $(STEPS)) --resume

train-finder:
	@cd plugins/reader_hand && export PYTHONPATH=src:../training/src:../../worker/src && mkdir -p $(abspath $(OUT)) && \
		{ test -f $(abspath $(OUT))/packed.npz || $(TORCH_PYTHON) -m training.finder.pack --lines $(abspath $(LINES)) \
			--data $(abspath ../shared/data) --out $(abspath $(OUT))/packed.npz; } && \
		$(TORCH_PYTHON) -m training.finder.train --packed $(abspath $(OUT))/packed.npz --out $(abspath $(OUT)) --minutes $(MINUTES) $(if $(STEPS),--steps $(STEPS))

evaluate-finder: dev
	@cd plugins/reader_hand && PYTHONPATH=src ../../$(BIN)/python -m training.finder.measure

serve: base
	@$(BIN)/armarium serve $(if $(PORT),--port $(PORT))

test: lint
	$(WORKBENCH) run test
	$(BIN)/pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder -m "$(MARKS)" $(if $(SLOW)$(REFUSED),$(REFUSALS))

lint: dev
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/lint-imports --no-cache --config .importlinter-core
	$(WORKBENCH) run types
	$(WORKBENCH) run lint
	$(WORKBENCH) run check

soak: dev
	$(BIN)/pytest -n $(WORKERS) --timeout 0 -m soak

release: site
	@$(BIN)/python tools/release.py $(if $(PREVIOUS),--previous "$(PREVIOUS)")

version: base
	@$(BIN)/python tools/version.py "$(VERSION)"

bench: dev
	$(BIN)/python -m benchmarks

openapi: dev
	$(BIN)/python tools/openapi.py

docs: openapi
	$(BIN)/python tools/reference.py
	$(BIN)/python tools/rooms.py

site: dev
	@$(BIN)/python tools/site_of_the_manual.py

pictures: dev
	ARMARIUM_PICTURES=docs $(BIN)/pytest -q -n0 plugins/workbench/tests/test_manual_in_a_browser.py

lock: dev
	$(BIN)/python tools/lock.py $(if $(UPGRADE),--upgrade)

format: dev
	$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

clean:
	rm -rf .venv .venv.lock demo build dist plugins/workbench/web/node_modules plugins/workbench/src/armarium_workbench/app plugins/workbench/src/armarium_workbench/manual .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
