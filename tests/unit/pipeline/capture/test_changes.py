"""Messages of pgoutput, as PostgreSQL's documentation lays them out, become changes of rows."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.pipeline.capture.changes import ChangeDecoder, RowChange
from ottla.pipeline.capture.errors import CaptureError
from ottla.pipeline.capture.pgoutput import UNCHANGED, decode
from ottla.pipeline.capture.snapshots import VisibleTransactions

TABLE = 16_384
OTHER = 16_385


def begin(lsn: int, transaction_id: int = 700) -> bytes:
    return b"B" + struct.pack(">qqI", lsn, 0, transaction_id)


COMMIT = b"C" + struct.pack(">Bqqq", 0, 1, 2, 0)


def relation(relation_id: int = TABLE, name: str = "orders", columns: str = "id text") -> bytes:
    described = b"".join(
        b"\1" + column.encode() + b"\0" + struct.pack(">Ii", 25, -1) for column in columns.split()
    )
    count = struct.pack(">H", len(columns.split()))
    head = struct.pack(">I", relation_id) + b"public\0" + name.encode() + b"\0d"
    return b"R" + head + count + described


def row(*values: str | None) -> bytes:
    texts = [
        b"n" if each is None else b"u" if each == "?" else text(each.encode()) for each in values
    ]
    return struct.pack(">H", len(values)) + b"".join(texts)


def text(value: bytes) -> bytes:
    return b"t" + struct.pack(">i", len(value)) + value


def insert(*values: str | None, relation_id: int = TABLE) -> bytes:
    return b"I" + struct.pack(">I", relation_id) + b"N" + row(*values)


def update(
    *values: str | None, old: Sequence[str | None] | None = None, kind: bytes = b"K"
) -> bytes:
    before = b"" if old is None else kind + row(*old)
    return b"U" + struct.pack(">I", TABLE) + before + b"N" + row(*values)


def delete(*values: str | None) -> bytes:
    return b"D" + struct.pack(">I", TABLE) + b"K" + row(*values)


def truncate(*relation_ids: int) -> bytes:
    ids = b"".join(struct.pack(">I", each) for each in relation_ids)
    return b"T" + struct.pack(">IB", len(relation_ids), 0) + ids


def changes(
    *messages: bytes,
    start: int = 0,
    end: int = 1 << 40,
    snapshot: str | None = None,
    key: Sequence[str] = ("id",),
) -> list[RowChange]:
    visible = None if snapshot is None else VisibleTransactions.parse(snapshot)
    decoder = ChangeDecoder("public.orders", key=key, start=start, end=end, snapshot=visible)
    return list(decoder.changes(messages))


def seen(found: Sequence[RowChange]) -> Iterator[tuple[object, ...]]:
    for each in found:
        yield (each.operation, *each.row)


def test_changes_come_in_their_order_and_are_numbered() -> None:
    messages = (begin(10), relation(), insert("1", "a"), update("1", "b"), delete("1", None))
    found = changes(*messages, COMMIT)
    expected = [("c", b"1", b"a"), ("u", b"1", b"b"), ("d", b"1", None)]
    assert list(seen(found)) == expected
    assert [each.number for each in found] == [1, 2, 3]
    assert {each.transaction.commit_lsn for each in found} == {10}
    # The beginning of PostgreSQL's timestamps.
    assert found[0].transaction.committed_us == 946_684_800_000_000


def test_a_range_has_the_commits_from_its_start_to_before_its_end() -> None:
    messages = [relation()]
    for lsn in (10, 20, 30, 40):
        messages += [begin(lsn), insert(str(lsn), None), COMMIT]
    found = changes(*messages, start=20, end=40)
    assert list(seen(found)) == [("c", b"20", None), ("c", b"30", None)]


def test_what_the_snapshot_shows_is_not_read_again() -> None:
    messages = [relation()]
    for transaction in (699, 700, 701, 702):
        messages += [begin(transaction, transaction), insert(str(transaction), None), COMMIT]
    found = changes(*messages, snapshot="700:702:700")
    assert [each.row[0] for each in found] == [b"700", b"702"]


def test_an_update_that_changes_the_key_deletes_the_old_one() -> None:
    found = changes(relation(), begin(1), update("2", "a", old=("1", None)), COMMIT)
    assert list(seen(found)) == [("d", b"1", None), ("c", b"2", b"a")]


def test_with_a_full_identity_the_key_is_compared_and_nothing_else() -> None:
    message = update("1", "b", old=("1", "a"), kind=b"O")
    assert list(seen(changes(relation(), begin(1), message))) == [("u", b"1", b"b")]


def test_what_an_update_left_unchanged_is_taken_from_the_old_row_if_it_is_there() -> None:
    whole = update("1", "?", old=("1", "large"), kind=b"O")
    assert list(seen(changes(relation(), begin(1), whole))) == [("u", b"1", b"large")]
    (found,) = changes(relation(), begin(1), update("1", "?"))
    assert found.row == [b"1", UNCHANGED]


def test_other_tables_are_passed_over() -> None:
    other = relation(OTHER, "customers", "id")
    mine = (relation(), begin(1), insert("1", "a"))
    found = changes(*mine, other, insert("9", relation_id=OTHER), truncate(OTHER), truncate(TABLE))
    assert list(seen(found)) == [("c", b"1", b"a"), ("t", None, None)]


def test_columns_have_the_names_of_their_time() -> None:
    messages = (begin(1), relation(), insert("1", "a"), relation(columns="id text note"))
    found = changes(*messages, insert("2", "b", "c"))
    assert [each.names for each in found] == [("id", "text"), ("id", "text", "note")]


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([b"?"], "unknown type"),
        ([begin(1), insert("1", "a")], "without describing"),
        ([relation(), begin(1), insert("1")], "1 columns, not 2"),
        ([begin(1)[:-1]], "cannot be read"),
    ],
)
def test_what_makes_no_sense_is_refused(messages: list[bytes], reason: str) -> None:
    with pytest.raises(CaptureError, match=reason):
        changes(*messages)


@given(st.binary(max_size=60))
def test_broken_messages_raise_nothing_else(data: bytes) -> None:
    try:
        decode(data)
    except CaptureError:
        return


@given(st.integers(0, 1 << 40), st.data())
def test_ids_are_found_again_by_their_lower_half(xmax: int, data: st.DataObject) -> None:
    snapshot = VisibleTransactions(xmax, xmax, frozenset())
    distance = data.draw(st.integers(-(1 << 30), 1 << 30))
    whole = max(xmax + distance, 0)
    assert snapshot.shows(whole % (1 << 32)) == (whole < xmax)
