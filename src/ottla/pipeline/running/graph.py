"""Builds DataFrames from definitions, for one query at a time. Each query has its own sources,
which commit their progress under the query's own consumer group."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ottla.pipeline.definitions.connector import Sink, Surroundings
from ottla.pipeline.definitions.errors import DefinitionError
from ottla.pipeline.definitions.registry import (
    Registry,
    SinkDefinition,
    SourceDefinition,
    ViewDefinition,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Query:
    """A query: the DataFrame, and the sink it is written to."""

    name: str
    frame: DataFrame
    sink: Sink
    mode: str
    every: str | None
    around: Surroundings
    # By name, the sources and views that it depends on.
    parts: Mapping[str, GraphPart]


@dataclass(frozen=True, slots=True)
class GraphPart:
    """A source or a view within one query."""

    frame: DataFrame
    inputs: tuple[str, ...]
    # Of a source: what it reads.
    place: str = ""


class Graph:
    """Builds the DataFrames of one pipeline in one session. It runs nothing."""

    def __init__(
        self,
        registry: Registry,
        spark: SparkSession,
        *,
        pipeline: str,
        bootstrap: str,
        security: Mapping[str, str] | None = None,
    ) -> None:
        """`security` has client properties of TLS and SASL, by Kafka's names."""
        self._registry = registry
        self._spark = spark
        self._pipeline = pipeline
        self._bootstrap = bootstrap
        self._security = security or {}

    def queries(self) -> tuple[list[Query], list[str]]:
        """One query for each sink and for each source that writes rejected records, and the
        mistakes in those that could not be built."""
        queries, mistakes = [], []
        for definition in self._registry.definitions.values():
            try:
                if isinstance(definition, SinkDefinition):
                    queries.append(self._query(definition))
                elif isinstance(definition, SourceDefinition):
                    queries += self._rejected(definition)
            except DefinitionError as error:
                mistakes.append(str(error))
        return queries, mistakes

    def _rejected(self, source: SourceDefinition) -> list[Query]:
        name = f"{source.name}_rejected"
        around = self._around(name)
        rejected = source.connector.rejected(self._spark, around)
        if rejected is None:
            return []
        return [Query(name, rejected.frame, rejected.sink, "append", None, around, {})]

    def _query(self, sink: SinkDefinition) -> Query:
        around = self._around(sink.name, sink.mode)
        parts: dict[str, GraphPart] = {}
        for definition in self._registry.definitions.values():
            if isinstance(definition, SourceDefinition):
                rows = definition.connector.load(self._spark, around)
                frame = self._called(definition, [rows])
                self._add(parts, definition.name, frame, (), definition.connector.place)
            elif isinstance(definition, ViewDefinition):
                given = [parts[name].frame for name in definition.inputs]
                self._add(
                    parts, definition.name, self._called(definition, given), definition.inputs
                )
            elif definition is sink:
                break
        frame = self._called(sink, [parts[name].frame for name in sink.inputs])
        needed = _needed(parts, sink.inputs or _views_in(frame, parts))
        return Query(sink.name, frame, sink.connector, sink.mode, sink.every, around, needed)

    def _add(
        self,
        parts: dict[str, GraphPart],
        name: str,
        frame: DataFrame,
        inputs: tuple[str, ...],
        place: str = "",
    ) -> None:
        parts[name] = GraphPart(frame, inputs or tuple(_views_in(frame, parts)), place)
        frame.createOrReplaceTempView(name)

    def _called(self, definition: Any, given: list[DataFrame]) -> DataFrame:
        from pyspark.errors import PySparkException
        from pyspark.sql import DataFrame

        try:
            result = definition.function(*given)
            if isinstance(result, str):
                result = self._spark.sql(result)
        except DefinitionError:
            raise
        except PySparkException as error:
            raise DefinitionError(f"{definition.name}: {first_line(error)}") from error
        if not isinstance(result, DataFrame):
            raise DefinitionError(
                f"{definition.name} returns {type(result).__name__}; return a DataFrame, or SQL"
            )
        return result

    def _around(self, query: str, mode: str = "append") -> Surroundings:
        return Surroundings(self._bootstrap, f"{self._pipeline}.{query}", mode, self._security)


def _views_in(frame: DataFrame, parts: Mapping[str, GraphPart]) -> list[str]:
    """The views that SQL refers to directly, from Spark's plan."""
    plan = frame._jdf.queryExecution().analyzed().toString()  # noqa: SLF001 - not in Python
    named = set(re.findall(r"View \(`([^`]+)`", plan))
    above: set[str] = set()
    for name in named & set(parts):
        above.update(_needed(parts, parts[name].inputs))
    return [name for name in parts if name in named and name not in above]


def _needed(parts: Mapping[str, GraphPart], names: Any) -> dict[str, GraphPart]:
    """These parts and all that they depend on, in the order of the module."""
    needed = set(names)
    for name in reversed(list(parts)):
        if name in needed:
            needed.update(parts[name].inputs)
    return {name: part for name, part in parts.items() if name in needed}


def first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
