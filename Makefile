# make run               the panel, with everything it needs: ARGS="--port 9000"
# make install           only install that
# make test              everything that CI checks; of the tests only some: TESTS=tests/test_house.py
# make lint              style and types alone
# make pytest            tests alone, as they are: TESTS=...
# make soak              the slow rounds, many times: SOAK_ROUNDS=500
# make messages          collect the texts for translation; for one more language: NEW=pl
# make compile-messages  translations as the panel reads them
# make screenshots       the pictures in docs/
# make benchmarks        what it costs, measured
# make clean             remove what was installed and built here
#
# Everything is installed below this directory: .venv/ and node_modules/. A second `make install` does nothing
# unless pyproject.toml, package.json or package-lock.json changed.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

BIN := .venv/bin
PANEL := .[postgresql]
CHECKS := .[test,lint,postgresql]
SOAK_ROUNDS ?= 200
# Two at a time, each with an OpenCode and a database of its own.
PYTEST := env OPENCHAMBER_TEST_AGAIN=1 $(BIN)/pytest -n 2 --dist worksteal -r R
ARGS ?=
TESTS ?=
# Checks must not touch the data of the person who runs them.
CHECKED := env -u DATABASE_URL OPENCHAMBER_MEMORY_ENABLE=1 OPENCHAMBER_DATA_DIR=$(CURDIR)/build/data
# $(call retried,command): registries are sometimes out of breath.
retried = for attempt in 1 2 3; do $(1) && break; [ $$attempt -lt 3 ] || exit 1; echo "Trying again..." >&2; sleep $$((attempt * 5)); done
# $(call chosen,pytest): of the tests that somebody chose, a pass may have none to run; pytest then ends with 5.
chosen = $(1) $(TESTS)$(if $(TESTS), || [ $$? -eq 5 ])

.PHONY: help install install-checks run test lint pytest soak messages compile-messages screenshots benchmarks system-packages clean

help:
	@sed -n 's/^# make /make /p' Makefile

install: .venv/.installed node_modules/.installed

.venv/.installed: pyproject.toml .ci/make-venv
	@echo "Installing Python packages (a minute or two)..."
	@.ci/make-venv .venv
	@$(call retried,$(BIN)/python -m pip install --quiet --retries 5 --editable '$(PANEL)')
	@touch $@

# What only the checks need; the panel runs without.
install-checks: install .venv/.installed-checks

.venv/.installed-checks: .venv/.installed
	@$(call retried,$(BIN)/python -m pip install --quiet --retries 5 --editable '$(CHECKS)')
	@touch $@

node_modules/.installed: package.json package-lock.json
	@echo "Installing OpenCode (a minute or two)..."
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or newer (Debian: apt install nodejs npm)." >&2; exit 1; }
	@$(call retried,npm install --loglevel=error --no-update-notifier --no-audit --no-fund --fetch-retries=5)
	@touch $@

# What the tests drive besides: a browser, PostgreSQL, gettext, git. Not needed to run the panel.
system-packages:
	@.ci/system-packages

run: install
	@exec $(BIN)/python manage.py serve $(ARGS)

# Agents' memory is not installed in the first run, on in the second and the last, off in the third. What the last leaves
# out the second asked of PostgreSQL and the third of SQLite.
test: install-checks system-packages lint
	@$(CHECKED) $(BIN)/python manage.py makemigrations --check --dry-run
	@$(call chosen,$(PYTEST))
	@$(call chosen,OPENCHAMBER_TEST_MEMORY=on $(BIN)/python -m tests.postgresql $(PYTEST) -m "not browser and not real and not pure")
	@$(call chosen,OPENCHAMBER_TEST_MEMORY=off $(PYTEST) -m "not browser and not real and not soak and not pure")
	@$(if $(TESTS),,OPENCHAMBER_TEST_MEMORY=on $(PYTEST) tests/memory tests/test_house.py -m "browser or real or soak or pure")

lint: install-checks
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(CHECKED) $(BIN)/mypy

pytest: install-checks
	@$(BIN)/pytest $(TESTS)

soak: install-checks system-packages
	@OPENCHAMBER_ROUNDS=$(SOAK_ROUNDS) $(BIN)/pytest -m soak $(TESTS)
	@OPENCHAMBER_ROUNDS=$(SOAK_ROUNDS) $(BIN)/python -m tests.postgresql $(BIN)/pytest -m "soak and not real" $(TESTS)

# Collect the texts for translation, `make messages NEW=pl` for one more language. See docs/languages.md.
# Neither line numbers nor dates are kept: two people's translations would conflict there.
messages: install-checks system-packages
	@$(CHECKED) $(BIN)/python manage.py makemessages $(if $(NEW),--locale $(NEW),--all) --add-location file --no-wrap --no-obsolete $(foreach directory,tests benchmarks docs build node_modules test-results,--ignore $(directory))
	@sed --in-place '/^"POT-Creation-Date/d' locale/*/LC_MESSAGES/django.po

# What the panel reads; kept in git, so that running it needs no gettext.
compile-messages: system-packages
	@for texts in locale/*/LC_MESSAGES/django.po; do msgfmt --check-format --check-domain --no-hash -o "$${texts%.po}.mo" "$$texts"; done

screenshots: install-checks system-packages
	@$(BIN)/python -m tests.browser.screenshots docs/screenshots

benchmarks: install-checks system-packages
	@shopt -s nullglob; for benchmark in benchmarks/[a-z]*.py; do echo "== $$benchmark"; $(BIN)/python "$$benchmark"; done

clean:
	rm -rf .venv node_modules build .mypy_cache .ruff_cache .pytest_cache test-results
