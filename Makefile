# make run: the wizard.  make test: all tests.  Both set up .venv first; nothing else needs to be done by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Python 3.13 took away a name that durable-rules 2.0.28 uses; its setup.py overwrites CFLAGS, so the name goes into CPPFLAGS.
export CPPFLAGS := -DPyEval_CallObject=PyObject_CallObject $(CPPFLAGS)

.PHONY: pythons run test test-all check bench validation rules-page mutants schemas screenshots readme clean

run: $(STAMP)
	@$(BIN)/cluster-wizard $(ARGS)

test: $(STAMP)
	$(BIN)/pytest -q -m "not slow" -n auto --dist loadgroup $(ARGS)

test-all: $(STAMP)
	$(BIN)/pytest -q -n auto --dist loadgroup $(ARGS)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/cluster-wizard catalog check

bench: $(STAMP)
	$(BIN)/python tests/benchmarks/bench.py

# the regimes stand in the catalog, so they are written first
validation: $(STAMP)
	$(BIN)/cluster-wizard validate --regimes > .regimes.toml && mv .regimes.toml catalogs/validation/regimes.toml
	$(BIN)/cluster-wizard validate --markdown > .validation.md && mv .validation.md docs/validation.md

rules-page: $(STAMP)
	$(BIN)/cluster-wizard rules list --markdown > .rules.md && mv .rules.md docs/rules.md

mutants: $(STAMP)
	$(BIN)/python tests/edges/killed.py

# environments of the other versions, for the test that all give the same bytes
pythons: $(STAMP)
	for version in 3.11 3.12 3.13; do command -v python$$version >/dev/null || continue; \
	  python$$version -m venv .venv-$$version && .venv-$$version/bin/python -m pip install --quiet --disable-pip-version-check \
	  --constraint constraints.txt --editable '.[dev]' || exit 1; done

schemas: $(STAMP)
	$(BIN)/python -m wizard.schemas

screenshots: $(STAMP)
	$(BIN)/python docs/make_screenshots.py

readme: $(STAMP)
	$(BIN)/python docs/readme.py

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else f"cluster-wizard needs Python 3.11, 3.12 or 3.13; {sys.executable} is {v[0]}.{v[1]}. Give another: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "This Python cannot make virtual environments. On Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@cc=$${CC:-cc}; printf '#include <Python.h>\nint main(void){return 0;}\n' > .cc-probe.c; \
	  if ! $$cc -fsyntax-only -I"$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_paths()["include"])')" .cc-probe.c 2>/dev/null; then \
	    rm -f .cc-probe.c; \
	    echo "cluster-wizard needs a C compiler and Python's headers to build durable-rules." >&2; \
	    echo "Debian or Ubuntu: apt-get install build-essential python3-dev.  Fedora: dnf install gcc python3-devel.  macOS: xcode-select --install." >&2; \
	    exit 1; fi; rm -f .cc-probe.c
	@test -x $(BIN)/python && $(BIN)/python -c 'import sys' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@$(BIN)/python -c 'import durable_rules_engine' || { echo "durable-rules was built but does not load; run 'make clean' and try again" >&2; exit 1; }
	@touch $(STAMP)

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
