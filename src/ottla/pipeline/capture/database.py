"""The connections to PostgreSQL: the table, its publication and slot, the snapshot, the log.

The log is read with `pg_logical_slot_peek_binary_changes`, which leaves the slot where it is, so
that a range can be read again after a failure. The slot moves on with `pg_replication_slot_advance`
when a batch is committed. Both need an ordinary connection only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from ottla.pipeline.capture.column_types import TableColumn
from ottla.pipeline.capture.errors import CaptureError
from ottla.pipeline.definitions.errors import MissingPackageError
from ottla.runtime.system_clock import SystemClock, sleep_blocking

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")

_CONNECT_TIMEOUT_S: Final = 10
# How values are written as text; the same in the snapshot and in the log.
_SETTINGS: Final = (
    "-c datestyle=ISO -c timezone=UTC -c bytea_output=hex -c intervalstyle=iso_8601 "
    "-c extra_float_digits=3 -c statement_timeout=0 -c idle_in_transaction_session_timeout=0"
)
_ROWS_FETCHED: Final = 10_000
# As long as another process may still read from the slot, such as a task that was cancelled.
_BUSY_SECONDS_MAX: Final = 60.0
_BUSY_PAUSE_S: Final = 0.2


class CapturedTable(NamedTuple):
    """`name` is SCHEMA.NAME as in the log, `quoted` as in statements."""

    name: str
    quoted: str
    columns: tuple[TableColumn, ...]
    key: tuple[str, ...]
    pages: int
    # Whether its rows lie in pages of its own, which can be read in parallel.
    has_pages: bool


class Slot(NamedTuple):
    name: str
    publication: str


class CaptureDatabase:
    """Opens a connection for each call; `snapshot` keeps one open. Raises CaptureError."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    def describe(self, table: str) -> CapturedTable:
        with self._connect() as connection:
            found = connection.execute(
                "SELECT c.oid, n.nspname, c.relname, c.relkind, c.relreplident, "
                "pg_relation_size(c.oid) / current_setting('block_size')::int "
                "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                "WHERE c.oid = to_regclass(%s)",
                (table,),
            ).fetchone()
            if found is None:
                raise CaptureError(f"the database has no table {table}")
            oid, schema, name, kind, identity, pages = found
            if kind not in ("r", "p"):
                raise CaptureError(f"{table} is not a table: only tables can be captured")
            columns = connection.execute(
                "SELECT a.attname, t.typname, a.atttypmod FROM pg_attribute a "
                "JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = %s AND a.attnum > 0 "
                "AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum",
                (oid,),
            ).fetchall()
            key = connection.execute(
                "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid "
                "AND a.attnum = ANY (i.indkey) WHERE i.indrelid = %s AND i.indisprimary "
                "ORDER BY array_position(i.indkey, a.attnum)",
                (oid,),
            ).fetchall()
            (quoted,) = _one(
                connection, "SELECT format('%%I.%%I', %s::text, %s::text)", schema, name
            )
        if not key and identity not in ("f", "i"):
            raise CaptureError(
                f"the table {table} has no primary key, so that its updates and deletions cannot "
                f"be captured: add one, or ALTER TABLE {table} REPLICA IDENTITY FULL"
            )
        return CapturedTable(
            f"{schema}.{name}",
            quoted,
            tuple(TableColumn(*each) for each in columns),
            tuple(each for (each,) in key),
            int(pages or 0),
            kind == "r",
        )

    def prepare(self, slot: Slot, table: CapturedTable) -> int:
        """Creates the publication and the slot, if they do not exist. Returns where the slot is."""
        with self._connect() as connection:
            (level,) = _one(connection, "SHOW wal_level")
            if level != "logical":
                raise CaptureError(
                    f"the server has wal_level={level}; set wal_level=logical and restart it"
                )
            self._publish(connection, slot, table)
            existing = self._slot(connection, slot)
            if existing is not None:
                return existing
            (lsn,) = _one(
                connection,
                "SELECT lsn - '0/0' FROM pg_create_logical_replication_slot(%s, 'pgoutput')",
                slot.name,
            )
            return int(lsn)

    def _publish(
        self, connection: psycopg.Connection[Any], slot: Slot, table: CapturedTable
    ) -> None:
        from psycopg import sql

        tables = connection.execute(
            "SELECT schemaname || '.' || tablename FROM pg_publication_tables WHERE pubname = %s",
            (slot.publication,),
        ).fetchall()
        if (table.name,) in tables:
            return
        (exists,) = _one(
            connection,
            "SELECT count(*) FROM pg_publication WHERE pubname = %s",
            slot.publication,
        )
        verb = "ALTER PUBLICATION {} ADD TABLE" if exists else "CREATE PUBLICATION {} FOR TABLE"
        root = "" if exists else " WITH (publish_via_partition_root = true)"
        connection.execute(
            sql.SQL(f"{verb} {table.quoted}{root}").format(sql.Identifier(slot.publication))
        )

    def _slot(self, connection: psycopg.Connection[Any], slot: Slot) -> int | None:
        found = connection.execute(
            "SELECT plugin, database, wal_status, confirmed_flush_lsn - '0/0', current_database() "
            "FROM pg_replication_slots WHERE slot_name = %s",
            (slot.name,),
        ).fetchone()
        if found is None:
            return None
        plugin, database, status, lsn, here = found
        if plugin != "pgoutput" or database != here:
            raise CaptureError(
                f"the replication slot {slot.name} is one of {plugin} in the database {database}; "
                "choose another name for this source's slot"
            )
        if status == "lost":
            raise CaptureError(
                f"the server has removed WAL that the replication slot {slot.name} still needed "
                "(max_slot_wal_keep_size): to read the table again, drop the slot and remove the "
                "checkpoint"
            )
        return int(lsn)

    def end_of_log(self) -> int:
        """Up to where the log is durable."""
        with self._connect() as connection:
            (lsn,) = _one(connection, "SELECT pg_current_wal_flush_lsn() - '0/0'")
            return int(lsn)

    def advance(self, slot: Slot, lsn: int) -> None:
        """The log before it is not needed any more."""
        with self._connect() as connection:
            if self._required(connection, slot) >= lsn:
                return

            def move() -> None:
                connection.execute(
                    "SELECT pg_replication_slot_advance(%s, '0/0'::pg_lsn + %s)", (slot.name, lsn)
                )

            _unless_busy(move)

    def has_changes(self, slot: Slot, end: int) -> bool:
        """Whether there is a transaction between where the slot is and the end."""
        with self._connect() as connection:
            self._required(connection, slot)

            def peek() -> bool:
                found = connection.execute(
                    "SELECT 1 FROM pg_logical_slot_peek_binary_changes(%s, '0/0'::pg_lsn + %s, 1, "
                    "'proto_version', '1', 'publication_names', %s) LIMIT 1",
                    (slot.name, end, _quoted(slot.publication)),
                ).fetchone()
                return found is not None

            return _unless_busy(peek)

    def messages(self, slot: Slot, end: int) -> Iterator[bytes]:
        """What the log has from where the slot is, until a little behind the end. The server keeps
        it in a file, if it is large, while it is read."""
        with self._connect() as connection:
            self._required(connection, slot)
            with connection.cursor(name="ottla", binary=True, withhold=True) as cursor:

                def peek() -> None:
                    cursor.execute(
                        "SELECT data FROM pg_logical_slot_peek_binary_changes(%s, "
                        "'0/0'::pg_lsn + %s, NULL, 'proto_version', '1', 'publication_names', %s)",
                        (slot.name, end, _quoted(slot.publication)),
                    )

                _unless_busy(peek)
                while rows := cursor.fetchmany(_ROWS_FETCHED):
                    for (data,) in rows:
                        yield bytes(data)

    def snapshot(self) -> TableSnapshot:
        return TableSnapshot(self._connect())

    def rows(
        self, table: CapturedTable, snapshot_id: str, pages: range | None
    ) -> Iterator[Sequence[tuple[bytes | None, ...]]]:
        """The texts of the rows in some pages, or of all rows, as a snapshot shows them."""
        from psycopg import sql

        names = sql.SQL(", ").join(
            sql.SQL("{}::text").format(sql.Identifier(each.name)) for each in table.columns
        )
        query = sql.SQL("SELECT {} FROM {}").format(names, sql.SQL(table.quoted))
        if pages is not None:
            query += sql.SQL(" WHERE ctid >= {} AND ctid < {}").format(
                sql.Literal(f"({pages.start},0)"), sql.Literal(f"({pages.stop},0)")
            )
        with self._connect() as connection:
            connection.autocommit = False
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                connection.execute(
                    sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot_id))
                )
            except Exception as error:
                raise CaptureError(
                    "the snapshot of the table has ended, because the query was interrupted: "
                    f"{error}"
                ) from None
            with connection.cursor(name="ottla", binary=True) as cursor:
                cursor.execute(query)
                while rows := cursor.fetchmany(_ROWS_FETCHED):
                    yield [
                        tuple(None if each is None else each.encode() for each in row)
                        for row in rows
                    ]

    def _required(self, connection: psycopg.Connection[Any], slot: Slot) -> int:
        found = self._slot(connection, slot)
        if found is None:
            raise CaptureError(
                f"the replication slot {slot.name} does not exist any more, and changes may be "
                "missing: remove the checkpoint, and the table is read anew"
            )
        return found

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            import psycopg
        except ModuleNotFoundError:
            raise MissingPackageError(
                "PostgresChanges needs psycopg: pip install 'ottla[postgres]'"
            ) from None
        try:
            connection = psycopg.connect(
                self._dsn,
                autocommit=True,
                connect_timeout=_CONNECT_TIMEOUT_S,
                options=_SETTINGS,
                application_name="ottla",
            )
        except psycopg.Error as error:
            raise CaptureError(f"cannot connect to PostgreSQL: {str(error).strip()}") from None
        return connection


class TableSnapshot:
    """A state of the database that other connections can read, until `close`."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self.snapshot_id, self.transactions = _one(
            connection, "SELECT pg_export_snapshot(), pg_current_snapshot()::text"
        )

    def close(self) -> None:
        self._connection.close()


def _one(connection: psycopg.Connection[Any], query: str, *values: object) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = connection.execute(query, values or None).fetchone()
    assert row is not None, query
    return row


def _unless_busy(call: Callable[[], T]) -> T:
    """Waits while another process reads from the slot."""
    import psycopg

    clock = SystemClock()
    deadline = clock.monotonic() + _BUSY_SECONDS_MAX
    while True:
        try:
            return call()
        except psycopg.errors.ObjectInUse as error:
            if clock.monotonic() > deadline:
                raise CaptureError(
                    f"another process reads from the replication slot ({error}): two queries must "
                    "not share a slot"
                ) from None
            sleep_blocking(_BUSY_PAUSE_S)


def _quoted(name: str) -> str:
    """As an item of a list of names."""
    return '"' + name.replace('"', '""') + '"'
