"""Changes of a PostgreSQL table, from its log."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ottla.pipeline.definitions.connector import Source, Surroundings
from ottla.pipeline.definitions.errors import DefinitionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NAME: Final = re.compile(r"[a-z0-9_]{1,63}")
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9_]+")
_NAME_MAX: Final = 63


@dataclass(frozen=True, slots=True)
class PostgresChanges(Source):
    """A table as a stream of its changes (change data capture).

    The stream begins with a snapshot of the rows when the query starts for the first time. Then
    follows every insert, update, delete and truncate, in the order of the commits and without a
    gap.

    Rows have the table's columns, and `change`: `operation` (`r` read, `c` created, `u` updated,
    `d` deleted, `t` truncated), `lsn`, `number` in the transaction, `transaction`, `committed`, and
    `unchanged`, the names of large columns that an update did not change. Topics are written
    without `change`. A deleted row has only its key, unless the table has REPLICA IDENTITY FULL.

    `dsn` is libpq's, such as "host=db dbname=shop user=ottla"; put the password into PGPASSWORD
    or a password file. Columns in `texts` are read as text. The query has its own replication slot,
    named after it unless `slot` is given. The server keeps the WAL until the query has read it.
    """

    dsn: str = field(repr=False)
    table: str
    slot: str | None = None
    texts: tuple[str, ...] = ()
    log_bytes_per_batch: int = 64 << 20

    def __post_init__(self) -> None:
        if self.slot is not None and not _NAME.fullmatch(self.slot):
            raise DefinitionError(
                f"PostgresChanges has the slot {self.slot!r}: use lower-case letters, digits and "
                "underscores, at most 63"
            )
        if not isinstance(self.texts, tuple):
            raise DefinitionError(
                f'PostgresChanges has texts={self.texts!r}; write ("column", ...)'
            )
        if self.log_bytes_per_batch < 1:
            raise DefinitionError("PostgresChanges needs log_bytes_per_batch of at least 1")

    @property
    def place(self) -> str:
        return f"changes of the PostgreSQL table {self.table}"

    def load(self, spark: SparkSession, around: Surroundings) -> DataFrame:
        from ottla.pipeline.capture.data_source import DSN_OPTION, NAME, PostgresSource

        spark.dataSource.register(PostgresSource)
        slot = self.slot or _slot_name(around.group_id)
        reader = spark.readStream.format(NAME).option(DSN_OPTION, self.dsn)
        reader = reader.options(table=self.table, slot=slot, publication=slot)
        reader = reader.options(texts=",".join(self.texts))
        return reader.option("logBytesPerBatch", str(self.log_bytes_per_batch)).load()


def _slot_name(group_id: str) -> str:
    return f"ottla_{_NOT_IN_NAMES.sub('_', group_id.lower())}"[:_NAME_MAX]
