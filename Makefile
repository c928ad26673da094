# make demo        parse a real output, streaming        make test    every check but the slow ones
# make test-heavy  packaging, and what takes long        make lint    style, types, family files
# make test-nightly  many samples of each tag            make test-browser  pages, in Chromium
# make test-vllm   in the real vLLM, without a GPU       make test-sglang  in the real SGLang
# make test-ray    on a Ray of this machine
# make clean       remove what these made

PYTHON ?= python3
DEMO := .venv
DEV := .venv-dev
RAY := .venv-ray
BIN := $(DEV)/bin
# Quiet but for errors: an index that a machine lists and does not hold is no news.
PIP_INSTALL := -m pip install -qq --disable-pip-version-check
# A user's own settings must not reach the checks. Bytecode is kept: hundreds of processes start.
unexport TAGSMITH_FAMILIES TAGSMITH_PLUGINS TAGSMITH_DISABLE_PLUGINS
unexport PYTHONPATH PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-heavy test-nightly test-browser test-ray test-vllm test-sglang lint clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

demo: $(DEMO)/.installed
	@PATH="$(CURDIR)/$(DEMO)/bin:$$PATH" bash examples/demo.sh

test: lint
	$(BIN)/python -m pytest --numprocesses auto

test-heavy: $(DEV)/.installed
	$(BIN)/python -m pytest -m heavy --numprocesses auto --dist loadfile

# SAMPLES: how many texts of each family and kind of request
SAMPLES ?= 200
test-nightly: $(DEV)/.installed
	NIGHTLY_SAMPLES=$(SAMPLES) $(BIN)/python -m pytest -m nightly --numprocesses auto

test-browser: $(DEV)/.installed
	$(BIN)/python -m pytest -m browser

test-ray: $(RAY)/.installed
	$(RAY)/bin/python -m pytest -m ray tests/test_ray.py

# Each engine has an environment of its own, which its script makes once. What an engine's own
# libraries warn of is theirs.
ENGINE_TEST := -m pytest -o filterwarnings=default --disable-warnings

test-vllm:
	@bash .ci/vllm-env.sh
	.venv-vllm/bin/python $(ENGINE_TEST) tests/engine_vllm framework/tagsmith/integrations/vllm

test-sglang:
	@bash .ci/sglang-env.sh
	.venv-sglang/bin/python $(ENGINE_TEST) tests/engine_sglang framework/tagsmith/integrations/sglang

lint: $(DEV)/.installed
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy --no-error-summary
	@for name in family cases; do \
		$(BIN)/tagsmith schema $$name | diff -u schemas/$$name.schema.json - || \
		{ echo "run: $(BIN)/tagsmith schema $$name > schemas/$$name.schema.json" >&2; exit 1; }; done
	$(BIN)/tagsmith lint families

clean:
	rm -rf $(DEMO) $(DEV) $(RAY) .venv-vllm .venv-sglang build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment is made once, and installed into again only when what it holds is declared anew.
$(DEMO)/.installed: pyproject.toml
	$(call make_venv,$(DEMO))
	$(DEMO)/bin/python $(PIP_INSTALL) --editable .
	@touch $@

$(DEV)/.installed: pyproject.toml constraints.txt
	$(call make_venv,$(DEV))
	$(BIN)/python $(PIP_INSTALL) --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(RAY)/.installed: pyproject.toml constraints.txt
	$(call make_venv,$(RAY))
	$(RAY)/bin/python $(PIP_INSTALL) --constraint constraints.txt --editable '.[ray]' pytest
	@touch $@

define make_venv
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "Tagsmith needs Python 3.11 or newer; run: make PYTHON=python3.11" >&2; exit 1; }
@$(PYTHON) -c 'import ensurepip, venv' || \
	{ echo "this Python has no venv; install it (Debian: apt-get install python3-venv)" >&2; exit 1; }
$(PYTHON) -m venv $(1)
endef
