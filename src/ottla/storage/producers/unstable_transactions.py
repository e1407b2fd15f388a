"""The transactions that hold back a partition's last stable offset.

    ongoing ──complete──▶ unreplicated ──high watermark passes the marker──▶ forgotten

An ongoing transaction is undecided. A completed one is decided, but until its marker is below the
high watermark, a new leader might not have it. Kafka calls both unstable; read_committed consumers
read up to the first of them.

Transactions begin in the order of their first offsets and complete in the order of their markers.
Insertion order is therefore sorted order, and no operation slows down with their number. A
truncation of the log clears everything and replays it.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from typing import NamedTuple


class CompletedTransaction(NamedTuple):
    """A transaction whose marker is in the log, with the fields of its transaction index entry."""

    producer_id: int
    first_offset: int
    # The marker's offset.
    last_offset: int
    # Below this offset everything is decided, once this transaction is.
    last_stable_offset: int
    is_aborted: bool


class UnstableTransactions:
    """Owned by the producer state of one partition."""

    __slots__ = ("_first_offsets", "_ongoing", "unreplicated")

    def __init__(self) -> None:
        # First offset to producer id. A plain dict gets slower at finding its first item while
        # items are removed from its front.
        self._ongoing: OrderedDict[int, int] = OrderedDict()
        # The first offsets of all transactions, ongoing and unreplicated.
        self._first_offsets: OrderedDict[int, None] = OrderedDict()
        # Last and first offset of each. Mostly empty; `advance_high_watermark` checks it before it
        # calls `forget_below`.
        self.unreplicated: deque[tuple[int, int]] = deque()

    @property
    def first_unstable_offset(self) -> int | None:
        return next(iter(self._first_offsets), None)

    @property
    def first_undecided_offset(self) -> int | None:
        return next(iter(self._ongoing), None)

    def load(self, transactions: Iterable[tuple[int, int]]) -> None:
        """Replaces everything by ongoing transactions, given as first offset and producer id."""
        self.clear()
        for first_offset, producer_id in sorted(transactions):
            self.begin(first_offset=first_offset, producer_id=producer_id)

    def begin(self, *, first_offset: int, producer_id: int) -> None:
        self._ongoing[first_offset] = producer_id
        self._first_offsets[first_offset] = None

    def last_stable_offset(self, *, producer_id: int, last_offset: int) -> int:
        """The last stable offset once the producer's transaction ends with a marker at
        `last_offset`."""
        for first_offset, other in self._ongoing.items():
            if other != producer_id:
                return first_offset
        return last_offset + 1

    def complete(self, transaction: CompletedTransaction) -> None:
        del self._ongoing[transaction.first_offset]
        self.unreplicated.append((transaction.last_offset, transaction.first_offset))

    def forget_below(self, offset: int) -> None:
        """Removes the transactions that ended below the high watermark or the log start offset."""
        unreplicated = self.unreplicated
        while unreplicated and unreplicated[0][0] < offset:
            _, first_offset = unreplicated.popleft()
            del self._first_offsets[first_offset]

    def clear(self) -> None:
        self._ongoing.clear()
        self._first_offsets.clear()
        self.unreplicated.clear()
