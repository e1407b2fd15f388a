"""What a connector is: a source says how to load a DataFrame, a sink how to write one.

A new one is a small frozen dataclass with what a user writes in a definition. `BatchSink` is for
whatever has no writer in Spark.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.runtime.system_clock import SystemClock, sleep_blocking

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_log = logging.getLogger(__name__)

# As Spark names it among the properties of the thread that runs a query.
_QUERY_ID: Final = "sql.streaming.queryId"
_PAUSE_S_FIRST: Final = 0.5
_PAUSE_S_MAX: Final = 10.0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a query's connectors know of the run that they are part of."""

    bootstrap: str
    # Under which the query commits how far it is: its own, so that its lag is its own.
    group_id: str
    # Spark's output mode.
    mode: str = "append"


class Turn(NamedTuple):
    """A batch of a query. Its id is the checkpoint's, so that a query which begins anew, with
    another checkpoint, does not pass for the one before."""

    query: str
    query_id: str
    batch_id: int


class Source(ABC):
    """Where rows come from."""

    @property
    @abstractmethod
    def place(self) -> str:
        """In words, for whoever looks at the graph."""

    @abstractmethod
    def load(self, spark: SparkSession, around: Surroundings) -> DataFrame:
        """The rows that are good. Nothing is read yet."""

    def rejected(self, spark: SparkSession, around: Surroundings) -> Rejected | None:  # noqa: ARG002
        """The rows that are not, and where they go, if they are to be set aside."""
        return None

    @property
    def topics(self) -> tuple[str, ...]:
        """That have to be there."""
        return ()


class Sink(ABC):
    """Where rows go."""

    @property
    @abstractmethod
    def place(self) -> str:
        """In words, for whoever looks at the graph."""

    @abstractmethod
    def write(self, frame: DataFrame, query: str, around: Surroundings) -> DataStreamWriter:
        """A writer that is ready but for its trigger, mode and checkpoint. A batch may come again
        with the same id, and must then have no second effect."""

    @property
    def topics(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """Records that do not parse, on their way to where they are set aside."""

    frame: DataFrame
    sink: Sink


class BatchSink(Sink):
    """Written batch by batch, on the driver. What fails for now is tried again for `patience_s`,
    while the query waits and nothing is lost."""

    patience_s: float = 300.0

    @abstractmethod
    def write_batch(self, batch: DataFrame, turn: Turn) -> None:
        """Once more with the same turn has no second effect."""

    @abstractmethod
    def is_passing(self, error: Exception) -> bool:
        """Whether trying again may help: it cannot be reached, it is starting."""

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
        assert query_id is not None, "Spark tells the thread of a query which one it is"
        write(batch, Turn(query, query_id, batch_id))

    return frame.writeStream.foreachBatch(called)
