"""Captures a table of a real PostgreSQL as Spark would, range by range, without Spark."""

from __future__ import annotations

import pickle
import tempfile
import threading
from collections.abc import Iterator, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any

import pytest

from ottla.pipeline.capture.data_source import (
    DSN_OPTION,
    CaptureOptions,
    LogOffset,
    PostgresSource,
    PostgresStreamReader,
)
from ottla.pipeline.capture.errors import CaptureError
from tests.support.spark.postgres import Postgres, reason_unavailable

pytestmark = pytest.mark.xdist_group("postgres")

ROUNDS = 40
_NUMBERS = count()


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    if reason := reason_unavailable():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory() as directory:
        server = Postgres(Path(directory))
        server.start()
        yield server
        server.stop()


@pytest.fixture
def table(postgres: Postgres) -> Iterator[str]:
    name = f"captured_{next(_NUMBERS)}"
    postgres.sql(f"CREATE TABLE {name} (id int PRIMARY KEY, value text)")
    yield name
    postgres.sql(
        f"SELECT pg_drop_replication_slot('{name}') FROM pg_replication_slots "
        f"WHERE slot_name = '{name}'"
    )
    postgres.sql(f"DROP TABLE {name}")


class Capture:
    """One query on a table: the end of the last batch is its checkpoint."""

    def __init__(
        self, postgres: Postgres, table: str, more: Mapping[str, str] | None = None
    ) -> None:
        dsn = f"host=127.0.0.1 port={postgres.port} user=ottla dbname=postgres"
        names = {"table": table, "slot": table, "publication": table}
        self.options = {DSN_OPTION: dsn, "logBytesPerBatch": str(64 << 20), **names, **(more or {})}
        self.reader = self._reader()
        self.at: LogOffset = self.reader.initialOffset()

    def start_again(self) -> None:
        """As another process would, without what this one had in memory."""
        self.reader.stop()
        self.reader = self._reader()

    def _reader(self) -> PostgresStreamReader:
        parsed = CaptureOptions.parse(self.options)
        return PostgresStreamReader(parsed, parsed.describe())

    def planned(self) -> LogOffset | None:
        end = self.reader.latestOffset(self.at, self.reader.getDefaultReadLimit())
        return None if end == self.at else end

    def read(self, end: LogOffset) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for partition in self.reader.partitions(self.at, end):
            task = pickle.loads(pickle.dumps(self.reader))
            for batch in task.read(pickle.loads(pickle.dumps(partition))):
                rows += batch.to_pylist()
        return rows

    def batch(self) -> list[dict[str, Any]]:
        """Everything that is there now."""
        rows: list[dict[str, Any]] = []
        while (end := self.planned()) is not None:
            rows += self.read(end)
            self.at = end
        return rows


def brief(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["change"]["operation"], row["id"], row["value"]) for row in rows]


def state(rows: list[dict[str, Any]], before: dict[int, str] | None = None) -> dict[int, str]:
    """The table, from its changes."""
    found = dict(before or {})
    for row in rows:
        operation, key = row["change"]["operation"], row["id"]
        if operation == "t":
            found.clear()
        elif operation == "d":
            del found[key]
        elif operation == "c":
            assert key not in found, f"{key} was created twice"
            found[key] = row["value"]
        else:
            found[key] = row["value"]
    return found


def stored(postgres: Postgres, table: str) -> dict[int, str]:
    return {int(key): value for key, value in postgres.sql(f"SELECT id, value FROM {table}")}


def test_the_rows_come_first_and_then_every_change(postgres: Postgres, table: str) -> None:
    postgres.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
    capture = Capture(postgres, table)
    assert brief(capture.batch()) == [("r", 1, "a"), ("r", 2, "b")]
    postgres.sql(f"INSERT INTO {table} VALUES (3, 'c')")
    postgres.sql(f"UPDATE {table} SET value = 'B' WHERE id = 2")
    postgres.sql(f"DELETE FROM {table} WHERE id = 1")
    postgres.sql(f"UPDATE {table} SET id = 30 WHERE id = 3")
    postgres.sql(f"TRUNCATE {table}")
    assert brief(capture.batch()) == [
        ("c", 3, "c"),
        ("u", 2, "B"),
        ("d", 1, None),
        ("d", 3, None),
        ("c", 30, "c"),
        ("t", None, None),
    ]
    assert capture.batch() == []


def test_nothing_is_lost_or_doubled_between_snapshot_and_log(
    postgres: Postgres, table: str
) -> None:
    """While the snapshot is planned and read, other connections write."""
    postgres.sql(f"INSERT INTO {table} SELECT i, '0' FROM generate_series(1, 200) i")
    is_done = threading.Event()

    def write() -> None:
        for number in range(ROUNDS):
            postgres.sql(
                f"BEGIN; UPDATE {table} SET value = '{number}' WHERE id % 10 = {number % 10}; "
                f"INSERT INTO {table} VALUES ({1_000 + number}, 'new'); "
                f"DELETE FROM {table} WHERE id = {1 + number}; COMMIT"
            )
        is_done.set()

    capture = Capture(postgres, table)
    writing = threading.Thread(target=write)
    writing.start()
    rows = []
    while not is_done.is_set():
        rows += capture.batch()
    writing.join()
    rows += capture.batch()
    assert state(rows) == stored(postgres, table)
    created = [row["id"] for row in rows if row["change"]["operation"] in ("r", "c")]
    assert len(created) == len(set(created))


