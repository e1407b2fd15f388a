# `make help` lists the targets. Nothing here needs more than make and Python 3.11 or newer.
.DEFAULT_GOAL := help
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
DOCS := .cache/docs
CODE := src tests benchmarks scripts
# Every worker and every node that tests start would compile what they import anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup demo test tested sim soak copy exactly-once pipelines judge-all conform conform-registry conform-karapace conform-gateway format check docs docs-configs docs-metrics dashboard words bench release-check lock judge connector librdkafka clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

setup: $(STAMP) ## create .venv with the locked dependencies

# The module by which Spark finds the data source is copied into the environment.
$(STAMP): requirements.lock pyproject.toml src/pyspark_ottla.py
	@scripts/setup $(VENV)
	@touch $@

demo: $(STAMP) ## run three nodes and a pipeline, kill a node and the pipeline, count every flight exactly once
	@$(BIN)/python -m ottla.cli.demo

# The checks run beside the tests, and more workers than there are cores, because many tests wait.
test: $(STAMP) judge connector ## run every check that a change must pass before it is merged
	@$(MAKE) --no-print-directory -j 2 check tested

tested: $(STAMP)
	@$(BIN)/python -m pytest -q -n 5

# make sim SECONDS_MAX=3600, make sim SEED=7, make sim SEED=7 SHRINK=1
SECONDS_OF_SIM := $(or $(SECONDS_MAX),60)
sim: $(STAMP) ## simulate clusters under faults for 60 s or SECONDS_MAX; with SEED=n replay one seed
	@$(BIN)/python -m ottla.simulation $(if $(SEED),--seed $(SEED) $(if $(SHRINK),--shrink),--seconds $(SECONDS_OF_SIM))

soak: $(STAMP) ## run the endurance tests at full size: 100 kills, 10,000 connections and partitions
	@OTTLA_SOAK=1 $(BIN)/python -m pytest -q -rP tests/integration

copy: $(STAMP) ## copy 100,000 records in transactions while copiers and nodes are killed
	@OTTLA_SOAK=1 $(BIN)/python -m pytest -q -rP tests/integration/transactions

exactly-once: $(STAMP) judge connector ## copy a million rows with Spark while drivers, workers, executors and brokers are killed
	@OTTLA_SOAK=1 $(BIN)/python -m pytest -q -rP tests/integration/test_spark_sink.py tests/pipeline/test_exactly_once.py tests/pipeline/test_exactly_once_kills.py

pipelines: $(STAMP) connector ## run pipelines on the command line, and on a Spark cluster of three processes
	@OTTLA_SOAK=1 $(BIN)/python -m pytest -q tests/pipeline/test_standalone_cluster.py tests/pipeline/test_command_line.py tests/pipeline/test_signals.py tests/pipeline/test_spark_starts.py tests/docs/test_documents.py

judge-all: $(STAMP) judge ## check every log that the property tests write with Apache Kafka's dump tool
	@OTTLA_JUDGE=1 $(BIN)/python -m pytest -q -n 2 -m judged

conform: $(STAMP) librdkafka ## run librdkafka's own test programs, and tests of clients in Go
	@OTTLA_CONFORM=1 $(BIN)/python -m pytest -q tests/conformance/librdkafka tests/conformance/go_clients

conform-registry: $(STAMP) ## run confluent-kafka-python's registry tests and franz-go's client on a registry
	@scripts/fetch-registry-tests .cache/registry
	@OTTLA_CONFORM=1 $(BIN)/python -m pytest -q tests/conformance/registry

conform-karapace: $(STAMP) ## run Karapace's tests of its registry on a registry, where Python 3.12 is present
	@scripts/fetch-karapace .cache/karapace
	@$(BIN)/python -m tests.conformance.registry.karapace .cache/karapace

format: $(STAMP) ## format the code, and fix what lint can fix
	@$(BIN)/ruff format --quiet $(CODE)
	@$(BIN)/ruff check --quiet --fix $(CODE)

check: $(STAMP) ## check formatting, lint, types and import layers
	@$(BIN)/ruff format --check --quiet $(CODE) || (echo "run: make format" && false)
	@$(BIN)/ruff check --quiet $(CODE)
	@$(BIN)/mypy
	@$(BIN)/lint-imports

docs: $(DOCS)/.ready ## build the documentation as a site, .cache/site/index.html; broken links are errors
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet --strict
	@echo "Built: .cache/site/index.html"

$(DOCS)/.ready: requirements-docs.lock | $(STAMP)
	@$(BIN)/python -m venv --clear $(DOCS)
	@$(DOCS)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
	@touch $@

# make release-check PYTHONS=3.12 EXTRAS=client
release-check: $(STAMP) ## build wheel and sdist; install and use the wheel with each Python and each extra
	@$(BIN)/python -m scripts.release_check $(if $(PYTHONS),--pythons $(PYTHONS)) $(if $(EXTRAS),--extras $(EXTRAS))

bench: $(STAMP) ## benchmark components, one node and three nodes, compare with Apache Kafka, check the bounds
	@$(BIN)/python -m benchmarks

judge: ## fetch Apache Kafka's jars for the tests, where Java and Maven are present
	@scripts/fetch-judge .cache/kafka

connector: ## fetch Spark's Kafka connector for the tests, where Java and Maven are present
	@scripts/fetch-connector .cache/spark

conform-gateway: $(STAMP) ## run Karapace's tests of its REST proxy on the gateway, where Python 3.12 is present
	@scripts/fetch-karapace .cache/karapace
	@$(BIN)/python -m tests.conformance.gateway.karapace .cache/karapace

librdkafka: ## fetch and build librdkafka's test programs, where cargo and a C++ compiler are present
	@scripts/fetch-librdkafka .cache/librdkafka

docs-configs: $(STAMP) ## write docs/configs.md, the reference of all settings, from their definitions
	@PYTHONPATH=src $(BIN)/python -m ottla.configs.reference > docs/configs.md

docs-metrics: $(STAMP) ## write the tables of all metrics into docs/operations.md
	@$(BIN)/python -m scripts.metrics_table

dashboard: $(STAMP) ## write ops/grafana/ottla.json from the table of its panels
	@$(BIN)/python -m scripts.grafana_dashboard

words: $(STAMP) ## write every text that users read into .cache/words.txt
	@$(BIN)/python -m scripts.words .cache/words.txt

lock: ## resolve the dependencies again into requirements.lock and requirements-docs.lock
	@scripts/lock

clean: ## remove everything that the targets created
	@rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
