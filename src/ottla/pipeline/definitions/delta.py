"""Writes a Delta table with the package deltalake, without a jar.

Each commit records the query and batch in the table (Delta's application transactions), so a
repeated batch is recognized and skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ottla.pipeline.definitions.connector import BatchSink, Turn
from ottla.pipeline.definitions.errors import MissingPackageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Delta(BatchSink):
    """Appends to a Delta table.

    The rows of a batch pass through the driver and must fit into its memory;
    `maxOffsetsPerTrigger` of the source limits them.
    """

    path: str
    partition_by: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        return f"Delta table {self.path}"

    def missing(self, spark: SparkSession) -> str | None:  # noqa: ARG002
        return self._remedy if find_spec("deltalake") is None else None

    @property
    def _remedy(self) -> str:
        return (
            f"{self.place} is written with the package deltalake, which is not installed; install "
            "it with: pip install 'ottla[delta]'"
        )

    def write_batch(self, batch: DataFrame, turn: Turn) -> None:
        try:
            from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
        except ImportError:
            raise MissingPackageError(self._remedy) from None
        if DeltaTable.is_deltatable(self.path):
            last = DeltaTable(self.path).transaction_version(turn.query_id)
            if last is not None and last >= turn.batch_id:
                return
        write_deltalake(
            self.path,
            batch.toArrow(),
            mode="append",
            partition_by=list(self.partition_by) or None,
            commit_properties=CommitProperties(
                app_transactions=[Transaction(turn.query_id, turn.batch_id)]
            ),
        )

    def is_passing(self, error: Exception) -> bool:
        return isinstance(error, OSError) and not isinstance(error, FileNotFoundError)
