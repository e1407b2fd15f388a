"""Decodes the messages of PostgreSQL's logical decoding plugin `pgoutput`, protocol version 1.

One message is one row of `pg_logical_slot_peek_binary_changes`. A transaction is a Begin, messages,
and a Commit; transactions come in the order of their commits. A Relation describes a table before
its first change, and again after each change of its columns.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct, error
from typing import Final, NamedTuple, TypeAlias

from ottla.pipeline.capture.errors import CaptureError

_BEGIN: Final = Struct(">qqI")
_RELATION_ID: Final = Struct(">I")
_COUNT: Final = Struct(">H")
_LENGTH: Final = Struct(">i")
_TYPE_BYTES: Final = 8
_TRUNCATE: Final = Struct(">IB")
# 2000-01-01, where PostgreSQL's timestamps begin, in microseconds since 1970.
_EPOCH_US: Final = 946_684_800_000_000
_NULL, _UNCHANGED, _TEXT = b"nut"


class Unchanged:
    """A value that is stored apart (TOAST), was not changed, and is therefore not in the log."""

    def __repr__(self) -> str:
        return "UNCHANGED"


UNCHANGED: Final = Unchanged()

# The text of each column; None is NULL.
TupleData: TypeAlias = list[bytes | Unchanged | None]


class Begin(NamedTuple):
    """`commit_lsn` is where the transaction's commit begins in the log."""

    commit_lsn: int
    committed_us: int
    transaction_id: int


class Commit(NamedTuple):
    pass


class Relation(NamedTuple):
    """`table` is SCHEMA.NAME."""

    relation_id: int
    table: str
    columns: tuple[str, ...]


class Insert(NamedTuple):
    relation_id: int
    row: TupleData


class Update(NamedTuple):
    """`old` has the key if it was changed (the other columns are None), or the whole row if the
    table's replica identity is FULL."""

    relation_id: int
    old: TupleData | None
    is_old_whole: bool
    row: TupleData


class Delete(NamedTuple):
    """`old` has the key or the whole row."""

    relation_id: int
    old: TupleData


class Truncate(NamedTuple):
    relation_ids: tuple[int, ...]


ReplicationMessage: TypeAlias = Begin | Commit | Relation | Insert | Update | Delete | Truncate


def decode(message: bytes) -> ReplicationMessage | None:
    """None for messages without a change of a row. Raises CaptureError."""
    reader = _DECODERS.get(message[:1])
    if reader is None:
        raise CaptureError(f"PostgreSQL sent a message of the unknown type {message[:1]!r}")
    try:
        return reader(message)
    except (error, IndexError, ValueError):
        raise CaptureError(
            f"PostgreSQL sent a message of the type {message[:1]!r} that cannot be read"
        ) from None


def _begin(message: bytes) -> Begin:
    commit_lsn, committed, transaction_id = _BEGIN.unpack_from(message, 1)
    return Begin(commit_lsn, committed + _EPOCH_US, transaction_id)


def _commit(_message: bytes) -> Commit:
    return Commit()


def _relation(message: bytes) -> Relation:
    (relation_id,) = _RELATION_ID.unpack_from(message, 1)
    schema, at = _string(message, 1 + _RELATION_ID.size)
    name, at = _string(message, at)
    # Behind one byte for the replica identity. Columns have flags and a type as well.
    (count,) = _COUNT.unpack_from(message, at + 1)
    at += 1 + _COUNT.size
    columns = []
    for _ in range(count):
        column, at = _string(message, at + 1)
        at += _TYPE_BYTES
        columns.append(column)
    return Relation(relation_id, f"{schema}.{name}", tuple(columns))


def _insert(message: bytes) -> Insert:
    (relation_id,) = _RELATION_ID.unpack_from(message, 1)
    row, _ = _tuple(message, 1 + _RELATION_ID.size + 1)
    return Insert(relation_id, row)


def _update(message: bytes) -> Update:
    (relation_id,) = _RELATION_ID.unpack_from(message, 1)
    at = 1 + _RELATION_ID.size
    old, kind = None, message[at : at + 1]
    if kind in (b"K", b"O"):
        old, at = _tuple(message, at + 1)
    row, _ = _tuple(message, at + 1)
    return Update(relation_id, old, kind == b"O", row)


def _delete(message: bytes) -> Delete:
    (relation_id,) = _RELATION_ID.unpack_from(message, 1)
    old, _ = _tuple(message, 1 + _RELATION_ID.size + 1)
    return Delete(relation_id, old)


def _truncate(message: bytes) -> Truncate:
    count, _ = _TRUNCATE.unpack_from(message, 1)
    at = 1 + _TRUNCATE.size
    return Truncate(
        tuple(_RELATION_ID.unpack_from(message, at + 4 * index)[0] for index in range(count))
    )


def _nothing(_message: bytes) -> None:
    """Types, origins and logical messages."""


def _tuple(message: bytes, at: int) -> tuple[TupleData, int]:
    (count,) = _COUNT.unpack_from(message, at)
    at += _COUNT.size
    row: TupleData = []
    for _ in range(count):
        kind = message[at]
        at += 1
        if kind == _TEXT:
            (length,) = _LENGTH.unpack_from(message, at)
            at += _LENGTH.size
            end = at + length
            if length < 0 or end > len(message):
                raise ValueError
            row.append(message[at:end])
            at = end
        elif kind == _NULL:
            row.append(None)
        elif kind == _UNCHANGED:
            row.append(UNCHANGED)
        else:
            raise ValueError
    return row, at


def _string(message: bytes, at: int) -> tuple[str, int]:
    end = message.index(b"\0", at)
    return message[at:end].decode(), end + 1


_DECODERS: Final[dict[bytes, Callable[[bytes], ReplicationMessage | None]]] = {
    b"B": _begin,
    b"C": _commit,
    b"R": _relation,
    b"I": _insert,
    b"U": _update,
    b"D": _delete,
    b"T": _truncate,
    b"M": _nothing,
    b"O": _nothing,
    b"Y": _nothing,
}
