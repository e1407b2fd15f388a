"""The outcome of each transactional record, from the logs, where a marker ends each transaction."""

from __future__ import annotations

from collections import defaultdict
from typing import Final, NamedTuple

from ottla.model import TopicPartition
from ottla.simulation.history.history import History
from ottla.simulation.history.transaction_events import LoggedRow, TransactionalLogHas

COMMITTED: Final = "COMMIT"
OPEN: Final = "open"


class TransactionFate(NamedTuple):
    """The outcome of a record's transaction, and the record's offset."""

    end: str
    offset: int


def logs_of(history: History) -> dict[TopicPartition, tuple[LoggedRow, ...]]:
    """The log of each partition, from the first replica that was recorded."""
    found: dict[TopicPartition, tuple[LoggedRow, ...]] = {}
    for held in history.of(TransactionalLogHas):
        found.setdefault(held.partition, held.rows)
    return found


def ends_of(rows: tuple[LoggedRow, ...]) -> dict[int, str]:
    """By offset: the outcome of the transaction of each record."""
    ends: dict[int, str] = {}
    under_way: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        if row.marker:
            for offset in under_way.pop(row.producer_id, ()):
                ends[offset] = row.marker
        else:
            under_way[row.producer_id].append(row.offset)
            ends[row.offset] = OPEN
    return ends


def fates_of(history: History) -> dict[TopicPartition, dict[bytes, TransactionFate]]:
    """By partition and value: the outcome and offset of each record."""
    found: dict[TopicPartition, dict[bytes, TransactionFate]] = {}
    for partition, rows in logs_of(history).items():
        ends = ends_of(rows)
        found[partition] = {
            row.value: TransactionFate(ends[row.offset], row.offset)
            for row in rows
            if not row.marker
        }
    return found


def transaction_of(value: bytes) -> str:
    return value.partition(b"|")[0].decode()


def source_of(value: bytes) -> tuple[int, int]:
    """The partition and offset of the input record that a value is a copy of."""
    partition, _, offset = value.partition(b"|")[2].partition(b":")
    return int(partition), int(offset)
