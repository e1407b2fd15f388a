"""The interfaces of connectors: a source loads a DataFrame, a sink writes one.

A new connector is a small frozen dataclass whose fields are what a user writes in a definition.
`BatchSink` is the base of sinks for targets without a streaming writer in Spark.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.runtime.system_clock import SystemClock, sleep_blocking

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_log = logging.getLogger(__name__)

# Spark's name for this local property of the thread that runs a query.
_QUERY_ID: Final = "sql.streaming.queryId"
_PAUSE_S_FIRST: Final = 0.5
_PAUSE_S_MAX: Final = 10.0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The properties of a query that its connectors use."""

    bootstrap: str
    # The consumer group of this query alone, to which it commits its progress: it shows its lag.
    group_id: str
    # Spark's output mode.
    mode: str = "append"
    # Client properties of TLS and SASL, by Kafka's names.
    security: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def client_options(self) -> dict[str, str]:
        """The options of `format("ottla")` with which a topic's connectors reach the cluster."""
        named = {f"kafka.{name}": value for name, value in self.security.items()}
        return {"kafka.bootstrap.servers": self.bootstrap, **named}


class Turn(NamedTuple):
    """A batch of a query. `query_id` belongs to the checkpoint, so a query that starts again with
    a new checkpoint has other batches."""

    query: str
    query_id: str
    batch_id: int


class Source(ABC):
    """Where rows are read."""

    @property
    @abstractmethod
    def place(self) -> str:
        """A name for the source in output and messages."""

    @abstractmethod
    def load(self, spark: SparkSession, around: Surroundings) -> DataFrame:
        """A DataFrame of the rows that parse. It reads nothing yet."""

    def rejected(self, spark: SparkSession, around: Surroundings) -> Rejected | None:  # noqa: ARG002
        """The rows that do not parse and their sink, or None if they stop the query."""
        return None

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that must exist."""
        return ()


class Sink(ABC):
    """Where rows are written."""

    @property
    @abstractmethod
    def place(self) -> str:
        """A name for the target in output and messages."""

    @abstractmethod
    def write(self, frame: DataFrame, query: str, around: Surroundings) -> DataStreamWriter:
        """A writer with everything but its trigger, mode and checkpoint. A batch may come again
        with the same id, and must then have no second effect."""

    def missing(self, spark: SparkSession) -> str | None:  # noqa: ARG002
        """What is not installed here, such as a driver, or None."""
        return None

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that must exist."""
        return ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """Records that do not parse, and the sink that they are written to."""

    frame: DataFrame
    sink: Sink


class BatchSink(Sink):
    """A sink that is written batch by batch, on the driver.

    Temporary failures are retried for `patience_s` seconds, while the query waits.
    """

    patience_s: float = 300.0

    @abstractmethod
    def write_batch(self, batch: DataFrame, turn: Turn) -> None:
        """Writes a batch. Repeated with the same `turn`, it must have no second effect."""

    @abstractmethod
    def is_passing(self, error: Exception) -> bool:
        """Whether a retry may succeed, for example if the target is unreachable or starting."""

    def write(self, frame: DataFrame, query: str, around: Surroundings) -> DataStreamWriter:  # noqa: ARG002
        return batch_writer(frame, query, self._persist)

    def _persist(self, batch: DataFrame, turn: Turn) -> None:
        clock = SystemClock()
        deadline = clock.monotonic() + self.patience_s
        pause_s = _PAUSE_S_FIRST
        batch.persist()
        try:
            while True:
                try:
                    return self.write_batch(batch, turn)
                except Exception as error:
                    if not self.is_passing(error) or clock.monotonic() + pause_s > deadline:
                        raise
                    reason = str(error).strip().partition("\n")[0]
                    _log.warning("%s waits for %s: %s", turn.query, self.place, reason)
                sleep_blocking(pause_s)
                pause_s = min(2 * pause_s, _PAUSE_S_MAX)
        finally:
            batch.unpersist()


def batch_writer(
    frame: DataFrame, query: str, write: Callable[[DataFrame, Turn], None]
) -> DataStreamWriter:
    """Calls `write` on the driver for each batch."""

    def called(batch: DataFrame, batch_id: int) -> None:
        query_id = batch.sparkSession.sparkContext.getLocalProperty(_QUERY_ID)
        assert query_id is not None, "Spark sets the query id in the thread of a query"
        write(batch, Turn(query, query_id, batch_id))

    return frame.writeStream.foreachBatch(called)
