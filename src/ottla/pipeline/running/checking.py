"""Finds the mistakes of a pipeline before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ottla.pipeline.definitions.connector import Surroundings
from ottla.pipeline.definitions.errors import DefinitionError
from ottla.pipeline.definitions.registry import Registry, SinkDefinition, ViewDefinition
from ottla.pipeline.reading.data_source import with_cluster
from ottla.pipeline.reading.errors import ClusterError
from ottla.pipeline.reading.options import parse_options
from ottla.pipeline.reading.topics import find_partitions
from ottla.pipeline.running.graph import Graph, Query, first_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Short, because a user waits; the query itself looks for its topics again.
_TIMEOUT_MS: Final = 10_000
_WATERMARK: Final = (
    '; add one to its source: return rows.withWatermark("COLUMN", "10 minutes"), and group by that '
    "column or by a window of it"
)


def check(graph: Graph, registry: Registry, spark: SparkSession) -> tuple[list[Query], list[str]]:
    """The queries that would run, and the mistakes in them."""
    queries, mistakes = graph.queries()
    for query in queries:
        if (mistake := _unsupported(query, spark)) is not None:
            mistakes.append(mistake)
    if queries:
        mistakes += _missing_topics(registry, queries[0].around)
    return queries, list(dict.fromkeys(mistakes))


def _unsupported(query: Query, spark: SparkSession) -> str | None:
    """The error with which Spark would refuse to start the query, such as an aggregation without a
    watermark or an unsupported output mode."""
    from pyspark.errors import PySparkException

    if not query.frame.isStreaming:
        return f"{query.name} reads no stream; a query needs at least one source that is not static"
    jvm: Any = spark._jvm  # noqa: SLF001 - Spark's own check is not in Python
    mode = getattr(jvm.org.apache.spark.sql.streaming.OutputMode, query.mode.capitalize())()
    plan = query.frame._jdf.queryExecution().analyzed()  # noqa: SLF001
    checker = jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
    try:
        checker.checkForStreaming(plan, mode)
        query.sink.write(query.frame, query.name, query.around)
    except DefinitionError as error:
        return f"{query.name}: {error}"
    except PySparkException as error:
        reason = first_line(error)
        hint = _WATERMARK if "without watermark" in reason else ""
        return f"{query.name}: {reason}{hint}"
    missing = query.sink.missing(spark)
    return None if missing is None else f"{query.name}: {missing}"


def _missing_topics(registry: Registry, around: Surroundings) -> list[str]:
    mistakes = []
    for definition in registry.definitions.values():
        if isinstance(definition, ViewDefinition):
            continue
        what = "sink" if isinstance(definition, SinkDefinition) else "source"
        for topic in definition.connector.topics:
            try:
                _find(topic, around)
            except ClusterError as error:
                mistakes.append(f"{what} {definition.name}: {error}")
    return mistakes


def _find(topic: str, around: Surroundings) -> None:
    given = {
        **around.client_options,
        "subscribe": topic,
        "kafkaConsumer.pollTimeoutMs": str(_TIMEOUT_MS),
    }
    options = parse_options(given, is_streaming=True)
    with_cluster(options, lambda cluster: find_partitions(cluster, options.subscription))
