# `make help` lists the targets. Nothing here needs more than make and Python 3.11 or newer.
.DEFAULT_GOAL := help
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
# Every worker and every node that tests start would compile what they import anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup demo test tested sim soak copy exactly-once pipelines judge-all conform check bench docs-configs lock judge connector librdkafka clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: $(STAMP) ## make .venv with everything in it

# The module by which Spark finds the data source is copied into the environment.
$(STAMP): requirements.lock pyproject.toml src/pyspark_ottla.py
	@scripts/setup $(VENV)
	@touch $@

demo: $(STAMP) ## the whole story: three nodes, a pipeline, both killed, and every flight counted once
	@$(BIN)/python -m ottla.cli.demo

# The checks run beside the tests, and more workers than there are cores, because many tests wait.
test: $(STAMP) judge connector ## everything that has to hold before a change lands
	@$(MAKE) --no-print-directory -j 2 check tested

tested: $(STAMP)
	@$(BIN)/python -m pytest -q -n 5

# make sim SECONDS_MAX=3600, make sim SEED=7, make sim SEED=7 SHRINK=1
SECONDS_OF_SIM := $(or $(SECONDS_MAX),60)
sim: $(STAMP) ## simulated clusters under faults, seed by seed, for 60 s or SECONDS_MAX; SEED=n tells one
	@$(BIN)/python -m ottla.simulation $(if $(SEED),--seed $(SEED) $(if $(SHRINK),--shrink),--seconds $(SECONDS_OF_SIM))

soak: $(STAMP) ## the tests of endurance at full size: 100 kills, 10,000 connections and partitions
	@OTTLA_SOAK=1 $(BIN)/python -m pytest -q -rP tests/integration

copy: $(STAMP) ## 100,000 records copied in transactions while copiers and nodes are killed
	@OTTLA_SOAK=1 $(BIN)/python -m pytest -q -rP tests/integration/transactions

exactly-once: $(STAMP) judge connector ## a million rows copied by Spark while drivers, workers, executors and brokers are killed
	@OTTLA_SOAK=1 $(BIN)/python -m pytest -q -rP tests/integration/test_spark_sink.py tests/pipeline/test_exactly_once.py tests/pipeline/test_exactly_once_kills.py

pipelines: $(STAMP) connector ## pipelines on the command line, and on a Spark cluster of three processes
	@OTTLA_SOAK=1 $(BIN)/python -m pytest -q tests/pipeline/test_standalone_cluster.py tests/pipeline/test_command_line.py tests/pipeline/test_spark_starts.py tests/docs/test_documents.py

judge-all: $(STAMP) judge ## every log that the property tests write, shown to Apache Kafka's own tool
	@OTTLA_JUDGE=1 $(BIN)/python -m pytest -q -n 2 -m judged

conform: $(STAMP) librdkafka ## librdkafka's own test programs on three nodes
	@OTTLA_CONFORM=1 $(BIN)/python -m pytest -q tests/conformance/librdkafka

check: $(STAMP) ## style, types and layering
	@$(BIN)/ruff format --check --quiet src tests benchmarks || (echo "run: $(BIN)/ruff format src tests benchmarks" && false)
	@$(BIN)/ruff check --quiet src tests benchmarks
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(STAMP) ## every figure with its bound, beside Apache Kafka: parts, one node, three nodes
	@$(BIN)/python -m benchmarks

judge: ## Apache Kafka's own jars, where Java and Maven are present
	@scripts/fetch-judge .cache/kafka

connector: ## Spark's own Kafka connector, where Java and Maven are present
	@scripts/fetch-connector .cache/spark

librdkafka: ## librdkafka's own test programs, where cargo and a C++ compiler are present
	@scripts/fetch-librdkafka .cache/librdkafka

docs-configs: $(STAMP) ## docs/configs.md, the reference of all settings, from their definitions
	@PYTHONPATH=src $(BIN)/python -m ottla.configs.reference > docs/configs.md

lock: ## resolve the dependencies anew into requirements.lock
	@scripts/lock

clean: ## remove what the targets made
	@rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
