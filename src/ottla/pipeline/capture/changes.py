"""From replication messages to changes of the rows of one table, in the order of commits.

    before the range ──Begin(commit >= start)──▶ in a transaction ──Commit──▶ between transactions
                                                                  ──Begin(commit >= end)──▶ behind

A range is half open: the transactions whose commit begins at `start` or later, and before `end`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple

from ottla.pipeline.capture.errors import CaptureError
from ottla.pipeline.capture.pgoutput import (
    UNCHANGED,
    Begin,
    Commit,
    Delete,
    Insert,
    Relation,
    Truncate,
    TupleData,
    Unchanged,
    Update,
    decode,
)
from ottla.pipeline.capture.snapshots import VisibleTransactions

CREATED: Final = "c"
UPDATED: Final = "u"
DELETED: Final = "d"
TRUNCATED: Final = "t"


class RowChange(NamedTuple):
    """`row` has the columns of `names`: after the change, or before it if it was deleted."""

    operation: str
    names: tuple[str, ...]
    row: TupleData
    transaction: Begin
    # Of the change within its transaction.
    number: int


class ChangeDecoder:
    """Decodes one range of the log. A transaction that the snapshot shows is skipped."""

    def __init__(
        self,
        table: str,
        *,
        key: Collection[str],
        start: int,
        end: int,
        snapshot: VisibleTransactions | None,
    ) -> None:
        """`key` is the table's primary key; `table` is SCHEMA.NAME."""
        self._table = table
        self._key = frozenset(key)
        self._start = start
        self._end = end
        self._snapshot = snapshot
        self._relations: dict[int, Relation] = {}
        self._transaction: Begin | None = None
        self._number = 0

    def changes(self, messages: Iterable[bytes]) -> Iterator[RowChange]:
        """Raises CaptureError."""
        for data in messages:
            message = decode(data)
            if isinstance(message, Begin):
                if message.commit_lsn >= self._end:
                    return
                self._transaction = message if self._is_read(message) else None
                self._number = 0
            elif isinstance(message, Relation):
                self._relations[message.relation_id] = message
            elif isinstance(message, Commit):
                self._transaction = None
            elif message is not None and self._transaction is not None:
                yield from self._changes(message, self._transaction)

    def _is_read(self, begin: Begin) -> bool:
        if begin.commit_lsn < self._start:
            return False
        return self._snapshot is None or not self._snapshot.shows(begin.transaction_id)

    def _changes(
        self, message: Insert | Update | Delete | Truncate, transaction: Begin
    ) -> Iterator[RowChange]:
        if isinstance(message, Truncate):
            for relation_id in message.relation_ids:
                if self._relation(relation_id).table == self._table:
                    nothing: TupleData = [None] * len(self._relations[relation_id].columns)
                    yield self._change(TRUNCATED, relation_id, nothing, transaction)
            return
        relation = self._relation(message.relation_id)
        if relation.table != self._table:
            return
        relation_id = message.relation_id
        if isinstance(message, Insert):
            yield self._change(CREATED, relation_id, message.row, transaction)
        elif isinstance(message, Delete):
            yield self._change(DELETED, relation_id, message.old, transaction)
        else:
            row = _completed(message)
            if message.old is not None and self._has_other_key(relation_id, message.old, row):
                # For those who keep rows by their key, the row with the old one is gone.
                yield self._change(DELETED, relation_id, message.old, transaction)
                yield self._change(CREATED, relation_id, row, transaction)
            else:
                yield self._change(UPDATED, relation_id, row, transaction)

    def _change(
        self, operation: str, relation_id: int, row: TupleData, transaction: Begin
    ) -> RowChange:
        names = self._relations[relation_id].columns
        if len(row) != len(names):
            raise CaptureError(
                f"PostgreSQL sent a row of {self._table} with {len(row)} columns, not {len(names)}"
            )
        self._number += 1
        return RowChange(operation, names, row, transaction, self._number)

    def _has_other_key(self, relation_id: int, old: TupleData, row: TupleData) -> bool:
        return any(
            name in self._key and after is not UNCHANGED and before != after
            for name, before, after in zip(
                self._relations[relation_id].columns, old, row, strict=True
            )
        )

    def _relation(self, relation_id: int) -> Relation:
        found = self._relations.get(relation_id)
        if found is None:
            raise CaptureError(f"PostgreSQL changed the table {relation_id} without describing it")
        return found


def _completed(update: Update) -> TupleData:
    """The new row, with what the old one has of the values that were not changed."""
    if update.old is None or not update.is_old_whole:
        return update.row
    return [
        before if isinstance(after, Unchanged) else after
        for before, after in zip(update.old, update.row, strict=True)
    ]
