# `make help` lists the targets. Nothing here needs more than make and Python 3.11 or newer.
.DEFAULT_GOAL := help
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: help setup demo test soak check bench lock judge clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: $(STAMP) ## make .venv with everything in it

$(STAMP): requirements.lock pyproject.toml
	@scripts/setup $(VENV)
	@touch $@

demo: $(STAMP) ## write a log, crash it, recover it
	@$(BIN)/python -m ottla.cli.demo

test: $(STAMP) judge check ## everything that has to hold before a change lands
	@$(BIN)/python -m pytest -q -n 2

soak: $(STAMP) ## the tests of endurance at full size: 100 kills, 10,000 connections and partitions
	@OTTLA_SOAK=1 $(BIN)/python -m pytest -q -rP tests/integration

check: $(STAMP) ## style, types and layering
	@$(BIN)/ruff format --check --quiet src tests benchmarks || (echo "run: $(BIN)/ruff format src tests benchmarks" && false)
	@$(BIN)/ruff check --quiet src tests benchmarks
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(STAMP) ## speed of codec and log
	@$(BIN)/python -m benchmarks

judge: ## Apache Kafka's own jars, where Java and Maven are present
	@scripts/fetch-judge .cache/kafka

lock: ## resolve the dependencies anew into requirements.lock
	@scripts/lock

clean: ## remove what the targets made
	@rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
