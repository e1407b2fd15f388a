"""Writes a database table through JDBC: inserts a row, or updates the row with the same key.

Tasks write a batch to a staging table in parallel; then one MERGE statement upserts it into the
target, in one transaction. So a repeated batch changes nothing, and readers see all of a batch or
nothing. Of rows with the same key the one that was read last is written; MERGE itself would reject
duplicates. The database must support MERGE, such as PostgreSQL 15 or later; spark.jars names the
driver's jar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ottla.pipeline.definitions.connector import BatchSink, Turn
from ottla.pipeline.definitions.databases import no_driver
from ottla.pipeline.definitions.errors import DefinitionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Classes of SQLSTATE for a database that cannot be reached, is starting or is shutting down; 40 is
# a rollback because of another transaction.
_PASSING_STATES: Final = ("08", "57P", "40", "53", "XJ0", "XBM")
# A column of the staging table: a row's number in its batch, ascending in the order of reading.
_NUMBER: Final = "ottla_row_number"


@dataclass(frozen=True)
class Jdbc(BatchSink):
    """A database table. It must exist and have a unique key over the columns of `key`."""

    url: str
    table: str
    key: tuple[str, ...]
    driver: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    patience_s: float = 300.0

    def __post_init__(self) -> None:
        if not isinstance(self.key, tuple) or not self.key:
            raise DefinitionError(f'Jdbc has the key {self.key!r}; write it as ("column", ...)')

    @property
    def place(self) -> str:
        return f"table {self.table} of {self.url.partition('?')[0]}"

    def missing(self, spark: SparkSession) -> str | None:
        from py4j.protocol import Py4JJavaError

        jvm: Any = spark._jvm  # noqa: SLF001 - drivers are Java's
        try:
            # Registers the driver, which DriverManager does not find by itself in Spark's jars.
            jvm.org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions(
                jvm.PythonUtils.toScalaMap(
                    {**self._options, "url": self.url, "dbtable": self.table}
                )
            ).driverClass()
        except Py4JJavaError:
            return no_driver(self.url)
        return None

    def write_batch(self, batch: DataFrame, turn: Turn) -> None:
        if missing := [each for each in self.key if each not in batch.columns]:
            raise DefinitionError(
                f"{self.place} has the key columns {', '.join(missing)}, which the rows do not have"
            )
        from pyspark.sql import functions as f

        staging = f"{self.table}_{turn.query}_staging"
        numbered = batch.withColumn(_NUMBER, f.monotonically_increasing_id())
        numbered.write.jdbc(self.url, staging, mode="overwrite", properties=self._options)
        self._merge(batch, staging)

    @property
    def _options(self) -> dict[str, str]:
        return {**self.properties, **({"driver": self.driver} if self.driver else {})}

    def _merge(self, batch: DataFrame, staging: str) -> None:
        """Connects through Spark, which has the drivers of spark.jars and the quoting rules."""
        jvm: Any = batch.sparkSession._jvm  # noqa: SLF001 - the way into the JVM
        dialect = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(self.url)
        options = {**self._options, "url": self.url, "dbtable": self.table}
        jdbc = jvm.org.apache.spark.sql.execution.datasources.jdbc
        given = jdbc.JDBCOptions(jvm.PythonUtils.toScalaMap(options))
        quoted = {name: str(dialect.quoteIdentifier(name)) for name in batch.columns}
        connection = dialect.createConnectionFactory(given).apply(-1)
        try:
            connection.setAutoCommit(False)
            statement = connection.createStatement()
            key = [quoted[each] for each in self.key]
            number = str(dialect.quoteIdentifier(_NUMBER))
            columns = [*quoted.values()]
            statement.executeUpdate(
                merge(self.table, staging=staging, columns=columns, key=key, number=number)
            )
            connection.commit()
        finally:
            connection.close()

    def is_passing(self, error: Exception) -> bool:
        state = _sql_state(error)
        return state is not None and state.startswith(_PASSING_STATES)


def merge(
    table: str, *, staging: str, columns: Sequence[str], key: Sequence[str], number: str
) -> str:
    """The MERGE statement. Of the rows with the same key it merges the one with the highest
    number."""
    rest = [each for each in columns if each not in key]
    matches = " AND ".join(f"target.{each} = staged.{each}" for each in key)
    update = ", ".join(f"{each} = staged.{each}" for each in rest)
    names = ", ".join(columns)
    turn = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(key)} ORDER BY {number} DESC)"
    # The names come from the definition, and columns are quoted by the database's rules.
    ranked = f"SELECT {names}, {turn} AS ottla_turn FROM {staging}"  # noqa: S608
    last = f"SELECT {names} FROM ({ranked}) AS ranked WHERE ottla_turn = 1"  # noqa: S608
    return (
        f"MERGE INTO {table} AS target USING ({last}) AS staged ON {matches} "
        + (f"WHEN MATCHED THEN UPDATE SET {update} " if rest else "")
        + f"WHEN NOT MATCHED THEN INSERT ({names}) "
        + f"VALUES ({', '.join(f'staged.{each}' for each in columns)})"
    )


def _sql_state(error: Exception) -> str | None:
    """The SQLSTATE of the first SQLException among the causes of Java's exception."""
    from py4j.java_gateway import is_instance_of
    from pyspark import SparkContext

    cause: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None:
        if is_instance_of(SparkContext._gateway, cause, "java.sql.SQLException"):  # noqa: SLF001
            return cause.getSQLState() or ""
        cause = cause.getCause()
    return None
