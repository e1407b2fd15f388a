"""The transactions that hold a partition's last stable offset back.

    ongoing ──complete──▶ unreplicated ──high watermark passes the marker──▶ forgotten

An ongoing transaction is undecided. A completed one is decided, but until its marker is below the
high watermark another leader might not know; Kafka calls both unstable, and a read_committed
consumer reads up to the first of them.

Transactions begin in the order of their first offsets and end in the order of their markers, so
insertion order is sorted order and nothing here takes longer with many of them. Everything is
dropped and replayed when the log is truncated.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from typing import NamedTuple


class CompletedTransaction(NamedTuple):
    """A transaction whose marker is in the log, as the transaction index wants it."""

    producer_id: int
    first_offset: int
    # The marker's.
    last_offset: int
    # Below this offset nothing is undecided, now that this transaction is decided.
    last_stable_offset: int
    is_aborted: bool


class UnstableTransactions:
    """Owned by the producer state of one partition."""

    __slots__ = ("_first_offsets", "_ongoing", "unreplicated")

    def __init__(self) -> None:
        # First offset to producer id. A plain dict would take ever longer to find its first item
        # while items leave from its front.
        self._ongoing: OrderedDict[int, int] = OrderedDict()
        # First offsets of all of them, ongoing and unreplicated.
        self._first_offsets: OrderedDict[int, None] = OrderedDict()
        # Last and first offset of each; empty most of the time, as whoever asks often sees here.
        self.unreplicated: deque[tuple[int, int]] = deque()

    @property
    def first_unstable_offset(self) -> int | None:
        return next(iter(self._first_offsets), None)

    @property
    def first_undecided_offset(self) -> int | None:
        return next(iter(self._ongoing), None)

    def load(self, transactions: Iterable[tuple[int, int]]) -> None:
        """Begins anew with ongoing transactions, given as first offset and producer id."""
        self.clear()
        for first_offset, producer_id in sorted(transactions):
            self.begin(first_offset=first_offset, producer_id=producer_id)

    def begin(self, *, first_offset: int, producer_id: int) -> None:
        self._ongoing[first_offset] = producer_id
        self._first_offsets[first_offset] = None

    def last_stable_offset(self, *, producer_id: int, last_offset: int) -> int:
        """What it will be once the producer's transaction ends with a marker at `last_offset`."""
        for first_offset, other in self._ongoing.items():
            if other != producer_id:
                return first_offset
        return last_offset + 1

    def complete(self, transaction: CompletedTransaction) -> None:
        del self._ongoing[transaction.first_offset]
        self.unreplicated.append((transaction.last_offset, transaction.first_offset))

    def forget_below(self, offset: int) -> None:
        """Forgets the transactions that ended below the high watermark, or the log's start."""
        unreplicated = self.unreplicated
        while unreplicated and unreplicated[0][0] < offset:
            _, first_offset = unreplicated.popleft()
            del self._first_offsets[first_offset]

    def clear(self) -> None:
        self._ongoing.clear()
        self._first_offsets.clear()
        self.unreplicated.clear()