def test_a_range_is_the_same_when_it_is_read_again(postgres: Postgres, table: str) -> None:
    capture = Capture(postgres, table)
    assert capture.batch() == []
    postgres.sql(f"INSERT INTO {table} SELECT i, 'x' FROM generate_series(1, 50) i")
    end = capture.planned()
    assert end is not None
    first = capture.read(end)
    # The batch is not committed: another process begins with the same checkpoint, and the server
    # has been killed meanwhile.
    postgres.sql(f"INSERT INTO {table} VALUES (51, 'later')")
    postgres.stop()
    postgres.start()
    capture.start_again()
    assert capture.read(end) == first
    assert len(first) == 50
    capture.at = end
    assert brief(capture.batch()) == [("c", 51, "later")]


def test_a_snapshot_that_was_interrupted_is_taken_again(postgres: Postgres, table: str) -> None:
    postgres.sql(f"INSERT INTO {table} VALUES (1, 'a')")
    capture = Capture(postgres, table)
    end = capture.planned()
    assert end is not None
    postgres.sql(f"UPDATE {table} SET value = 'b'")
    capture.start_again()
    rows = capture.read(end)
    capture.at = end
    assert state(capture.batch(), state(rows)) == {1: "b"}


def test_a_long_range_is_read_in_pieces(postgres: Postgres, table: str) -> None:
    capture = Capture(postgres, table, {"logBytesPerBatch": "4096"})
    assert capture.batch() == []
    for number in range(20):
        postgres.sql(f"INSERT INTO {table} VALUES ({number}, repeat('x', 500))")
    batches = []
    while (end := capture.planned()) is not None:
        batches.append([row["id"] for row in capture.read(end)])
        capture.at = end
    assert [*chain(*batches)] == [*range(20)]
    assert len([each for each in batches if each]) > 2


def test_the_server_does_not_keep_log_of_other_tables(postgres: Postgres, table: str) -> None:
    capture = Capture(postgres, table)
    assert capture.batch() == []
    postgres.sql("CREATE TABLE IF NOT EXISTS busy (value text)")
    postgres.sql("INSERT INTO busy SELECT repeat('x', 1000) FROM generate_series(1, 1000)")
    assert capture.planned() is None
    ((kept,),) = postgres.sql(
        "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn) "
        f"FROM pg_replication_slots WHERE slot_name = '{table}'"
    )
    assert int(kept) < 100_000


def test_a_new_column_stops_the_query_and_is_there_after_a_restart(
    postgres: Postgres, table: str
) -> None:
    capture = Capture(postgres, table)
    assert capture.batch() == []
    postgres.sql(f"INSERT INTO {table} VALUES (1, 'a')")
    postgres.sql(f"ALTER TABLE {table} ADD COLUMN note text")
    postgres.sql(f"INSERT INTO {table} VALUES (2, 'b', 'new')")
    with pytest.raises(CaptureError, match="new column note: start the query again"):
        capture.batch()
    capture.start_again()
    assert [row["note"] for row in capture.batch()] == [None, "new"]
    postgres.sql(f"ALTER TABLE {table} DROP COLUMN note")
    postgres.sql(f"INSERT INTO {table} VALUES (3, 'c')")
    assert [row["note"] for row in capture.batch()] == [None]


def test_large_values_that_an_update_left_alone_are_named(postgres: Postgres, table: str) -> None:
    capture = Capture(postgres, table)
    assert capture.batch() == []
    large = "(SELECT string_agg(md5(i::text), '') FROM generate_series(1, 5000) i)"
    postgres.sql(f"ALTER TABLE {table} ADD COLUMN number int")
    capture.start_again()
    postgres.sql(f"INSERT INTO {table} VALUES (1, {large}, 1)")
    postgres.sql(f"UPDATE {table} SET number = 2")
    created, updated = capture.batch()
    assert len(created["value"]) == 160_000
    assert (updated["value"], updated["change"]["unchanged"]) == (None, ["value"])
    postgres.sql(f"ALTER TABLE {table} REPLICA IDENTITY FULL")
    postgres.sql(f"UPDATE {table} SET number = 3")
    (whole,) = capture.batch()
    assert (whole["value"], whole["change"]["unchanged"]) == (created["value"], None)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"table": "missing"}, "has no table missing"),
        ({"table": "keyless"}, "no primary key"),
        ({DSN_OPTION: "host=127.0.0.1 port=1 user=ottla"}, "cannot connect to PostgreSQL"),
    ],
)
def test_what_cannot_be_captured_is_refused(
    postgres: Postgres, table: str, more: dict[str, str], reason: str
) -> None:
    postgres.sql("CREATE TABLE IF NOT EXISTS keyless (value text)")
    with pytest.raises(CaptureError, match=reason):
        Capture(postgres, table, more)


def test_a_slot_that_was_dropped_is_an_error(postgres: Postgres, table: str) -> None:
    capture = Capture(postgres, table)
    assert capture.batch() == []
    postgres.sql(f"SELECT pg_drop_replication_slot('{table}')")
    with pytest.raises(CaptureError, match="changes may be missing"):
        capture.planned()


def test_columns_can_be_read_as_text(postgres: Postgres, table: str) -> None:
    postgres.sql(f"INSERT INTO {table} VALUES (1, 'a')")
    capture = Capture(postgres, table, {"texts": "id"})
    assert PostgresSource(capture.options).schema().startswith("`id` string, `value` string")
    assert brief(capture.batch()) == [("r", "1", "a")]
